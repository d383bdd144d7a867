"""Error messages of invalid scenarios, in full."""

import re
from string import ascii_uppercase
from typing import Any

import pytest

from tests.unit.scenarios.strategies import rent, to_toml
from tickover.api.limits import MAX_CLOCK_GOALS, MAX_GOAL_CONTRIBUTIONS
from tickover.scenarios import ScenarioError, read
from tickover.scenarios.readers import POINT as POINT_READER
from tickover.scenarios.scenario_errors import MAX_MISTAKES

POINT = POINT_READER.expected
NEW_YEAR = "2027-01-01T00:00:00Z"
AMOUNT = "must be a number greater than 0 and at most 1,000,000,000"
LENGTH = 'must be a duration such as "6 months" or "1 year", at most 10 years'
DAY = 'must be a date such as "2027-01-31" or an instant such as "2027-01-31T09:00:00Z"'
TIME = 'must be a time of day such as "08:00"'
TEXT = "must be text of 1 to 120 characters"
TIMES = "must be a whole number from 1 to 10,000"
CURRENCY = 'must be three uppercase letters such as "EUR"'
ITEM_KEYS = (
    "amount, timezone, weekend, holidays, seed, every, rrule, from, until, times, at, time, jitter_days, chance,"
    " late_by, skipped"
)
ONE_TIMING = 'must have only one of every, for example "month on the 25th", at, for example "+10 days", and rrule'
TRIP = {"name": "Trip", "target": 100}
MISSING: Any = object()


def error_message(values: Any, start: str | None = None) -> str:
    """Return the error of reading the scenario, or with a start, of planning it."""
    text = to_toml(values)
    if start is None:
        with pytest.raises(ScenarioError) as caught:
            read(text, "f")
    else:
        scenario = read(text, "f")
        with pytest.raises(ScenarioError) as caught:
            scenario.plan(start)
    # test_line_numbers.py tests line numbers.
    return re.sub("^f, line [0-9]+", "f", str(caught.value), flags=re.MULTILINE)


def end_sentence(text: str) -> str:
    return text if text.endswith("?") else f"{text}."


def with_keys(values: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {key: value for key, value in {**values, **keys}.items() if value is not MISSING}


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("amount", MISSING, f"amount is missing; it {AMOUNT}"),
        ("amount", 0, f"amount {AMOUNT}, not 0"),
        ("amount", [], "amount must have at least one entry"),
        ("amount", [1], "amount must be one number; a list of amounts requires at"),
        ("type", "debit", 'type must be "income" or "expense", not "debit"'),
        ("currency", MISSING, 'currency is missing; set it here or for the whole scenario, for example "EUR"'),
        ("currency", "eur", f'currency {CURRENCY}, not "eur"'),
        ("every", MISSING, ONE_TIMING),
        ("at", "+1 day", ONE_TIMING),
        ("category", 5, "category must be text of 0 to 80 characters, not 5"),
        ("times", 0, f"times {TIMES}, not 0"),
        ("time", "8:00", f'time {TIME}, not "8:00"'),
    ],
)  # fmt: skip
def test_invalid_transaction(key: str, value: Any, problem: str) -> None:
    item = with_keys(rent(every="day"), **{key: value})
    label = "" if key == "name" else ' "Rent"'
    assert error_message({"transactions": [rent(every="day"), item]}) == end_sentence(
        f"f, transaction 2{label}: {problem}"
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [("from", "start"), ("until", "end"), ("times", 1), ("weekend", "after"), ("holidays", [])],
)
def test_keys_that_need_a_recurrence(key: str, value: Any) -> None:
    problem = f"{key} requires every or rrule and can't be used with at; remove it."
    assert problem in error_message({"transactions": [rent(at="+1 day", **{key: value})]})


def test_each_date_of_a_list_has_an_amount() -> None:
    problem = "amount must have as many entries as at: 1, not 2."
    assert problem in error_message({"transactions": [rent(at="start", amount=[1, 2])]})


def trip(**keys: Any) -> dict[str, Any]:
    return {"goals": [with_keys({"name": "Trip", "target": 100, "initial": 100}, **keys)]}


