"""Scenarios made into plans: when things happen, with which amounts, in which order, and up to which limits."""

import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from tests.scenarios.drawing import Phrase, at, instants, phrases, plan, rent, starts, times
from tickover import plans
from tickover.core.limits import MAX_CONTRIBUTIONS, MAX_TRANSACTIONS
from tickover.plans import Plan
from tickover.scenarios import Scenario, ScenarioError, read

NEW_YEAR = "2027-01-01T00:00:00Z"
MORNING = "2027-01-01T09:30:00Z"


def test_a_scenario_becomes_what_a_clock_takes() -> None:
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
        frozen_time=datetime(2027, 1, 1, tzinfo=UTC),
        transactions=[
            plans.expense("Rent", Decimal("575.50"), "CHF", at("2027-01-01")),
            plans.income("Salary", 2800, "EUR", at("2027-01-25"), "Work"),
            plans.expense("Rent", Decimal("575.50"), "CHF", at("2027-02-01")),
            plans.income("Salary", 2800, "EUR", at("2027-02-25"), "Work"),
        ],
        goals=[
            plans.goal(
                "Trip",
                900,
                100,
                [plans.contribution(20, at("2027-01-02")), plans.contribution(Decimal("50.05"), at("2027-02-01"))],
            ),
            plans.goal("Roof", 1),
        ],
    )


def test_what_is_not_said_has_a_default() -> None:
    scenario = read(json.dumps({"transactions": [rent(every="month on the 2nd")]}), "json", title="budget")
    made = scenario.plan(NEW_YEAR)
    assert (scenario.title, scenario.about) == ("budget", "")
    assert len(made.transactions) == 6
    assert {item.category for item in made.transactions} == {UNSET}
    assert {item.at.hour for item in made.transactions} == {8}
    assert made.goals == []


# When


@pytest.mark.parametrize(
    ("start", "when", "expected"),
    [
        pytest.param(MORNING, "+10 days", "2027-01-11", id="days, at the time of day"),
        pytest.param(MORNING, "10 days", "2027-01-11", id="without a plus"),
        pytest.param(MORNING, " +1 Month ", "2027-02-01", id="a month"),
        pytest.param("2027-01-31T00:00:00Z", "+1 month", "2027-02-28", id="a month after the 31st"),
        pytest.param("2027-01-31T00:00:00Z", "+2 months", "2027-03-31", id="two months after the 31st"),
        pytest.param(MORNING, "+1 month 2 weeks", "2027-02-15", id="months and weeks"),
        pytest.param(NEW_YEAR, "+0 days", "2027-01-01", id="the day of the start"),
        pytest.param(MORNING, "+36 hours", "2027-01-02 21:30", id="hours are exact"),
        pytest.param(MORNING, "+1 day 5 minutes", "2027-01-02 09:35", id="minutes are exact"),
        pytest.param(MORNING, "+1 day 1 second", "2027-01-02 09:30:01", id="seconds are exact"),
        pytest.param(MORNING, "+0 hours", "2027-01-01 09:30", id="no hours are exact"),
        pytest.param(MORNING, "+0 seconds", "2027-01-01 09:30", id="no seconds are exact"),
        pytest.param(MORNING, "start", "2027-01-01 09:30", id="the start"),
        pytest.param(MORNING, "END", "2027-07-01 09:30", id="the end"),
        pytest.param(MORNING, "2027-03-31", "2027-03-31", id="a date"),
        pytest.param(MORNING, "2027-03-31T23:00:00-02:00", "2027-04-01 01:00", id="an instant with an offset"),
        pytest.param("2027-01-01T00:30:00+01:00", "+1 day", "2027-01-01", id="a start of the day before in UTC"),
    ],
)
def test_a_point_in_time_follows_the_start(start: str, when: str, expected: str) -> None:
    assert instants(start, at=when) == [at(expected)]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2027-03-31", "2027-03-31"),
        ("2027-03-31T09:00:00Z", "2027-03-31 09:00"),
        ("2027-03-31 11:00:00+02:00", "2027-03-31 09:00"),
        ('["+1 day", 2027-03-31]', "2027-01-02 2027-03-31"),
    ],
)
def test_toml_has_dates_of_its_own(written: str, expected: str) -> None:
    text = f'[[transactions]]\nname = "a"\ncurrency = "EUR"\namount = 1\ntype = "income"\nat = {written}'
    found = [item.at for item in read(text, "toml").plan(NEW_YEAR).transactions]
    days = [expected] if len(expected) == 16 else expected.split()
    assert found == [at(day) for day in days]


