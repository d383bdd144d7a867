"""What is wrong with a scenario: each message whole, as a person reads it."""

import json
from typing import Any

import pytest

from tests.scenarios.drawing import rent
from tickover.core.limits import MAX_CATEGORY, MAX_CONTRIBUTIONS, MAX_GOALS, MAX_NAME, MAX_TRANSACTIONS
from tickover.scenarios import ScenarioError, read
from tickover.scenarios.phrases import EXPECTED as RECURRENCE
from tickover.scenarios.timings import EXPECTED as POINT

NEW_YEAR = "2027-01-01T00:00:00Z"
AMOUNT = "must be a number greater than 0 and at most 1,000,000,000"
LENGTH = 'must be a duration such as "6 months" or "1 year", at most 10 years'
DAY = 'must be a date such as "2027-01-31" or an instant such as "2027-01-31T09:00:00Z"'
TIME = 'must be a time of day in UTC such as "08:00"'
TEXT = "must be text of 1 to 120 characters"
TIMES = "must be a whole number from 1 to 10,000"
PAIRS = "amount must have as many entries as there are instants"
CURRENCY = 'must be three uppercase letters such as "EUR"'
WHEN_KEYS = "every, from, until, times, at, time"
TOP_KEYS = "title, about, currency, start, length, transactions, goals"
TRIP = {"name": "Trip", "target": 100}
MISSING: Any = object()


def refusal(values: Any, start: str | None = None) -> str:
    """What reading says, or if there is a start, what planning says."""
    text = json.dumps(values)
    if start is None:
        with pytest.raises(ScenarioError) as refused:
            read(text, "json", "f")
    else:
        scenario = read(text, "json", "f")
        with pytest.raises(ScenarioError) as refused:
            scenario.plan(start)
    return str(refused.value)


def sentence(text: str) -> str:
    return text if text.endswith("?") else f"{text}."


def without(values: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {key: value for key, value in {**values, **keys}.items() if value is not MISSING}


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("name", MISSING, f"name is missing; it {TEXT}"),
        ("name", "", f'name {TEXT}, not ""'),
        ("name", 5, f"name {TEXT}, not 5"),
        ("name", None, f"name {TEXT}, not null"),
        ("amount", MISSING, f"amount is missing; it {AMOUNT}"),
        ("amount", 0, f"amount {AMOUNT}, not 0"),
        ("amount", -5, f"amount {AMOUNT}, not -5"),
        ("amount", -0.01, f"amount {AMOUNT}, not -0.01"),
        ("amount", 1_000_000_001, f"amount {AMOUNT}, not 1000000001"),
        ("amount", 1_000_000_000.01, f"amount {AMOUNT}, not 1000000000.01"),
        ("amount", True, f"amount {AMOUNT}, not true"),
        ("amount", "12", f'amount {AMOUNT}, not "12"'),
        ("amount", None, f"amount {AMOUNT}, not null"),
        ("amount", {}, f"amount {AMOUNT}, not a table"),
        ("amount", [], "amount must have at least one entry"),
        ("amount", [1, False], f"entry 2 of amount {AMOUNT}, not false"),
        ("amount", [[1]], f"entry 1 of amount {AMOUNT}, not a list"),
        ("amount", [1], "amount must be one number, not a list, because a list goes with a list in at"),
        ("type", MISSING, 'type is missing; it must be "income" or "expense"'),
        ("type", "debit", 'type must be "income" or "expense", not "debit"'),
        ("type", 1, 'type must be "income" or "expense", not 1'),
        ("currency", MISSING, 'currency is missing, and the scenario has none for all; give either, such as "EUR"'),
        ("currency", "eur", f'currency {CURRENCY}, not "eur"'),
        ("currency", "EURO", f'currency {CURRENCY}, not "EURO"'),
        ("currency", "EU", f'currency {CURRENCY}, not "EU"'),
        ("currency", "ÄÖÜ", f'currency {CURRENCY}, not "ÄÖÜ"'),
        ("currency", "EUR\n", f'currency {CURRENCY}, not "EUR\\u000a"'),
        ("category", 7, "category must be text of 0 to 80 characters, not 7"),
        ("every", MISSING, 'it must have either every, such as "month on the 25th", or at, such as "+10 days"'),
        ("at", "+1 day", 'it must have either every, such as "month on the 25th", or at, such as "+10 days"'),
        ("every", "moonth", f'every {RECURRENCE}, not "moonth"'),
        ("every", ["day"], f"every {RECURRENCE}, not a list"),
        ("every", "month on the 32nd", 'every must name a day from 1 to 31, not "month on the 32nd"'),
        ("from", "-1 day", f'from {POINT}, not "-1 day"'),
        ("until", 2027, f"until {POINT}, not 2027"),
        ("until", "2027-02-30", f'until {POINT}, not "2027-02-30"'),
        ("until", "2027-02-28T08:00", f'until {POINT}, not "2027-02-28T08:00"'),
        ("times", 0, f"times {TIMES}, not 0"),
        ("times", 10_001, f"times {TIMES}, not 10001"),
        ("times", 1.5, f"times {TIMES}, not 1.5"),
        ("times", True, f"times {TIMES}, not true"),
        ("times", "3", f'times {TIMES}, not "3"'),
        ("time", "8:00", f'time {TIME}, not "8:00"'),
        ("time", "24:00", f'time {TIME}, not "24:00"'),
        ("time", "08:60", f'time {TIME}, not "08:60"'),
        ("time", 8, f"time {TIME}, not 8"),
        ("evry", "day", '"evry" is no key here; did you mean "every"?'),
        ("Amount", 1, '"Amount" is no key here; did you mean "amount"?'),
        ("qqq", 1, f'"qqq" is no key here; known are name, amount, type, currency, category, {WHEN_KEYS}'),
    ],
)  # fmt: skip
def test_a_transaction_is_refused(key: str, value: Any, problem: str) -> None:
    item = without(rent(every="day"), **{key: value})
    named = ' "Rent"' if key != "name" else ' ""' if value == "" else ""
    assert refusal({"transactions": [rent(every="day"), item]}) == sentence(f"f, transaction 2{named}: {problem}")


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"at": []}, "at must have at least one entry"),
        ({"at": ["+1 day", "soon"]}, f'entry 2 of at {POINT}, not "soon"'),
        ({"at": None}, f"at {POINT}, not null"),
        ({"at": "+1 day", "from": "+1 day"}, "from goes with every, and not with at; leave it out"),
        ({"at": "+1 day", "until": "+1 day"}, "until goes with every, and not with at; leave it out"),
        ({"at": "+1 day", "times": 2}, "times goes with every, and not with at; leave it out"),
        ({"at": "+1 day", "amount": [1, 2]}, f"{PAIRS}, 1 in at, not 2"),
        ({"at": ["+1 day"] * 3, "amount": [1]}, f"{PAIRS}, 3 in at, not 1"),
    ],
)  # fmt: skip
def test_instants_are_refused(keys: dict[str, Any], problem: str) -> None:
    assert refusal({"transactions": [rent(**keys)]}) == f'f, transaction 1 "Rent": {problem}.'


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("name", MISSING, f"name is missing; it {TEXT}"),
        ("target", MISSING, f"target is missing; it {AMOUNT}"),
        ("target", 0, f"target {AMOUNT}, not 0"),
        ("target", [1], f"target {AMOUNT}, not a list"),
        ("initial", -0.01, "initial must be a number from 0 to 1,000,000,000, not -0.01"),
        ("initial", True, "initial must be a number from 0 to 1,000,000,000, not true"),
        ("initial", 100.01, "initial must be at most the target, 100, not 100.01"),
        ("contributions", {}, "contributions must be a list with a table for each contribution, not a table"),
        ("targt", 1, '"targt" is no key here; did you mean "target"?'),
        ("currency", "EUR", '"currency" is no key here; known are name, target, initial, contributions'),
    ],
)
def test_a_goal_is_refused(key: str, value: Any, problem: str) -> None:
    goal = without({"name": "Trip", "target": 100, "initial": 100}, **{key: value})
    named = "" if key == "name" else ' "Trip"'
    assert refusal({"goals": [goal]}) == sentence(f"f, goal 1{named}: {problem}")