def trip_with_contribution(contribution: Any) -> dict[str, Any]:
    return trip(contributions=[{"amount": 1, "at": "start"}, contribution])


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (trip(name=MISSING), f"goal 1: name is missing; it {TEXT}"),
        (trip(initial=-0.01), 'goal 1 "Trip": initial must be a number from 0 to 1,000,000,000, not -0.01'),
        (trip(initial=100.01), 'goal 1 "Trip": initial must be at most the target of 100, not 100.01'),
        (
            trip(contributions={}),
            'goal 1 "Trip": contributions must be a list with a table for each contribution, not a table',
        ),
        (trip_with_contribution(5), f'goal 1 "Trip", contribution 2: must be a table with the keys {ITEM_KEYS}, not 5'),
        (
            trip_with_contribution({"amount": 1, "every": "day", "nam": "x"}),
            f'goal 1 "Trip", contribution 2: unknown key "nam"; available keys: {ITEM_KEYS}',
        ),
        ({}, "the scenario is empty; add transactions or goals"),
        ({"holidays": ["2027-01-01"]}, 'holidays requires weekend = "before" or weekend = "after"'),
        ({"about": "\0"}, 'about must be text without U+0000, not "\\u0000"'),
        ({"start": "+1 day"}, f'start {DAY}, not "+1 day"'),
        ({"length": "0 days"}, f'length {LENGTH}, not "0 days"'),
        ({"goals": [TRIP], "opening": 5}, "opening must be a table such as {EUR = 1200}, not 5"),
        ({"goals": [TRIP], "opening": {"eur": 1}}, f'a key of opening {CURRENCY}, not "eur"'),
        (
            {"goals": [TRIP], "opening": {f"A{one}{two}": 1 for one in ascii_uppercase for two in "ABCDEFGH"}},
            "opening must have at most 200 currencies, not 208",
        ),
        (
            {"goals": [TRIP], "opening": {"EUR": "1"}},
            'EUR must be a number from -1,000,000,000,000 to 1,000,000,000,000, not "1"',
        ),
    ],
)  # fmt: skip
def test_invalid_scenario(values: Any, problem: str) -> None:
    separator = ", " if problem.startswith("goal ") else ": "
    assert error_message(values) == end_sentence(f"f{separator}{problem}")


def test_limits_of_entries() -> None:
    goals = [{"name": "a", "target": 1}] * MAX_CLOCK_GOALS
    assert len(read(to_toml({"goals": goals})).plan(NEW_YEAR).goals) == MAX_CLOCK_GOALS
    assert (
        error_message({"goals": [*goals, goals[0]]}) == "f: 101 goals exceed the limit of 100 per clock; remove some."
    )
    contributions = [{"amount": 1, "at": "start"}] * (MAX_GOAL_CONTRIBUTIONS + 1)
    goal = {"name": "a", "target": 1, "contributions": contributions}
    problem = "501 contributions exceed the limit of 500 per goal; remove some."
    assert error_message({"goals": [goal]}) == f'f, goal 1 "a": {problem}'


# Errors that depend on the start

BEFORE = 'before the start, 2027-01-01T00:00:00Z; use "start" or later'
AFTER = "after the end, 2027-07-01T00:00:00Z; use an earlier time, or increase length"


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"at": "2026-12-31"}, f'at "2026-12-31" is 2026-12-31T08:00:00Z, {BEFORE}'),
        ({"at": ["+1 day", "+8 months"]}, f'at "+8 months" is 2027-09-01T08:00:00Z, {AFTER}'),
        ({"every": "day", "from": "2016-01-01"}, 'from "2016-01-01" is more than 10 years before the start'),
        ({"every": "day", "from": "+2 months", "until": "+1 month"}, 'until "+1 month" is before from "+2 months"'),
    ],
)
def test_invalid_instant_in_a_plan(keys: dict[str, Any], problem: str) -> None:
    assert error_message({"transactions": [rent(**keys)]}, NEW_YEAR) == f'f, transaction 1 "Rent": {problem}.'


def test_a_message_is_one_printable_line() -> None:
    item = rent(every="day", name="\x1b[31mRent\n" + "x" * 1000)
    message = error_message({"transactions": [item]})
    assert message.isprintable()
    assert message.startswith('f, transaction 1 "\\u001b[31mRent\\u000axxx')
    assert len(message) < 300


WORDS = "never_below, never_above, goal_reached, total, posted"


