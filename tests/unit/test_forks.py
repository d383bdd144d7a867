"""Forked schedules: the same items with other ids."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from tickover.api import ids, timestamps
from tickover.api.clocks import NewClock
from tickover.server.rpc.decode import decode
from tickover.server.schedule import clocks
from tickover.server.schedule import schedule as schedule_json
from tickover.server.schedule.clocks import Clock
from tickover.server.schedule.schedule import Schedule

NOW = datetime(2027, 1, 1, 12, 0, 0, 123_456, tzinfo=UTC)
LATER = NOW + timedelta(days=3)
START = datetime(2027, 3, 1, tzinfo=UTC)
ORIGINAL = ids.uuid7(NOW, bytes(range(10)))
FORK = ids.uuid7(LATER, bytes(range(10, 20)))
OLD, NEW = ORIGINAL.hex(), FORK.hex()

PARAMS = {
    "frozenTime": "2027-03-01T00:00:00Z",
    # Not sorted, so that the numbers in the ids are not sorted either.
    "transactions": [
        {"at": "2027-03-05T00:00:00Z", "name": "Rent", "amount": 900, "currency": "EUR", "type": "EXPENSE"},
        {"at": "2027-03-02T00:00:00Z", "name": "Tea", "amount": 1, "currency": "EUR", "type": "INCOME", "category": ""},
    ],
    "goals": [
        {"name": "Trip", "targetAmount": 100, "initialAmount": 10, "contributions": [
            {"at": "2027-03-05T00:00:00Z", "amount": 20}, {"at": "2027-03-02T00:00:00Z", "amount": 30},
        ]},
        {"name": "Empty", "targetAmount": 1},
    ],
}  # fmt: skip


def written(params: Any = PARAMS) -> tuple[Clock, Schedule]:
    """Return a clock and its schedule, encoded and decoded as by a database."""
    faults, parsed = decode(NewClock, msgspec.json.encode(params), NOW)
    assert parsed is not None, faults
    clock = clocks.new_clock(ORIGINAL, parsed, NOW)
    stored = msgspec.msgpack.encode(schedule_json.encode_schedule(clock, parsed))
    return clock, msgspec.msgpack.decode(stored, type=Schedule)


def forked(params: Any = PARAMS, at: datetime = START) -> Schedule:
    clock, schedule = written(params)
    fork = Clock(FORK, clock.start_time, at, clock.max_time)
    return schedule_json.fork_schedule(schedule, clock.key, fork)


def seen(schedule: Schedule, at: datetime = START) -> Any:
    return json.loads(schedule_json.view(at, schedule))


def ids_in(seen: Any) -> list[str]:
    if isinstance(seen, dict):
        return [seen["id"]] * ("id" in seen) + [id for part in seen.values() for id in ids_in(part)]
    return [id for part in seen for id in ids_in(part)] if isinstance(seen, list) else []


@pytest.mark.parametrize("at", [START, datetime(2027, 3, 2, tzinfo=UTC), datetime(2037, 3, 1, tzinfo=UTC)])
def test_every_id_contains_the_key_of_the_fork(at: datetime) -> None:
    _, schedule = written()
    before, after = ids_in(seen(schedule, at)), ids_in(seen(forked(), at))
    assert len(before) == 1 + 2 + 2 + 2
    assert before[0] == ids.write("clock", ORIGINAL)
    assert after == [ids.write("clock", FORK), *(id.replace(OLD, NEW) for id in before[1:])]
    assert len(set(after) - set(before)) == len(before)


def test_fork_differs_only_in_ids_and_expiry() -> None:
    _, schedule = written()
    for day in range(1, 7):
        at = datetime(2027, 3, day, tzinfo=UTC)
        before = schedule_json.view(at, schedule).decode()
        expected = before.replace(ids.write("clock", ORIGINAL), ids.write("clock", FORK)).replace(OLD, NEW)
        end, end_of_fork = (timestamps.write(ids.expires_at(key)) for key in (ORIGINAL, FORK))
        assert expected.count(end) == 1
        assert schedule_json.view(at, forked()).decode() == expected.replace(end, end_of_fork)


def test_fork_has_its_own_expiry_and_max_time_of_the_original() -> None:
    original, fork = seen(written()[1]), seen(forked())
    assert fork["expiresAt"] == "2027-01-11T12:00:00.123000Z"
    assert fork["maxTime"] == original["maxTime"] == "2037-03-01T00:00:00Z"


@pytest.mark.parametrize("at", [START, datetime(2029, 12, 31, tzinfo=UTC), datetime(2037, 3, 1, tzinfo=UTC)])
def test_schedule_does_not_depend_on_frozen_time_of_the_fork(at: datetime) -> None:
    assert forked(at=at) == forked()
    assert seen(forked(at=at), at)["frozenTime"] == timestamps.write(at)


def test_forking_does_not_change_the_original() -> None:
    clock, schedule = written()
    before = msgspec.msgpack.encode(schedule)
    schedule_json.fork_schedule(schedule, clock.key, Clock(FORK, START, START, clock.max_time))
    assert msgspec.msgpack.encode(schedule) == before


def test_fork_of_a_fork_equals_fork_of_the_original() -> None:
    clock, schedule = written()
    middle = Clock(ids.uuid7(NOW + timedelta(days=1), bytes(10)), START, START, clock.max_time)
    last = Clock(FORK, START, START, clock.max_time)
    by_way = schedule_json.fork_schedule(schedule_json.fork_schedule(schedule, clock.key, middle), middle.key, last)
    assert by_way == forked()


def test_forked_schedule_survives_encoding() -> None:
    stored = msgspec.msgpack.encode(forked())
    assert msgspec.msgpack.decode(stored, type=Schedule) == forked()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(OLD, id="the key of the original"),
        pytest.param(f"txn_{OLD}_0", id="an id of a transaction"),
        pytest.param(f'{OLD}","id":"goal_{OLD}_0', id="with the JSON around it"),
        pytest.param(ids.write("clock", ORIGINAL), id="the id of the original"),
        pytest.param(f"{OLD} {OLD} {OLD}", id="several times"),
        pytest.param(NEW, id="the key of the fork"),
    ],
)
def test_text_that_contains_keys_is_unchanged(text: str) -> None:
    at = "2027-03-02T00:00:00Z"
    params = {
        "frozenTime": "2027-03-01T00:00:00Z",
        "transactions": [
            {"at": at, "name": text, "amount": 1, "currency": "EUR", "type": "INCOME", "category": text[:80]},
            {"at": at, "name": "x", "amount": 1, "currency": "EUR", "type": "INCOME", "category": text[:80]},
        ],
        "goals": [{"name": text, "targetAmount": 1, "contributions": [{"at": at, "amount": 1}]}] * 2,
    }
    fork = seen(forked(params))
    first, second = fork["pendingTransactions"]
    assert (first["name"], first["category"], second["category"]) == (text, text[:80], text[:80])
    assert [goal["name"] for goal in fork["goals"]] == [text] * 2
    assert [item["id"] for item in fork["pendingTransactions"]] == [f"txn_{NEW}_0", f"txn_{NEW}_1"]
    assert [goal["id"] for goal in fork["goals"]] == [f"goal_{NEW}_0", f"goal_{NEW}_1"]
    assert [goal["upcomingContributions"][0]["id"] for goal in fork["goals"]] == [f"ctb_{NEW}_0_0", f"ctb_{NEW}_1_0"]


def test_empty_schedule_can_be_forked() -> None:
    fork = seen(forked({"frozenTime": "2027-03-01T00:00:00Z"}))
    assert ids_in(fork) == [ids.write("clock", FORK)]
    assert fork["transactions"] == fork["pendingTransactions"] == fork["goals"] == []


def test_fork_of_largest_schedule_is_complete() -> None:
    ats = [timestamps.write(START + timedelta(days=day)) for day in range(100)]
    transaction = {"name": OLD, "amount": 1, "currency": "EUR", "type": "INCOME"}
    goal = {"name": OLD, "targetAmount": 1, "contributions": [{"at": at, "amount": 1} for at in ats]}
    params = {
        "frozenTime": timestamps.write(START),
        "transactions": [transaction | {"at": at} for at in ats],
        "goals": [goal] * 25,
    }
    found = ids_in(seen(forked(params)))
    assert len(found) == len(set(found)) == 1 + 100 + 25 + 25 * 100
    assert [id for id in found[1:] if NEW not in id] == []