@pytest.mark.parametrize(
    ("contribution", "problem"),
    [
        (5, f"it must be a table with the keys amount, {WHEN_KEYS}, not 5"),
        ({"amount": 0, "every": "day"}, f"amount {AMOUNT}, not 0"),
        ({"amount": 1, "every": "dy"}, f'every {RECURRENCE}, not "dy"'),
        ({"amount": 1, "every": "day", "nam": "x"}, f'"nam" is no key here; known are amount, {WHEN_KEYS}'),
    ],
)  # fmt: skip
def test_a_contribution_is_refused(contribution: Any, problem: str) -> None:
    goal = {"name": "Trip", "target": 100, "contributions": [{"amount": 1, "at": "start"}, contribution]}
    assert refusal({"goals": [goal]}) == f'f, goal 1 "Trip", contribution 2: {problem}.'


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ([], f"it must be a table with the keys {TOP_KEYS}, not a list"),
        (None, f"it must be a table with the keys {TOP_KEYS}, not null"),
        ({}, "it has neither transactions nor goals; give it some"),
        ({"transactions": [], "goals": []}, "it has neither transactions nor goals; give it some"),
        ({"transaction": []}, '"transaction" is no key here; did you mean "transactions"?'),
        ({"x" * 41: 1}, f'"{"x" * 41}" is no key here; known are {TOP_KEYS}'),
        ({"transactions": {}}, "transactions must be a list with a table for each transaction, not a table"),
        ({"goals": None}, "goals must be a list with a table for each goal, not null"),
        ({"title": ""}, f'title {TEXT}, not ""'),
        ({"title": "x" * 121}, f'title {TEXT}, not "{"x" * 59}…"'),
        ({"about": 1}, "about must be text of 0 to 2,000 characters, not 1"),
        ({"about": "\0"}, 'about must be text without U+0000 and lone surrogates, not "\\u0000"'),
        ({"about": "\ud800"}, 'about must be text without U+0000 and lone surrogates, not "\\ud800"'),
        ({"currency": "Eur"}, f'currency {CURRENCY}, not "Eur"'),
        ({"start": "+1 day"}, f'start {DAY}, not "+1 day"'),
        ({"start": 20270101}, f"start {DAY}, not 20270101"),
        ({"start": "9990-01-01", "goals": [TRIP]}, "the start must lie in the years 0011 to 9989"),
        ({"length": 6}, f"length {LENGTH}, not 6"),
        ({"length": "0 days"}, f'length {LENGTH}, not "0 days"'),
        ({"length": "half a year"}, f'length {LENGTH}, not "half a year"'),
        ({"length": "9999 years"}, f'length {LENGTH}, not "9999 years"'),
        ({"length": "121 months"}, f'length {LENGTH}, not "121 months"'),
        ({"length": "4000 days"}, f'length {LENGTH}, not "4000 days"'),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_a_scenario_is_refused(values: Any, problem: str) -> None:
    assert refusal(values) == sentence(f"f: {problem}")