@pytest.mark.parametrize(
    ("expectation", "problem"),
    [
        ({}, f"must have exactly one of {WORDS}"),
        (
            {"never_below": 0, "by": "end"},
            "by can't be used with never_below; available keys: never_below, currency, account, from, until, time",
        ),
        ({"goal_reached": "Twin"}, 'several goals are named "Twin"; rename one'),
        ({"posted": "Rnet"}, 'no transaction is named "Rnet"; did you mean "Rent"?'),
        ({"total": "expense"}, "total requires at_least, at_most or both"),
        ({"total": "expense", "at_most": 1, "per": "year"}, 'per must be "day", "week", "month" or "all", not "year"'),
        ({"total": "income", "at_least": 1, "per": "month"}, 'at_least requires per = "all"'),
        ({"never_below": 0, "currency": "USD"}, "no transaction, account or opening balance is in USD"),
        (
            {"total": "expense", "at_most": 1, "category": "HOMES"},
            'no expense in EUR has the category "HOMES"; did you mean "Home"?',
        ),
        (
            {"total": "expense", "at_most": 1, "category": "Home", "currency": "CHF"},
            'no expense in CHF has the category "Home"',
        ),
    ],
)
def test_expectations(expectation: dict[str, Any], problem: str) -> None:
    twin = {"name": "Twin", "target": 1}
    values = {
        "opening": {"CHF": 1},
        "transactions": [rent(at="start", category="Home")],
        "goals": [TRIP, twin, twin],
        "expect": [{"never_above": 9}, expectation],
    }
    assert error_message({"currency": "EUR", **values}) == f"f, expectation 2: {end_sentence(problem)}"


def test_expectations_outside_of_the_scenario() -> None:
    values = {
        "currency": "EUR",
        "length": "1 month",
        "goals": [TRIP],
        "expect": [{"goal_reached": "Trip", "by": "+2 months"}],
    }
    assert error_message(values, NEW_YEAR) == (
        'f, expectation 1: by "+2 months" is 2027-03-01T08:00:00Z, outside of the scenario,'
        " 2027-01-01T00:00:00Z to 2027-02-01T00:00:00Z."
    )


def test_all_mistakes_are_reported_at_once_in_order_of_their_lines() -> None:
    text = """\
currency = "euro"
lenght = "6 months"
opening = {EUR = "much"}
[[transactions]]
name = "Rent"
amount = -1
type = "outgoing"
every = "month on the 42nd"
[[goals]]
name = "Trip"
target = "high"
contributions = [{amount = 0, every = "day"}, {amount = 1}]
[[expect]]
posted = "Nobody"
count = 0
"""
    with pytest.raises(ScenarioError) as caught:
        read(text, "f")
    found = [f"{error.line} {str(error).rpartition(': ')[2].split()[0]}" for error in caught.value.errors]
    expected = "1 currency, 2 unknown, 3 EUR, 6 amount, 7 type, 8 every, 11 target, 12 amount, 12 must, 15 count"
    assert ", ".join(found) == expected
    assert str(caught.value) == "\n".join(map(str, caught.value.errors))
    assert caught.value.line == 1


def test_number_of_mistakes_in_one_error_is_limited() -> None:
    with pytest.raises(ScenarioError) as caught:
        read(to_toml({f"key{number}": 1 for number in range(5000)}), "f")
    assert len(caught.value.errors) == MAX_MISTAKES


@pytest.mark.parametrize(
    ("bank", "line", "problem"),
    [
        ("bank = 1", 1, "bank must be a table, not 1"),
        ("[bank]\nquirk = []", 2, 'unknown key "quirk"; did you mean "quirks"?'),
        ("[bank]\nquirks = ['LATE']", 2, "entry 1 of quirks must be SAME_ID, "),
        ("[bank]\nquirks = ['SAME_ID', 'holds']", 2, "UNLINKED must not be there together with SAME_ID."),
        ("[bank]\nconsentDays = 0", 2, "consentDays must be a whole number from 1 to 730, not 0."),
        ("[bank]\ncallsPerDay = true", 2, "callsPerDay must be a whole number from 1 to 1,000, not true."),
        ("[bank]\nfaults = {}", 2, "faults must be a list with a table for each fault, not a table."),
        ("[[bank.faults]]\nuntil = 'end'", 1, 'fault 1: kind is missing; it must be "login required", '),
        ("[[bank.faults]]\nkind = 'LOGIN'", 2, 'fault 1: kind must be "login required", '),
        (
            "[[bank.faults]]\nkind = 'login required'\nfrom = '+2 days'\nuntil = '+1 day'",
            1,
            'fault 1: until "+1 day" must be after from "+2 days".',
        ),
    ],
)
def test_bank_must_be_possible(bank: str, line: int, problem: str) -> None:
    item = "[[transactions]]\nname = 'Rent'\namount = 1\ntype = 'income'\ncurrency = 'EUR'\nevery = 'day'"
    with pytest.raises(ScenarioError) as caught:
        read(f"{bank}\n{item}", "f").plan(NEW_YEAR)
    assert (caught.value.line, problem in str(caught.value)) == (line, True), str(caught.value)