@pytest.mark.parametrize(
    ("written", "start"),
    [
        ("2027-01-31", "2027-01-31 00:00"),
        ('"2027-01-31"', "2027-01-31 00:00"),
        ("2027-01-31T10:00:00+01:00", "2027-01-31 09:00"),
        ('"2027-01-31T10:00:00+01:00"', "2027-01-31 09:00"),
    ],
)
def test_a_file_may_fix_its_start_and_an_argument_wins(written: str, start: str) -> None:
    scenario = read(f'start = {written}\ngoals = [{{ name = "a", target = 1 }}]', "toml")
    assert scenario.start == at(start)
    assert scenario.plan().frozen_time == at(start)
    assert scenario.plan(NEW_YEAR).frozen_time == at("2027-01-01 00:00")


@pytest.mark.parametrize(
    ("written", "expected"),
    [("08:00", "08:00"), ("23:59", "23:59"), ("00:00", "00:00"), ("23:59:59", "23:59:59"), (" 07:05 ", "07:05")],
)
def test_the_time_of_day_holds_for_whatever_has_none(written: str, expected: str) -> None:
    ats = ["+1 day", "2027-01-05", "2027-01-06T03:00:00Z", "+4 hours"]
    days = [f"2027-01-02 {expected}", f"2027-01-05 {expected}", "2027-01-06 03:00", "2027-01-01 04:00"]
    assert instants(NEW_YEAR, at=ats, time=written) == sorted(map(at, days))
    assert instants(NEW_YEAR, every="year on 3 Jan", time=written) == [at(f"2027-01-03 {expected}")]


def test_toml_has_times_of_its_own() -> None:
    text = '[[goals]]\nname = "a"\ntarget = 1\ncontributions = [{ amount = 1, at = "+1 day", time = 06:07:08 }]'
    assert read(text, "toml").plan(NEW_YEAR).goals[0].contributions[0].at == at("2027-01-02 06:07:08")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        pytest.param({}, "01-01 01-08 01-15 01-22 01-29", id="from start to end"),
        pytest.param({"from": "+1 week"}, "01-08 01-15 01-22 01-29", id="from a Friday"),
        pytest.param({"from": "2027-01-09"}, "01-15 01-22 01-29", id="from a day after one"),
        pytest.param({"from": "2027-01-08T08:00:00.000001Z"}, "01-15 01-22 01-29", id="from a microsecond after one"),
        pytest.param({"from": "2026-06-01"}, "01-01 01-08 01-15 01-22 01-29", id="from before the start"),
        pytest.param({"from": "end"}, "", id="from the end, which is no Friday"),
        pytest.param({"from": "+2 years"}, "", id="from after the end"),
        pytest.param({"until": "2027-01-15"}, "01-01 01-08 01-15", id="until a Friday, included"),
        pytest.param({"until": "2027-01-15T07:59:59.999999Z"}, "01-01 01-08", id="until a microsecond before one"),
        pytest.param({"until": "2029-01-01"}, "01-01 01-08 01-15 01-22 01-29", id="until after the end"),
        pytest.param({"until": "2026-12-31"}, "", id="until before the start"),
        pytest.param({"times": 1}, "01-01", id="once"),
        pytest.param({"times": 5}, "01-01 01-08 01-15 01-22 01-29", id="as often as there are"),
        pytest.param({"times": 10_000}, "01-01 01-08 01-15 01-22 01-29", id="far more often"),
        pytest.param({"from": "2026-12-18", "times": 3}, "01-01", id="two of three were before the start"),
        pytest.param({"from": "2026-12-18", "times": 2}, "", id="both were before the start"),
        pytest.param({"from": "+1 week", "until": "+1 week"}, "01-08", id="from and until one day"),
    ],
)
def test_a_recurrence_has_bounds(keys: dict[str, Any], expected: str) -> None:
    found = instants("2027-01-01T08:00:00Z", "1 month", every="Friday", **keys)
    assert found == [at(f"2027-{day}") for day in expected.split()]


