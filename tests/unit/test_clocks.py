"""Clocks: invalid schedules, encoded schedules and views."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tickover.api import ids, timestamps
from tickover.api.clocks import NewClock
from tickover.api.errors import Fault
from tickover.api.timestamps import Instant
from tickover.server.rpc.decode import explain
from tickover.server.schedule.clock import Clock, new_clock
from tickover.server.schedule.schedule import Schedule, decode_stored, encode_stored, fork_schedule, new_schedule
from tickover.server.schedule.view import view

NOW = datetime(2027, 1, 1, 12, 0, 0, 123_456, tzinfo=UTC)
START = datetime(2027, 3, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
KEY = ids.uuid7(NOW, bytes(range(10)))
FORK_KEY = ids.uuid7(NOW, bytes(10))


def create_params(**params: Any) -> NewClock:
    faults, parsed = explain(NewClock, msgspec.json.encode(params))
    assert isinstance(parsed, NewClock), faults
    return parsed


def transaction(**fields: Any) -> dict[str, Any]:
    return {"at": "2027-03-02T00:00:00Z", "name": "Rent", "amount": 900, "currency": "EUR", "type": "EXPENSE"} | fields


def goal(**fields: Any) -> dict[str, Any]:
    return {"name": "Bike", "targetAmount": 1000} | fields


def started(**params: Any) -> tuple[Clock, Schedule]:
    """Return a clock and its schedule, encoded and decoded as by a database."""
    parsed = create_params(**params)
    clock = new_clock(KEY, parsed, NOW)
    return clock, decode_stored(encode_stored(new_schedule(clock, parsed)))


def faults(now: Instant = NOW, **params: Any) -> list[Fault]:
    return list(create_params(**params).faults(now))


TEXTS = [
    " Rent ", "a\nb\r\n", '"},{"id":"x', "\\", "%b %s {}", "\u2028\u2029\x7f\x01", "a\u0301\U0001f6b2",
    # It looks like a whole amount.
    'Version 1.0,"currency":"x 2.0}\n',
    # They look like IDs, which a fork replaces.
    f'txn_{KEY.hex()}_0","id":"', KEY.hex(), FORK_KEY.hex(),
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_returned_unchanged(text: str) -> None:
    clock, schedule = started(
        transactions=[transaction(name=text, category=text, amount=5.0), transaction(name="Food")],
        goals=[goal(name=text, contributions=[{"at": "2027-03-02T00:00:00Z", "amount": 1.0}] * 2)],
    )
    fork = fork_schedule(schedule, replace(clock, key=FORK_KEY))
    for each in (schedule, fork):
        seen = json.loads(view(clock.frozen_time, each))
        items = [(item["name"], item.get("category")) for item in seen["pendingTransactions"]]
        assert items == [(text, text), ("Food", None)]
        assert [item["name"] for item in seen["goals"]] == [text]


def test_fork_expects_the_same_name_of_a_goal() -> None:
    name = f"goal_{KEY.hex()}_trip"
    expectations = [{"goalReached": {"goal": goal, "by": "2027-04-01T00:00:00Z"}} for goal in (name, f"{name[:-4]}0")]
    clock, schedule = started(goals=[goal(name=name)], expectations=expectations)
    fork = fork_schedule(schedule, replace(clock, key=FORK_KEY))
    rules = [each.goal_reached for each in fork.expectations or ()]
    assert [rule and rule.goal for rule in rules] == [name, f"goal_{FORK_KEY.hex()}_0"]


def test_items_happen_at_their_instant_in_the_order_of_the_request() -> None:
    """test_properties.py compares views with a model. This test fails faster."""
    ats = [START + timedelta(days=day) for day in (5, 3, 5, 1, 3, 9)]
    items = [transaction(at=timestamps.write(at), name=f"{index}") for index, at in enumerate(ats)]
    _, schedule = started(frozenTime=timestamps.write(START), transactions=items)
    seen = json.loads(view(START + timedelta(days=3), schedule))
    assert [item["name"] for item in seen["transactions"]] == ["3", "1", "4"]
    assert [item["name"] for item in seen["pendingTransactions"]] == ["0", "2", "5"]


# Faults


@pytest.mark.parametrize(
    ("at", "inside"),
    [
        pytest.param("2028-02-28T23:59:59.999999Z", False, id="a microsecond before frozenTime"),
        pytest.param("2028-02-29T00:00:00Z", True, id="at frozenTime"),
        pytest.param("2038-02-28T00:00:00Z", True, id="at maxTime"),
        pytest.param("2038-02-28T00:00:00.0000009Z", True, id="less than a microsecond after maxTime"),
        pytest.param("2038-02-28T00:00:00.000001Z", False, id="a microsecond after maxTime"),
        pytest.param("2038-02-27T23:59:59-00:01", False, id="a minute less a second after maxTime, by its offset"),
    ],
)
def test_items_must_be_between_frozen_time_and_max_time(at: str, inside: bool) -> None:
    start = "2028-02-29T00:00:00Z"
    contribution = {"at": at, "amount": 1}
    good = {"at": start, "amount": 1}
    found = faults(
        frozenTime=start,
        transactions=[transaction(at=start), transaction(at=at)],
        goals=[goal(), goal(contributions=[good, good, contribution])],
    )
    message = f"must be between frozenTime and maxTime ({start} to 2038-02-28T00:00:00Z)"
    got = timestamps.write(timestamps.parse(at))
    expected = [
        Fault("transactions[1].at", "range", message, got),
        Fault("goals[1].contributions[2].at", "range", message, got),
    ]
    assert found == ([] if inside else expected)