@pytest.mark.parametrize(
    ("key", "entry", "most", "holder"),
    [
        ("transactions", rent(every="day", times=1), MAX_TRANSACTIONS, "a clock"),
        ("goals", {"name": "a", "target": 1}, MAX_GOALS, "a clock"),
    ],
)
def test_the_limits_of_a_clock_are_named(key: str, entry: dict[str, Any], most: int, holder: str) -> None:
    made = read(json.dumps({key: [entry] * most}), "json").plan(NEW_YEAR)
    assert len(made.transactions or made.goals) == most
    problem = f"{most + 1} {key} are more than the {most} that {holder} takes; leave some out"
    assert refusal({key: [entry] * (most + 1)}) == f"f: {problem}."


def test_the_limits_of_a_goal_are_named() -> None:
    contributions = [{"amount": 1, "at": "start"}] * (MAX_CONTRIBUTIONS + 1)
    problem = "101 contributions are more than the 100 that a goal takes; leave some out"
    assert (
        refusal({"goals": [{"name": "a", "target": 1, "contributions": contributions}]}) == f'f, goal 1 "a": {problem}.'
    )


@pytest.mark.parametrize(("key", "most"), [("name", MAX_NAME), ("category", MAX_CATEGORY)])
def test_texts_have_their_lengths(key: str, most: int) -> None:
    longest = rent(every="day", times=1, **{key: "ü" * most})
    made = read(json.dumps({"transactions": [longest]}), "json").plan(NEW_YEAR)
    assert getattr(made.transactions[0], key) == "ü" * most
    longer = {"transactions": [{**longest, key: "ü" * (most + 1)}]}
    assert f"{key} must be text of {int(key == 'name')} to {most} characters, not " in refusal(longer)


def test_an_amount_must_fit_into_a_json_number() -> None:
    text = '{"goals": [{"name": "a", "target": 0.12345678901234567890}]}'
    with pytest.raises(ScenarioError) as refused:
        read(text, "json", "f")
    problem = "must have at most 15 digits, because no more arrive safely as a JSON number, not 0.12345678901234567890"
    assert str(refused.value) == f'f, goal 1 "a": target {problem}.'


# What is known only when there is a start

BEFORE = 'before the start, 2027-01-01T00:00:00Z; the earliest is "start"'
AFTER = "after the end, 2027-07-01T00:00:00Z; let it be earlier, or the length longer"


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"at": "2026-12-31"}, f'at "2026-12-31" is 2026-12-31T08:00:00Z and lies {BEFORE}'),
        ({"at": ["+1 day", "+8 months"]}, f'at "+8 months" is 2027-09-01T08:00:00Z and lies {AFTER}'),
        ({"at": "+6 months"}, f'at "+6 months" is 2027-07-01T08:00:00Z and lies {AFTER}'),
        ({"at": "+9999 years"}, '"+9999 years" lies beyond the last year of the calendar, 9999'),
        ({"every": "day", "from": "+9999 years"}, '"+9999 years" lies beyond the last year of the calendar, 9999'),
        ({"every": "day", "from": "2016-12-31"}, 'from "2016-12-31" lies more than 10 years before the start'),
        ({"every": "day", "from": "+2 months", "until": "+1 month"}, 'until "+1 month" lies before from "+2 months"'),
    ],
)
def test_a_plan_is_refused(keys: dict[str, Any], problem: str) -> None:
    assert refusal({"transactions": [rent(**keys)]}, NEW_YEAR) == f'f, transaction 1 "Rent": {problem}.'


def test_what_begins_exactly_ten_years_before_the_start_is_taken() -> None:
    item = rent(every="year", **{"from": "2017-01-01T00:00:00Z"})
    assert len(read(json.dumps({"transactions": [item]}), "json").plan(NEW_YEAR).transactions) == 1


def test_a_message_is_one_printable_line_whatever_is_named() -> None:
    item = rent(every="day", name="\x1b[31mRent\n" + "x" * 1000, amount=-1)
    message = refusal({"transactions": [item]})
    assert message.isprintable()
    assert message.startswith('f, transaction 1 "\\u001b[31mRent\\u000axxx')
    assert len(message) < 300