def test_every_second_is_counted_from_where_it_begins_even_before_the_start() -> None:
    assert instants(NEW_YEAR, "1 month", every="second Friday")[0] == at("2027-01-01")
    assert instants(NEW_YEAR, "1 month", every="second Friday", **{"from": "2026-12-25"})[0] == at("2027-01-08")


@pytest.mark.parametrize(
    ("every", "since", "expected"),
    [
        ("week", "2027-01-06", "2027-01-06 2027-01-13"),
        ("month", "2027-01-31", "2027-01-31 2027-02-28"),
        ("month", "2026-08-31", "2027-01-31 2027-02-28"),
        ("quarter", "+1 month 3 days", "2027-02-04 2027-05-04"),
        ("year", "2026-03-05", "2027-03-05"),
    ],
)
def test_what_names_no_day_goes_by_the_day_it_begins(every: str, since: str, expected: str) -> None:
    found = instants(NEW_YEAR, every=every, **{"from": since})
    assert found[:2] == [at(day) for day in expected.split()]


@pytest.mark.parametrize(
    ("start", "length", "last"),
    [
        pytest.param("2027-01-01T08:00:00Z", "30 days", "2027-01-31", id="exactly at the end"),
        pytest.param("2027-01-01T08:00:00Z", "29 days 23 hours", "2027-01-30", id="an hour too late"),
        pytest.param(NEW_YEAR, "32 hours", "2027-01-02", id="at the end of hours"),
        pytest.param("2027-01-01T08:00:00Z", "1 second", "2027-01-01", id="at the start of a second"),
    ],
)
def test_the_end_of_the_length_is_inside(start: str, length: str, last: str) -> None:
    assert instants(start, length, every="day")[-1] == at(last)


# Amounts and order


def test_amounts_go_with_their_instants_whatever_the_order() -> None:
    made = plan(NEW_YEAR, rent(amount=[1, 2.5, 3], at=["+3 days", "+1 day", "+2 days"]))
    assert [(item.at.day, str(item.amount)) for item in made.transactions] == [(2, "2.5"), (3, "3"), (4, "1")]


def test_one_amount_goes_with_all_instants() -> None:
    made = plan(NEW_YEAR, rent(amount=7, at=["+1 day", "+1 day", "+2 days"]))
    assert [(item.at.day, str(item.amount)) for item in made.transactions] == [(2, "7"), (2, "7"), (3, "7")]


def test_what_is_due_at_one_instant_is_in_the_order_of_the_file() -> None:
    items = [rent(name=name, at=["+2 days", "+1 day"]) for name in "cab"]
    assert [item.name for item in plan(NEW_YEAR, *items).transactions] == ["c", "a", "b"] * 2


@pytest.mark.parametrize("amount", ["0.01", "0.1", "575.50", "1e2", "999999999.99", "1000000000", "123456.789012345"])
@pytest.mark.parametrize(
    "form", ['{{"goals": [{{"name": "a", "target": {}}}]}}', 'goals = [{{ name = "a", target = {} }}]']
)
def test_amounts_arrive_as_they_are_written(form: str, amount: str) -> None:
    made = read(form.format(amount), "json" if form.startswith("{{") else "toml").plan(NEW_YEAR)
    assert made.goals[0].target_amount == Decimal(amount)
    assert json.loads(plans.encode_json(made), parse_float=Decimal)["goals"][0]["targetAmount"] == Decimal(amount)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    starts,
    st.lists(st.tuples(phrases, times), min_size=1, max_size=5),
    st.lists(st.integers(0, 36 * 24), max_size=5),
)
def test_every_plan_lies_within_its_length_and_is_in_order(
    start: datetime, drawn: list[tuple[Phrase, Any]], hours: list[int]
) -> None:
    recurring = [
        rent(name=str(number), every=phrase.words, time=time.isoformat(), times=18)
        for number, (phrase, time) in enumerate(drawn)
    ]
    listed = [rent(name="9", at=[f"+{hour} hours" for hour in hours])] if hours else []
    made = plan(start, *recurring, *listed, length="36 days").transactions
    assert all(start <= item.at <= start + timedelta(days=36) for item in made)
    assert all((a.at, a.name) <= (b.at, b.name) for a, b in pairwise(made))
    assert sum(item.name == "9" for item in made) == len(hours)


