"""Scenarios from statements: exports come back with the same payments."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from msgspec import json
from msgspec.structs import replace

from tickover.api.clocks import NewClock, Snapshot
from tickover.api.ids import uuid7
from tickover.api.plans import Plan, encode_json
from tickover.scenarios import load, names, read
from tickover.scenarios.from_payments import write_scenario
from tickover.scenarios.statements import export
from tickover.scenarios.statements.history import History, history_of_clock, join_accounts
from tickover.scenarios.statements.read import read_statement
from tickover.scenarios.statements.statement import Payment
from tickover.server.rpc.decode import decode
from tickover.server.schedule.clocks import new_clock
from tickover.server.schedule.schedule import encode_schedule, view

START = datetime(2027, 1, 1, tzinfo=UTC)


def clock_of(plan: Plan) -> Snapshot:
    """Return a new clock with the items of the plan, as a server shows it."""
    faults, params = decode(NewClock, encode_json(replace(plan, expectations=())), START)
    assert params, faults
    schedule = encode_schedule(new_clock(uuid7(START, bytes(10)), params, START), params)
    return json.decode(view(START, schedule), type=Snapshot)


def snapshot(name: str) -> Snapshot:
    return clock_of(load(name).plan(START))


def counted(items: Any) -> Counter[tuple[Any, ...]]:
    return Counter((item.at, item.name, item.amount, item.type, item.currency) for item in items)


WITHOUT_ACCOUNTS = [name for name in names() if not load(name).plan(START).accounts]


@pytest.mark.parametrize(
    ("name", "format"), [*((name, "csv") for name in WITHOUT_ACCOUNTS), (WITHOUT_ACCOUNTS[0], "ofx")]
)
def test_an_exported_scenario_comes_back_with_the_same_payments(name: str, format: str) -> None:
    payments = read_statement(export(snapshot(name), format, pending=True).encode(), f"a.{format}")
    scenario = read(write_scenario(payments, title="a"))
    assert counted(scenario.plan().transactions) == counted(load(name).plan(START).transactions)


def test_blank_lines_of_an_exported_clock_are_ignored() -> None:
    text = export(snapshot("salary-and-rent"), "csv", pending=True)
    assert read_statement(text.replace("\n", "\n\n").encode(), "a.csv") == read_statement(text.encode(), "a.csv")


def test_control_characters_come_back() -> None:
    title = "".join(map(chr, (*range(1, 33), *range(127, 160), 0x2028))) + '"\\'
    history = History(payments=[Payment(START.date(), "Rent", Decimal(-1), "EUR")])
    assert read(write_scenario(history, title=title)).title == title


def test_the_recurrences_come_back() -> None:
    exported = export(snapshot("salary-and-rent"), "csv", opening={"EUR": Decimal("2240.55")}, pending=True)
    text = write_scenario(read_statement(exported.encode(), "a.csv"), title="a")
    for phrase in ("month on the 25th", "week on Saturday", "month on the 3rd", "month on the second Friday"):
        assert f'every = "{phrase}"' in text, text
    assert "opening = {EUR = 2240.55}" in text


def test_summarised_payments_vary() -> None:
    rows = "\n".join(f"2027-01-{day:02},Shop,-{day}.5,EUR" for day in (3, 8, 11, 17, 25))
    payments = read_statement(f"date,name,amount,currency\n{rows}\n".encode(), "a.csv")
    text = write_scenario(payments, title="a", summarise=True)
    assert "amount = {between = [3.50, 25.50]}" in text
    assert len(read(text).plan().transactions) == 5


@pytest.mark.parametrize(("gap", "jitter"), [(3, 1), (12, 4), (400, 5)])
def test_jitter_of_irregular_payments_stays_within_the_scenario(gap: int, jitter: int) -> None:
    days = [date(2020, 1, 1) + timedelta(days=gap * number + (number == 1)) for number in range(4)]
    text = write_scenario(
        History(payments=[Payment(day, "Fuel", Decimal(-40), "EUR") for day in days]), title="a", summarise=True
    )
    assert f"jitter_days = {jitter}\n" in text
    assert len(read(text).plan().transactions) == 4


# Accounts


def test_clock_with_accounts_comes_back_with_the_same_transfers() -> None:
    plan = load("household").plan(START)
    clock = clock_of(plan)
    again = read(write_scenario(history_of_clock(clock), title="a")).plan()
    assert again.accounts == plan.accounts
    assert counted(again.transactions) == counted(plan.transactions)
    assert Counter(again.transfers) == Counter(plan.transfers)
    # What was before a day is in the opening balances.
    later = history_of_clock(clock).since(date(2027, 2, 1))
    openings = {one.key: one.opening_balance for one in later.accounts}
    assert openings["checking"] == Decimal("2870.40") - 1090 - 700 - Decimal("132.50") - 530 + 2980
    assert openings["savings"] == 5200 + 700 + Decimal("9.75")
    anonymous = write_scenario(history_of_clock(clock), title="a", anonymise=True)
    assert read(anonymous).plan().accounts[0].name == "Account 1"
    assert not any(text in anonymous for text in ("Salary", "Everyday", "savings for the dentist", "1090"))
    assert 'every = "month on the' in anonymous


def test_card_payments_of_a_clock_come_back_with_their_authorizations() -> None:
    plan = read(CARD_PAYMENTS).plan(START)
    clock = clock_of(plan)
    text = write_scenario(history_of_clock(clock), title="a")
    assert Counter(read(text).plan().transactions) == Counter(plan.transactions)
    assert text.count('every = "week on Friday"') == 1, text
    anonymous = read(write_scenario(history_of_clock(clock), title="a", anonymise=True)).plan().transactions
    [(name, amount)] = [(one.authorized_name, one.authorized_amount) for one in anonymous if one.authorized_amount]
    assert isinstance(amount, Decimal)
    assert 115 < amount < 240
    assert name in ("Expense 1", "Expense 2", "Expense 3")
    assert [one.authorized_at for one in anonymous] == [one.authorized_at for one in plan.transactions]


CARD_PAYMENTS = """\
title = "Card payments"
length = "2 months"
currency = "EUR"
[[transactions]]
name = "Hotel"
amount = 212.40
type = "expense"
at = "2027-01-03T12:30:00Z"
pending = "1 day 4 hours 30 minutes 1 second"
authorized_amount = 240
authorized_name = "HOTEL AM MARKT"
[[transactions]]
name = "Groceries"
amount = 80
type = "expense"
every = "week on Friday"
pending = "2 days"
[[transactions]]
name = "Groceries"
amount = 12
type = "expense"
at = "2027-01-09"
"""


CHECKING = """\
date,name,amount,currency,balance
2027-01-04,To savings,-200,EUR,800
2027-01-05,Rent,-700,EUR,100
2027-01-09,To savings,-200,EUR,-100
"""
SAVINGS = """\
date,name,amount,currency,balance
2027-01-05,From checking,200,EUR,700
2027-01-13,From checking,200,EUR,900
"""


def test_equal_amounts_of_two_files_within_three_days_are_transfers() -> None:
    files = {"checking": CHECKING, "savings": SAVINGS}
    history = join_accounts({key: read_statement(text.encode(), "a.csv") for key, text in files.items()})
    assert [(one.name, one.account, one.to, one.day.day, one.amount) for one in history.payments if one.to] == [
        ("To savings", "checking", "savings", 4, Decimal(200))
    ]
    assert [(one.name, one.account, one.amount) for one in history.payments if not one.to] == [
        ("Rent", "checking", Decimal(-700)),
        ("To savings", "checking", Decimal(-200)),
        ("From checking", "savings", Decimal(200)),
    ]
    plan = read(write_scenario(history, title="a")).plan()
    assert [(one.key, one.name, one.opening_balance) for one in plan.accounts] == [
        ("checking", "Checking", Decimal(1000)),
        ("savings", "Savings", Decimal(500)),
    ]
    assert [item.account for item in plan.transactions] == ["checking", "checking", "savings"]


def test_account_with_several_currencies_is_rejected() -> None:
    history = read_statement((CHECKING + "2027-01-10,Fee,-1,USD,\n").encode(), "a.csv")
    with pytest.raises(ValueError, match="the payments of checking have several currencies: EUR, USD"):
        join_accounts({"checking": history})


def test_opening_balance_includes_the_payments_that_are_ignored() -> None:
    payments = [
        Payment(date(2027, 1, 1), "Rent", Decimal("-40.50"), "EUR"),
        Payment(date(2027, 1, 2), "Rent", Decimal(-7), "USD"),
        Payment(date(2027, 2, 1), "Rent", Decimal(-40), "EUR"),
    ]
    history = History(payments=payments, opening={"EUR": Decimal(100)})
    kept = history.since(date(2027, 2, 1))
    assert (kept.payments, kept.opening) == (payments[2:], {"EUR": Decimal("59.50")})
