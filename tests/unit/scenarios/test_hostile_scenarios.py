"""Generated scenarios with extreme values: each is expanded, or rejected with a message. None fails."""

from copy import deepcopy
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.unit.scenarios.strategies import to_toml
from tickover.scenarios import ScenarioError, read
from tickover.server.isolated_calls import ExpandRequest

_SHARED = {"timezone": "Asia/Tokyo", "weekend": "before", "seed": 7}
_RECURRENCE = {"from": "2027-01-31", "until": "+5 months", "times": 10, "weekend": "after", "holidays": ["2027-01-31"]}
_ITEM = {
    "name": "Rent", "type": "expense", "category": "Home", "time": "23:59:59", "timezone": "Asia/Tokyo",
    "jitter_days": 2, "chance": 0.5, "seed": 7, "late_by": "3 days", "skipped": ["2027-01-31"], "reversed_after": "3d",
    "pending": "2d", "authorized_amount": 9, "authorized_name": "A",
}  # fmt: skip
_SCENARIO = {
    "title": "Everything", "currency": "EUR", "start": "2027-01-01", "length": "6 months",
    **_SHARED,
    "accounts": [
        {"key": "main", "name": "Main", "type": "checking", "opening_balance": 5, "currency": "EUR"},
        {"key": "dollars", "name": "Dollars", "currency": "USD"},
    ],
    "transactions": [
        {"every": "month on the 31st", "amount": 12.5, **_RECURRENCE, **_ITEM},
        {"rrule": "FREQ=MONTHLY;BYDAY=-1FR", "amount": {"between": [40, 90], "step": 0.5}, **_RECURRENCE, **_ITEM},
        {"at": ["start", "+10 days", "end"], "amount": [1, 2, 3], **_ITEM},
    ],
    "transfers": [
        {"every": "week", "amount": 5, "name": "Save", "from_account": "main", "to_account": "dollars", "received": 6},
    ],
    "goals": [
        {"name": "Trip", "target": 100, "initial": 5, "contributions": [{"amount": 1, "every": "week", **_RECURRENCE}]},
    ],
    "expect": [
        {"never_below": -500, "account": "main", "from": "start", "until": "end"},
        {"goal_reached": "Trip", "by": "end"},
        {"posted": "Rent", "by": "end", "count": 1},
        {"total": "expense", "at_most": 900, "category": "Home", "per": "week"},
    ],
}  # fmt: skip
_REQUIRED = {
    "currency", "transactions", "name", "amount", "between", "type", "every", "rrule", "at", "weekend", "target",
    "accounts", "key", "from_account", "to_account", "received",
    "never_below", "goal_reached", "posted", "total", "at_most",
}  # fmt: skip
_EXTREMES: list[Any] = [
    "0001-01-01", "9999-12-31", "0011-01-01", "9989-12-31", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00",
    "2027-03-28T02:30:00+01:00", "2028-02-29", "2027-02-30", "1 second", "+0 days", "10 years", "+999999 years",
    "999999 seconds", "1y 11mo 3w 6d 23h 59min 59s", "soon", 0, -1, 1, 15, 16, 400, 10_000, 10**9, 2**63, 10**30,
    1e-300, 1e300, 1000000000.01, 0.1234567890123456789, float("inf"), float("nan"), True, "EUR", "eur", "Asia", "",
    "../etc/passwd", "Africa/Monrovia", "Pacific/Kiritimati", "DE-BY", "DE-XX", "\u202e", "é" * 121, [], {}, [[]], [1],
    {"a": {"b": [1]}}, {"between": [5, 4]}, "day", "999999 days", "year on 29 February", "first Friday", "0 9 25 * *",
    "FREQ=YEARLY;BYYEARDAY=-366;BYSETPOS=-1", "FREQ=YEARLY;BYWEEKNO=53;BYDAY=SU;WKST=SU", "FREQ=DAILY;INTERVAL=1000",
    "FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=2", "FREQ=SECONDLY", "FREQ=WEEKLY;BYDAY=0MO", "FREQ=YEARLY;BYEASTER=1",
]  # fmt: skip
_STARTS = [
    None, datetime(2027, 1, 1, tzinfo=UTC), datetime(2028, 2, 29, 23, 59, tzinfo=UTC), datetime(11, 1, 1, tzinfo=UTC),
    datetime(9989, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC),
]  # fmt: skip


def _leave_out(value: Any, random: Random) -> Any:
    """Return a part of the scenario: most combinations of all keys are rejected before a bad value is reached."""
    if isinstance(value, list):
        return [_leave_out(one, random) for one in value if not isinstance(one, dict) or random.random() < 0.7]
    if not isinstance(value, dict):
        return value
    return {key: _leave_out(one, random) for key, one in value.items() if key in _REQUIRED or random.random() < 0.25}


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every place: its container, and its key or index."""
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    inner = [place for key in keys if isinstance(value[key], dict | list) for place in _places(value[key])]
    return [(value, key) for key in keys] + inner


@settings(max_examples=120, deadline=None, database=None)
@given(st.integers(0, 2**63))
def test_generated_scenario_is_expanded_or_rejected(seed: int) -> None:
    random = Random(seed)
    scenario = _leave_out(deepcopy(_SCENARIO), random)
    for _ in range(random.randint(0, 2)):
        container, key = random.choice(_places(scenario))
        container[key] = deepcopy(random.choice(_EXTREMES))
    text = to_toml(scenario)
    note(text)
    result = ExpandRequest(text, random.choice(_STARTS), datetime(2027, 1, 1, tzinfo=UTC)).run()
    assert result.result or result.errors


@pytest.mark.parametrize(
    "keys",
    [
        'every = "month"\nskipped = "9999-12-31T23:59:59Z"',
        'every = "month"\nlate_by = {"9999-12-31T23:59:59Z" = "3 days"}',
        'at = 2027-01-05\nlate_by = "999999 weeks"',
    ],
)
def test_date_after_the_year_9999_is_an_error_with_its_line(keys: str) -> None:
    item = f'[[transactions]]\nname = "Rent"\namount = 1\ntype = "income"\n{keys}'
    scenario = read(f'timezone = "Asia/Tokyo"\ncurrency = "EUR"\n{item}')
    with pytest.raises(ScenarioError, match=r'line 3, transaction 1 "Rent": .*9999') as caught:
        scenario.plan("2027-01-01T00:00:00Z")
    assert caught.value.line == 3