def test_the_same_start_gives_the_same_plan() -> None:
    scenario = read(json.dumps({"transactions": [rent(every="second Friday")]}), "json")
    assert scenario.plan(NEW_YEAR) == scenario.plan(NEW_YEAR) != scenario.plan(MORNING.replace("01-01", "01-02"))


# Limits


def daily(count: int) -> dict[str, Any]:
    return {"amount": 1, "every": "day", "times": count}


def of(**top: Any) -> Scenario:
    return read(json.dumps(top), "json", "f")


def test_as_many_transactions_as_a_clock_takes() -> None:
    assert len(plan(NEW_YEAR, rent(**daily(60)), rent(**daily(40))).transactions) == MAX_TRANSACTIONS
    with pytest.raises(ScenarioError) as refused:
        of(transactions=[rent(**daily(60)), rent(name="Tea", **daily(41))]).plan(NEW_YEAR)
    assert str(refused.value) == (
        "f: 101 transactions from 2027-01-01T00:00:00Z to 2027-07-01T00:00:00Z are more than the 100 that a clock "
        'takes; shorten length, or let transaction 1 "Rent" happen less often than 60 times.'
    )


def test_as_many_contributions_as_a_goal_takes() -> None:
    goal = {"name": "Trip", "target": 1, "contributions": [daily(60), daily(40)]}
    made = of(goals=[goal, goal]).plan(NEW_YEAR)
    assert [len(found.contributions) for found in made.goals] == [MAX_CONTRIBUTIONS] * 2
    more = {"name": "Roof", "target": 1, "contributions": [daily(50), {"amount": 1, "every": "day"}]}
    with pytest.raises(ScenarioError) as refused:
        of(goals=[goal, more]).plan(NEW_YEAR)
    assert str(refused.value) == (
        'f, goal 2 "Roof": 231 contributions from 2027-01-01T00:00:00Z to 2027-07-01T00:00:00Z are more than the 100 '
        'that a goal takes; shorten length, or let goal 2 "Roof", contribution 2 happen less often than 181 times.'
    )


@pytest.mark.parametrize(
    ("start", "length"),
    [
        (NEW_YEAR, "10 years"),
        (NEW_YEAR, "120 months"),
        (NEW_YEAR, "3653 days"),
        (NEW_YEAR, "9 years 366 days"),
        ("2028-02-29T00:00:00Z", "10 years"),
        ("0011-01-01T00:00:00Z", "1 day"),
        ("9989-12-31T23:59:59Z", "10 years"),
    ],
)
def test_a_scenario_may_be_as_long_as_a_clock_runs(start: str, length: str) -> None:
    assert len(plan(start, rent(every="year"), length=length).transactions) <= 11


@pytest.mark.parametrize(
    ("start", "length"),
    [
        (NEW_YEAR, "10 years 1 second"),
        (NEW_YEAR, "3654 days"),
        (NEW_YEAR, "9 years 367 days"),
        ("2025-01-01T00:00:00Z", "3653 days"),
        ("9989-12-31T23:59:59Z", "10 years 1 day"),
    ],
)
def test_a_scenario_may_not_be_longer(start: str, length: str) -> None:
    scenario = of(length=length, transactions=[rent(every="year")])
    with pytest.raises(ScenarioError) as refused:
        scenario.plan(start)
    assert str(refused.value) == "f: length must be at most 10 years, because no clock runs longer."


@pytest.mark.parametrize(
    ("start", "problem"),
    [
        (None, "it has no start of its own; say when it is to start"),
        (datetime(2027, 1, 1), "the start 2027-01-01T00:00:00 has no time zone; …"),  # noqa: DTZ001
        ("soon", "the start …must be an RFC 3339 timestamp …"),
        ("0010-12-31T23:59:59Z", "the start must lie in the years 0011 to 9989"),
        ("9990-01-01T00:00:00Z", "the start must lie in the years 0011 to 9989"),
    ],
)
def test_a_start_must_be_an_instant(start: Any, problem: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        of(transactions=[rent(every="year")]).plan(start)
    assert re.fullmatch(f"f: {re.escape(problem).replace('…', '.*')}\\.", str(refused.value))
