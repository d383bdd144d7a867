"""Scenarios from bank files: exports come back with the same payments."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.random_bank_files import BankPayment, csv_of_bank, ofx_of_bank, random_payments
from tests.support.random_clocks import clock_of, random_plan
from tickover.api import plans, timestamps
from tickover.api.clocks import Snapshot
from tickover.api.connections import BankFault, BankSettings
from tickover.api.plans import Plan
from tickover.scenarios import load, names, read
from tickover.scenarios.bank_files import export
from tickover.scenarios.bank_files.bank_file_reader import read_bank_file
from tickover.scenarios.bank_files.history import History, Payment, history_of_clock, join_accounts
from tickover.scenarios.from_payments import write_scenario

START = datetime(2027, 1, 1, tzinfo=UTC)


def snapshot(name: str) -> Snapshot:
    return clock_of(load(name).plan(START))


def count_items(items: Any) -> Counter[tuple[Any, ...]]:
    return Counter((item.at, item.name, item.amount, item.type, item.currency) for item in items)


# Payments of a bank, each once


def bank_payment(day: str, time_of_day: time | None, name: str = "Rent") -> BankPayment:
    return BankPayment(date.fromisoformat(day), time_of_day, name, Decimal(-840), "EUR")


def check_payments(payments: list[BankPayment], file: bytes) -> str:
    """Check that the scenario of a bank's file has exactly its payments. Return the scenario."""
    text = write_scenario(read_bank_file(file, "a"), title="a")
    planned = read(text).plan().transactions
    signed = Counter(
        (item.at, item.name, item.amount if item.type == "INCOME" else -item.amount, item.currency) for item in planned
    )
    assert signed == Counter((one.instant, one.name, one.amount, one.currency) for one in payments), text
    return text


@pytest.mark.parametrize("write", [csv_of_bank, ofx_of_bank])
@pytest.mark.parametrize("seed", range(40))
def test_scenario_of_a_bank_file_has_each_payment_once(seed: int, write: Callable[[list[BankPayment]], bytes]) -> None:
    payments = random_payments(Random(seed))
    check_payments(payments, write(payments))


def test_payment_whose_nominal_day_is_after_the_last_one_happens() -> None:
    """The nominal day of Friday 14 May is Saturday 15 May."""
    payments = [bank_payment(day, time(8)) for day in ("2027-03-15", "2027-04-15", "2027-05-14")]
    assert 'weekend = "before"' in check_payments(payments, csv_of_bank(payments))


def test_payment_at_midnight_does_not_happen_again_at_the_end() -> None:
    payments = [bank_payment(day, time()) for day in ("2027-01-29", "2027-02-28", "2027-03-29")]
    payments.append(bank_payment("2027-04-28", time(8), "Other"))
    assert "times = 3" in check_payments(payments, csv_of_bank(payments))


def test_list_of_many_amounts_is_a_valid_scenario() -> None:
    """A line of a scenario has at most 100 dots."""
    payments = [
        bank_payment(f"2027-01-{1 + number % 28:02}", None)._replace(amount=Decimal(number) + Decimal("0.5"))
        for number in range(150)
    ]
    check_payments(sorted(payments), csv_of_bank(sorted(payments)))


WITHOUT_ACCOUNTS = [name for name in names() if not load(name).plan(START).accounts]


@pytest.mark.parametrize(
    ("name", "format"), [*((name, "csv") for name in WITHOUT_ACCOUNTS), (WITHOUT_ACCOUNTS[0], "ofx")]
)
def test_an_exported_scenario_comes_back_with_the_same_payments(name: str, format: str) -> None:
    payments = read_bank_file(export(snapshot(name), format, pending=True).encode(), f"a.{format}")
    scenario = read(write_scenario(payments, title="a"))
    assert count_items(scenario.plan().transactions) == count_items(load(name).plan(START).transactions)


def test_opening_balances_of_an_exported_clock_come_back() -> None:
    opening = {"EUR": Decimal("-1000.1"), "GBP": Decimal(7), "USD": Decimal(0)}
    exported = export(snapshot("two-currencies"), "ofx", opening=opening, pending=True)
    assert read_bank_file(exported.encode(), "a.ofx").opening == {"EUR": Decimal("-1000.1"), "GBP": Decimal(7)}


def test_bank_of_a_clock_comes_back() -> None:
    fault = BankFault("RATE_LIMITED", START, START + timedelta(hours=5))
    for bank in (
        BankSettings(),
        BankSettings(bank_faults=[], quirks=[]),
        BankSettings(bank_faults=[fault, BankFault("INTERNAL_ERROR", START)], quirks=["DOUBLES"], consent_days=1),
        BankSettings(calls_per_day=1000),
    ):
        clock = replace(snapshot("two-currencies"), bank_defaults=bank)
        text = write_scenario(history_of_clock(clock).since(START.date()), title="a")
        assert read(text).bank_defaults() == bank


