"""Times of a new clock: frozenTime, maxTime, timestamp forms and the range of scheduled times."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.rpc.builders import OMITTED, contribution, goal, to_timestamp, transaction
from tests.support.cases import each_case
from tests.support.world import World

CREATE = "createTestClock"
MICROSECOND = timedelta(microseconds=1)


# frozenTime


async def test_frozen_time_is_now_by_default_to_the_microsecond(world: World, token: str) -> None:
    world.now = datetime(2027, 1, 15, 8, 30, 0, 123456, UTC)
    clock = await world.create(token)
    assert clock["frozenTime"] == "2027-01-15T08:30:00.123456Z"
    assert clock["maxTime"] == "2037-01-15T08:30:00.123456Z"


@pytest.mark.parametrize(
    ("today", "earliest", "latest"),
    [("2027-06-15", "2017-06-15", "2037-06-15"), ("2028-02-29", "2018-02-28", "2038-02-28")],
    ids=["an ordinary day", "29 February"],
)
async def test_frozen_time_must_be_within_ten_years_of_now(
    world: World, today: str, earliest: str, latest: str
) -> None:
    world.now = noon(today) - timedelta(minutes=1)
    token = await world.sign_in()
    assert world.now == noon(today)
    for inside in (noon(earliest), noon(latest)):
        assert (await world.create(token, frozenTime=to_timestamp(inside)))["frozenTime"] == to_timestamp(inside)
    for outside in (noon(earliest) - MICROSECOND, noon(latest) + MICROSECOND):
        assert await world.faults(CREATE, {"frozenTime": to_timestamp(outside)}, token) == {"frozenTime": "range"}


def noon(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T12:00:00Z")


@each_case(
    ("given", "max_time"),
    [
        ("2027-03-01T00:00:00Z", "2037-03-01T00:00:00Z"),
        ("2028-02-29T23:59:59.999999Z", "2038-02-28T23:59:59.999999Z"),
        ("2030-02-28T00:00:00Z", "2040-02-28T00:00:00Z"),
        ("2028-03-01T00:30:00+01:00", "2038-02-28T23:30:00Z"),
    ],
)
async def test_max_time_is_ten_calendar_years_after_frozen_time(
    world: World, token: str, given: str, max_time: str
) -> None:
    assert (await world.create(token, frozenTime=given))["maxTime"] == max_time


@each_case(
    ("given", "shown"),
    [
        ("2027-03-01T00:00:00Z", "2027-03-01T00:00:00Z"),
        ("2027-03-01t00:00:00z", "2027-03-01T00:00:00Z"),
        ("2027-03-01T00:00:00+00:00", "2027-03-01T00:00:00Z"),
        ("2027-03-01T00:00:00-00:00", "2027-03-01T00:00:00Z"),
        ("2027-03-01T05:30:00+05:30", "2027-03-01T00:00:00Z"),
        ("2027-02-28T00:01:00-23:59", "2027-03-01T00:00:00Z"),
        ("2027-03-01T00:00:00.0Z", "2027-03-01T00:00:00Z"),
        ("2027-03-01T00:00:00.5Z", "2027-03-01T00:00:00.500000Z"),
        ("2027-03-01T00:00:00.000001Z", "2027-03-01T00:00:00.000001Z"),
        ("2027-03-01T00:00:00.0000009Z", "2027-03-01T00:00:00Z"),
        ("2027-03-01T00:00:59.9999999999Z", "2027-03-01T00:00:59.999999Z"),
        ("2027-02-28T23:59:60Z", "2027-03-01T00:00:00Z"),
        ("2027-02-28T23:59:60.25Z", "2027-03-01T00:00:00.250000Z"),
        ("2027-03-01T05:29:60+05:30", "2027-03-01T00:00:00Z"),
    ],
)
async def test_timestamp_in_any_rfc_3339_form_is_returned_in_utc(
    world: World, token: str, given: str, shown: str
) -> None:
    clock = await world.create(token, frozenTime=given, transactions=[transaction(at=given)])
    assert (clock["frozenTime"], clock["transactions"][0]["at"]) == (shown, shown)


NOT_RFC_3339 = [
    "", "now", "2027-03-01", "2027-03-01T00:00:00", "2027-03-01T00:00Z", "2027-03-01 00:00:00Z", "2027-03-01_00:00:00Z",
    "2027-03-01T00:00:00+0530", "2027-03-01T00:00:00+05", "2027-03-01T00:00:00+24:00", "2027-03-01T00:00:00+05:60",
    "2027-03-01T00:00:00 Z", "2027-03-01T00:00:00.Z", "2027-03-01T00:00:00,5Z", "2027-03-01T00:00:00ZZ",
    " 2027-03-01T00:00:00Z", "2027-03-01T00:00:00Z ", "2027-03-01T00:00:00Z\n", "2027-3-1T00:00:00Z",
    "20270301T000000Z", "2027-W09-1T00:00:00Z", "2027-060T00:00:00Z", "27-03-01T00:00:00Z", "+2027-03-01T00:00:00Z",
    "２０２７-03-01T00:00:00Z",
    "2027-02-29T00:00:00Z", "2027-13-01T00:00:00Z", "2027-00-01T00:00:00Z", "2027-03-32T00:00:00Z",
    "2027-03-01T24:00:00Z", "2027-03-01T00:60:00Z", "2027-03-01T00:00:60Z", "2027-03-01T23:59:61Z",
    "2027-03-01T23:59:60+01:00", "2027-03-01T00:00:00−05:00", "1772323200",
    "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z",
]  # fmt: skip


@each_case("given", NOT_RFC_3339)
async def test_invalid_timestamp_is_rejected(world: World, token: str, given: str) -> None:
    goals = [goal(contributions=[contribution(at=given)])]
    params = {"frozenTime": given, "transactions": [transaction(at=given)], "goals": goals}
    assert await world.faults(CREATE, params, token) == {
        "frozenTime": "format",
        "transactions[0].at": "format",
        "goals[0].contributions[0].at": "format",
    }


@each_case("given", [0, 1772323200, 1.5, True, [], {}])
async def test_timestamp_other_than_string_is_rejected(world: World, token: str, given: Any) -> None:
    assert await world.faults(CREATE, {"frozenTime": given}, token) == {"frozenTime": "type"}


# Scheduled times


@each_case("frozen_time", [OMITTED, "2020-02-29T10:00:00Z"])
async def test_scheduled_times_must_be_between_frozen_time_and_max_time(
    world: World, token: str, frozen_time: Any
) -> None:
    params = {} if frozen_time is OMITTED else {"frozenTime": frozen_time}
    clock = await world.create(token, **params)
    start, end = (datetime.fromisoformat(clock[name]) for name in ("frozenTime", "maxTime"))

    def at(instant: datetime) -> dict[str, Any]:
        scheduled = {"at": to_timestamp(instant)}
        goals = [goal(contributions=[contribution(**scheduled)])]
        return params | {"transactions": [transaction(**scheduled)], "goals": goals}

    for inside, has_happened in ((start, True), (start + MICROSECOND, False), (end, False)):
        clock = await world.create(token, **at(inside))
        assert (len(clock["transactions"]), len(clock["pendingTransactions"])) == (has_happened, not has_happened)
        (shown,) = clock["goals"]
        assert (len(shown["contributions"]), len(shown["upcomingContributions"])) == (has_happened, not has_happened)
    for outside in (start - MICROSECOND, end + MICROSECOND):
        both = {"transactions[0].at": "range", "goals[0].contributions[0].at": "range"}
        assert await world.faults(CREATE, at(outside), token) == both
