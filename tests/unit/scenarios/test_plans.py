"""Plans of scenarios: instants, amounts, order and limits."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from msgspec import UNSET

from tests.unit.scenarios.strategies import instants, parse_instant, plan, rent, to_toml
from tickover.api import plans
from tickover.api.limits import MAX_CLOCK_TRANSACTIONS, MAX_GOAL_CONTRIBUTIONS
from tickover.api.plans import Plan
from tickover.scenarios import Scenario, ScenarioError, read
from tickover.scenarios.scenario import ONE_CALL

NEW_YEAR = "2027-01-01T00:00:00Z"
MORNING = "2027-01-01T09:30:00Z"


def test_a_scenario_becomes_a_plan() -> None:
    scenario = read(
        """
        title = "Two people"
        about = "Who share a flat."
        currency = "EUR"
        length = "2 months"
        transactions = [
          { name = "Salary", amount = 2800, type = "income", category = "Work", every = "month on the 25th" },
          { name = "Rent", amount = 575.50, type = "EXPENSE", currency = "CHF", every = "month on the 1st" },
        ]
        [[goals]]
        name = "Trip"
        target = 900.00
        initial = 100
        contributions = [{ amount = 50.05, at = "+1 month" }, { amount = 20, at = 2027-01-02 }]
        [[goals]]
        name = "Roof"
        target = 1
        """,
        "toml",
    )
    assert (scenario.title, scenario.about, scenario.start) == ("Two people", "Who share a flat.", None)
    assert scenario.plan(NEW_YEAR) == Plan(
        name="Two people",
        frozen_time=datetime(2027, 1, 1, tzinfo=UTC),
        transactions=[
            plans.expense("Rent", Decimal("575.50"), "CHF", parse_instant("2027-01-01")),
            plans.income("Salary", 2800, "EUR", parse_instant("2027-01-25"), "Work"),
            plans.expense("Rent", Decimal("575.50"), "CHF", parse_instant("2027-02-01")),
            plans.income("Salary", 2800, "EUR", parse_instant("2027-02-25"), "Work"),
        ],
        goals=[
            plans.goal(
                "Trip",
                900,
                100,
                [
                    plans.contribution(20, parse_instant("2027-01-02")),
                    plans.contribution(Decimal("50.05"), parse_instant("2027-02-01")),
                ],
            ),
            plans.goal("Roof", 1),
        ],
    )


def test_defaults_and_the_order_of_one_instant() -> None:
    items = [rent(name=name, every="month on the 2nd") for name in "cab"]
    scenario = read(to_toml({"transactions": items}), title="budget")
    result = scenario.plan(NEW_YEAR)
    assert (scenario.title, scenario.about) == ("budget", "")
    assert [item.name for item in result.transactions] == ["c", "a", "b"] * 6
    assert {(item.category, item.at.hour) for item in result.transactions} == {(UNSET, 8)}
    assert result.goals == []


# Timing


@pytest.mark.parametrize(
    ("start", "point", "expected"),
    [
        pytest.param(MORNING, "+10 days", "2027-01-11", id="days, at the time of day"),
        pytest.param("2027-01-31T00:00:00Z", "+1 month", "2027-02-28", id="a month after the 31st"),
        pytest.param(MORNING, "+36 hours", "2027-01-02 21:30", id="hours are exact"),
        pytest.param(MORNING, "start", "2027-01-01 09:30", id="the start"),
        pytest.param(MORNING, "END", "2027-07-01 09:30", id="the end"),
        pytest.param(MORNING, "2027-03-31T23:00:00-02:00", "2027-04-01 01:00", id="an instant with an offset"),
        pytest.param("2027-01-01T00:30:00+01:00", "+1 day", "2027-01-01", id="a start of the day before in UTC"),
    ],
)
def test_points_in_time(start: str, point: str, expected: str) -> None:
    assert instants(start, at=point) == [parse_instant(expected)]


@pytest.mark.parametrize(("value", "expected"), [("00:00", "00:00"), ("23:59:59", "23:59:59"), (" 07:05 ", "07:05")])
def test_time_applies_to_days_without_a_time(value: str, expected: str) -> None:
    points = ["+1 day", "2027-01-05", "2027-01-06T03:00:00Z", "+4 hours"]
    days = [f"2027-01-02 {expected}", f"2027-01-05 {expected}", "2027-01-06 03:00", "2027-01-01 04:00"]
    assert instants(NEW_YEAR, at=points, time=value) == sorted(map(parse_instant, days))
    assert instants(NEW_YEAR, every="year on 3 Jan", time=value) == [parse_instant(f"2027-01-03 {expected}")]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        pytest.param({}, "01-01 01-08 01-15 01-22 01-29", id="from start to end"),
        pytest.param({"from": "2027-01-08T08:00:00.000001Z"}, "01-15 01-22 01-29", id="from a microsecond after one"),
        pytest.param({"from": "2017-01-01T08:00:00Z"}, "01-01 01-08 01-15 01-22 01-29", id="from ten years before"),
        pytest.param({"until": "2027-01-15T07:59:59.999999Z"}, "01-01 01-08", id="until a microsecond before one"),
        pytest.param({"from": "2026-12-18", "times": 3}, "01-01", id="two of three were before the start"),
    ],
)
def test_bounds_of_a_recurrence(keys: dict[str, Any], expected: str) -> None:
    found = instants("2027-01-01T08:00:00Z", "1 month", every="Friday", **keys)
    assert found == [parse_instant(f"2027-{day}") for day in expected.split()]


@pytest.mark.parametrize(
    ("start", "length", "last"),
    [
        pytest.param("2027-01-01T08:00:00Z", "30 days", "2027-01-31", id="exactly at the end"),
        pytest.param("2027-01-01T08:00:00Z", "29 days 23 hours", "2027-01-30", id="an hour too late"),
    ],
)
def test_the_end_is_included(start: str, length: str, last: str) -> None:
    assert instants(start, length, every="day")[-1] == parse_instant(last)


# Amounts and order


def test_amounts_belong_to_their_instants_in_any_order() -> None:
    result = plan(NEW_YEAR, rent(amount=[1, 2.5, 3], at=["+3 days", "+1 day", "+2 days"]))
    assert [(item.at.day, str(item.amount)) for item in result.transactions] == [(2, "2.5"), (3, "3"), (4, "1")]


# Limits


def daily(count: int) -> dict[str, Any]:
    return {"amount": 1, "every": "day", "times": count}


def scenario_of(**top: Any) -> Scenario:
    return read(to_toml(top), "f")


def test_limit_of_transactions() -> None:
    items = [rent(**daily(1200)), rent(name="Tea", **daily(800))]
    assert len(scenario_of(transactions=items, length="5 years").plan(NEW_YEAR).transactions) == MAX_CLOCK_TRANSACTIONS
    with pytest.raises(ScenarioError) as caught:
        scenario_of(transactions=[*items, rent(**daily(1))], length="5 years").plan(NEW_YEAR)
    assert str(caught.value) == (
        "f: 2,001 transactions from 2027-01-01T00:00:00Z to 2032-01-01T00:00:00Z exceed the limit of 2,000 per "
        'clock; reduce length, or repeat transaction 1 "Rent" fewer than 1,200 times.'
    )


def test_limit_of_contributions() -> None:
    goal = {"name": "Trip", "target": 1, "contributions": [daily(300), daily(200)]}
    result = scenario_of(goals=[goal, goal], length="1 year").plan(NEW_YEAR)
    assert [len(found.contributions) for found in result.goals] == [MAX_GOAL_CONTRIBUTIONS] * 2
    more = {"name": "Roof", "target": 1, "contributions": [daily(200), {"amount": 1, "every": "day"}]}
    with pytest.raises(ScenarioError) as caught:
        scenario_of(goals=[goal, more], length="1 year").plan(NEW_YEAR)
    assert str(caught.value) == (
        'f, line 1, goal 2 "Roof": 565 contributions from 2027-01-01T00:00:00Z to 2028-01-01T00:00:00Z exceed the '
        'limit of 500 per goal; reduce length, or repeat goal 2 "Roof", contribution 2 fewer than 365 times.'
    )


@pytest.mark.parametrize(
    "top",
    [
        {"transactions": [rent(**daily(101))]},
        {"goals": [{"name": "Trip", "target": 1}] * 26},
        {"goals": [{"name": "Trip", "target": 1, "contributions": [daily(101)]}]},
    ],
    ids=["transactions", "goals", "contributions"],
)
def test_a_plan_for_one_call_is_smaller(top: dict[str, Any]) -> None:
    scenario = scenario_of(**top)
    scenario.plan(NEW_YEAR)
    with pytest.raises(ScenarioError, match=r"exceed the limit of (100|25) per (goal of a )?call; "):
        scenario.plan(NEW_YEAR, ONE_CALL)


@pytest.mark.parametrize(
    ("start", "length"), [(NEW_YEAR, "10 years 1 second"), (NEW_YEAR, "9999 years"), ("9989-12-31T23:59:59Z", "10y 1d")]
)
def test_too_long_scenarios_are_rejected(start: str, length: str) -> None:
    scenario = scenario_of(length=length, transactions=[rent(every="year")])
    with pytest.raises(
        ScenarioError, match=r"^f: length must be at most 10 years, the longest time that a clock covers\.$"
    ):
        scenario.plan(start)


@pytest.mark.parametrize(
    ("start", "problem"),
    [
        (None, "the scenario has no start; pass one"),
        (datetime(2027, 1, 1), "the start 2027-01-01T00:00:00 has no time zone; …"),  # noqa: DTZ001
        ("soon", "the start …must be an RFC 3339 timestamp …"),
        ("9990-01-01T00:00:00Z", "the start must be in the years 0011 to 9989"),
    ],
)
def test_invalid_starts(start: Any, problem: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario_of(transactions=[rent(every="year")]).plan(start)
    assert re.fullmatch(f"f: {re.escape(problem).replace('…', '.*')}\\.", str(caught.value))