def test_blank_lines_of_an_exported_clock_are_ignored() -> None:
    text = export(snapshot("salary-and-rent"), "csv", pending=True)
    assert read_bank_file(text.replace("\n", "\n\n").encode(), "a.csv") == read_bank_file(text.encode(), "a.csv")


def test_control_characters_come_back() -> None:
    title = "".join(map(chr, (*range(1, 33), *range(127, 160), 0x2028))) + '"\\'
    history = History(payments=[Payment(START.date(), "Rent", Decimal(-1), "EUR")])
    assert read(write_scenario(history, title=title)).title == title


def test_the_recurrences_come_back() -> None:
    exported = export(snapshot("salary-and-rent"), "csv", opening={"EUR": Decimal("2240.55")}, pending=True)
    text = write_scenario(read_bank_file(exported.encode(), "a.csv"), title="a")
    for phrase in ("month on the 25th", "week on Saturday", "month on the 3rd", "month on the second Friday"):
        assert f'every = "{phrase}"' in text, text
    assert "opening = {EUR = 2240.55}" in text


def test_summarised_payments_vary() -> None:
    rows = "\n".join(f"2027-01-{day:02},Shop,-{day}.5,EUR" for day in (3, 8, 11, 17, 25))
    payments = read_bank_file(f"date,name,amount,currency\n{rows}\n".encode(), "a.csv")
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


def test_irregular_payments_of_one_day_are_not_spread_over_many() -> None:
    payments = [bank_payment("2027-01-03", None)._replace(amount=-Decimal(number)) for number in range(1, 40)]
    text = write_scenario(read_bank_file(csv_of_bank(payments), "a.csv"), title="a", summarise=True)
    assert [item.at.date() for item in read(text).plan().transactions] == [date(2027, 1, 3)] * 39


def test_anonymous_opening_balance_of_zero_is_zero() -> None:
    payments = [Payment(date(2027, 1, 1), "Rent", Decimal(-1), "EUR")]
    history = History(payments=payments, opening={"EUR": Decimal(0), "USD": Decimal("0.001")})
    plan = read(write_scenario(history, title="a", anonymise=True)).plan()
    assert plan.opening_balances == {"EUR": 0, "USD": Decimal("0.01")}


# Clocks


def parts_of_scenario(clock: Snapshot) -> tuple[object, ...]:
    """Return everything of a clock that its scenario has."""
    items = [*clock.transactions, *clock.pending_transactions]
    transfers = [*clock.transfers, *clock.pending_transfers]
    return (
        Counter(replace(item, id="") for item in items),
        Counter(replace(item, id="") for item in transfers),
        clock.opening_balances,
        [replace(account, balance=account.opening_balance) for account in clock.accounts],
    )


@pytest.mark.parametrize("seed", range(40))
def test_scenario_of_a_clock_has_each_of_its_items_once(seed: int) -> None:
    clock = clock_of(random_plan(Random(seed)))
    text = write_scenario(history_of_clock(clock), title="a")
    again = clock_of(read("\n".join(text.splitlines())).plan())
    assert parts_of_scenario(again) == parts_of_scenario(clock), text


@pytest.mark.parametrize("start", ["2027-01-31T08:00:00Z", "2028-02-28T23:00:00Z", "2028-02-29T12:00:00.5Z"])
def test_scenario_of_a_clock_can_have_items_at_both_of_its_ends(start: str) -> None:
    begin = datetime.fromisoformat(start)
    ends = [plans.expense("Fee", 1, "EUR", at) for at in (begin, timestamps.years_after(begin))]
    history = history_of_clock(clock_of(Plan(frozen_time=begin, transactions=ends)))
    for summarise in (False, True):
        assert read(write_scenario(history, title="a", summarise=summarise)).plan().transactions == ends


# Accounts


def test_clock_with_accounts_comes_back_with_the_same_transfers() -> None:
    plan = load("household").plan(START)
    clock = clock_of(plan)
    again = read(write_scenario(history_of_clock(clock), title="a")).plan()
    assert again.accounts == plan.accounts
    assert count_items(again.transactions) == count_items(plan.transactions)
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
    history = join_accounts({key: read_bank_file(text.encode(), "a.csv") for key, text in files.items()})
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
    history = read_bank_file((CHECKING + "2027-01-10,Fee,-1,USD,\n").encode(), "a.csv")
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
