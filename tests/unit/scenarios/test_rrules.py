"""iCalendar rules."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.scenarios.strategies import instants, rent, to_toml
from tickover.scenarios import ScenarioError
from tickover.server.isolated_calls import ExpandRequest

NEW_YEAR = "2027-01-01T00:00:00Z"


def days(length: str = "6 months", **keys: Any) -> str:
    return " ".join(f"{at:%m-%d}" for at in instants(NEW_YEAR, length, **keys))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("FREQ=MONTHLY;BYDAY=-1FR", "01-29 02-26 03-26 04-30 05-28 06-25"),
        ("rrule:FREQ=MONTHLY;BYDAY=-1FR", "01-29 02-26 03-26 04-30 05-28 06-25"),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "01-29 02-26 03-31 04-30 05-31 06-30"),
        ("FREQ=WEEKLY;INTERVAL=8;BYDAY=TU", "02-23 04-20 06-15"),
    ],
)
def test_rules_select_days(rule: str, expected: str) -> None:
    assert days(rrule=rule) == expected


def test_rules_have_a_time_bounds_and_adjustments() -> None:
    found = instants(NEW_YEAR, rrule="FREQ=DAILY", time="09:30", times=2, weekend="after", **{"from": "+1 day"})
    assert [f"{at:%m-%d %H:%M}" for at in found] == ["01-04 09:30", "01-04 09:30"]
    assert days(rrule="FREQ=MONTHLY", until="2027-02-15") == "01-01 02-01"


def test_a_rule_counts_from_its_start() -> None:
    assert days(rrule="FREQ=WEEKLY;INTERVAL=2;BYDAY=FR", times=8, **{"from": "2026-12-25"}).split()[0] == "01-08"


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        (5, 'rrule must be an iCalendar rule such as "FREQ=MONTHLY;BYDAY=-1FR"'),
        ("monthly", 'rrule can\'t have "MONTHLY"; available parts: FREQ, INTERVAL,'),
        ("BYDAY=MO", "rrule must be an iCalendar rule such as"),
        ("FREQ=HOURLY", 'rrule must be an iCalendar rule such as "FREQ=MONTHLY;BYDAY=-1FR", with a FREQ of DAILY,'),
        ("FREQ=DAILY;COUNT=3", "rrule can't have COUNT; write times = 6 instead."),
        ("FREQ=DAILY;INTERVAL=1001", "rrule must be an iCalendar rule such as"),
        ("FREQ=DAILY;BYMONTH=2", "rrule with FREQ=DAILY can have only INTERVAL and BYDAY; use FREQ=MONTHLY or"),
        ("FREQ=WEEKLY;BYMONTHDAY=30", "rrule with FREQ=WEEKLY can have only INTERVAL, BYDAY and BYMONTH; use FREQ="),
        ("FREQ=MONTHLY;BYDAY=99MO", "rrule must have days from 1 to 5 in BYDAY, such as 5MO."),
        ("FREQ=DAILY;BYDAY=54SU", "rrule must have days from 1 to 5 in BYDAY, such as 5MO."),
        ("FREQ=YEARLY;BYMONTH=12;BYDAY=20MO", "rrule must have days from 1 to 5 in BYDAY, such as 5MO."),
        ("FREQ=YEARLY;BYDAY=54MO", "rrule must have days from 1 to 53 in BYDAY, such as 53MO."),
        ("FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30", 'rrule "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30" selects no day.'),
        ("FREQ=DAILY;INTERVAL=7;BYDAY=MO", 'rrule "FREQ=DAILY;INTERVAL=7;BYDAY=MO" selects no day.'),
    ],
)  # fmt: skip
def test_invalid_rules(rule: Any, problem: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        instants(NEW_YEAR, rrule=rule)
    assert str(caught.value).partition('"Rent": ')[2].startswith(problem)


def number_lists(limit: int, suffix: str = "") -> st.SearchStrategy[str]:
    """Return lists of numbers, some of which no month or year has."""
    return st.lists(st.integers(-limit, limit).map(lambda number: f"{number}{suffix}"), min_size=1).map(",".join)


LIMITS = {"BYMONTHDAY": 32, "BYMONTH": 13, "BYSETPOS": 367, "BYYEARDAY": 367, "BYWEEKNO": 54}
PARTS = st.fixed_dictionaries(
    {"FREQ": st.sampled_from(["MONTHLY", "YEARLY", "DAILY", "WEEKLY"])},
    optional={"BYDAY": number_lists(99, "MO"), **{name: number_lists(limit) for name, limit in LIMITS.items()}},
)


@given(PARTS)
def test_any_rule_has_days_or_a_mistake_with_its_line(parts: Mapping[str, str]) -> None:
    rule = ";".join(f"{name}={value}" for name, value in parts.items())
    text = to_toml({"transactions": [rent(rrule=rule)]})
    result = ExpandRequest(text, None, datetime(2027, 1, 1, tzinfo=UTC), is_stored=True).run()
    assert result.result or result.errors[0][1] == 1


@pytest.mark.parametrize("separator", [" ", "\n", ";"])
@pytest.mark.parametrize(
    "second",
    [
        "RRULE:FREQ=SECONDLY",
        "FREQ=SECONDLY",
        "EXRULE:FREQ=DAILY",
        "DTSTART:20270101",
    ],
)
def test_rule_with_a_second_one_is_invalid(separator: str, second: str) -> None:
    """dateutil reads several properties from one text."""
    with pytest.raises(ScenarioError, match="rrule"):
        instants(NEW_YEAR, rrule=f"FREQ=MONTHLY;WKST=MO{separator}{second}")
