"""Balances, events and expectations agree with a plain model, on many random clocks."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from tests.unit.ledger_model import Found, Model
from tickover.api import ids, timestamps
from tickover.api.clocks import AccountEntry, ContributionEntry, GoalEntry, NewClock, TransactionEntry, TransferEntry
from tickover.api.expectations import BalanceExpectationEntry, TotalExpectationEntry, Violation
from tickover.api.timestamps import Instant
from tickover.server.schedule import balance_violations
from tickover.server.schedule.check_expectations import Check
from tickover.server.schedule.clock import new_clock
from tickover.server.schedule.events import EventQuery, Events, read_cursor
from tickover.server.schedule.ledger import Ledger, balances
from tickover.server.schedule.schedule import Expectation, decode_stored, encode_stored, new_schedule
from tickover.server.schedule.totals import Totals

STARTS = (
    # A day, a week and a month begin.
    datetime(2027, 2, 1, tzinfo=UTC),
    # A day and a month, or only a day.
    datetime(2027, 1, 1, tzinfo=UTC),
    datetime(2027, 1, 30, tzinfo=UTC),
    datetime(2027, 2, 1, 0, 0, 0, 1, tzinfo=UTC),
    datetime(2027, 1, 30, 23, 59, 59, 999_999, tzinfo=UTC),
)
KEY = ids.uuid7(STARTS[0], bytes(range(10)))
MICROSECOND = timedelta(microseconds=1)
DAY = timedelta(days=1)
AMOUNTS = (1, 2, 3, 40, 40, 0.1, 0.2, 0.3, 12.34, 1e-7, 5e-324, 1_000_000_000, 0.001)
BOUNDS = (-50, -3, 0, -0.0, 2, 40, 0.3, -0.1, 1e-9, 12.345, 1e12, -1e12)
ROUNDS = 150
AMOUNT_MEMBERS = ("balance", "accountBalance", "fromBalance", "toBalance", "currentAmount")
ACCOUNTS = {"main": "EUR", "savings": "EUR", "card": "EUR", "dollars": "USD"}
KEYS = {currency: [key for key, owned in ACCOUNTS.items() if owned == currency] for currency in ("EUR", "USD")}


class Dice(Random):
    """Draws values that are often equal, or next to each other."""

    amounts: Sequence[float] = AMOUNTS

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.start = STARTS[seed % len(STARTS)]

    def instant(self) -> Instant:
        """Return an instant near the end of a day, week or month."""
        days, micros = self.choice((0, 0, 1, 2, 3, 6, 7, 8, 9, 28, 29, 60)), self.choice((-1, 0, 1))
        return max(self.start, self.start + days * DAY + micros * MICROSECOND)

    def name(self) -> str:
        return self.choice(("x", "y", "z"))

    def currency(self) -> str:
        return self.choice(("EUR", "EUR", "USD"))

    def type(self) -> Any:
        return self.choice(("INCOME", "EXPENSE"))

    def category(self) -> Any:
        return self.choice((UNSET, "", "home", "pay"))

    def bound(self, *bounds: Any) -> Any:
        return self.choice((UNSET, *bounds))

    def transaction(self) -> TransactionEntry[Any]:
        return TransactionEntry(
            self.instant(), self.name(), self.choice(self.amounts), self.currency(), self.type(), self.category()
        )

    def goal(self) -> GoalEntry[Any, Any]:
        contributions = [ContributionEntry(self.instant(), self.choice(AMOUNTS)) for _ in range(self.randrange(6))]
        return GoalEntry("g", self.randint(5, 60), self.randint(0, 5), contributions)

    def transfer(self) -> TransferEntry[Any]:
        from_, to = self.sample(list(ACCOUNTS), 2)
        received = UNSET if ACCOUNTS[from_] == ACCOUNTS[to] else self.choice(self.amounts)
        return TransferEntry(self.instant(), self.name(), from_, to, self.choice(self.amounts), received)

    def with_accounts(self, params: NewClock) -> NewClock:
        """Return the same clock with accounts, some of them named by its transactions, and with transfers."""
        return msgspec.structs.replace(
            params,
            accounts=[
                AccountEntry(key, key, currency, opening_balance=self.choice(BOUNDS))
                for key, currency in ACCOUNTS.items()
            ],
            transactions=[
                msgspec.structs.replace(item, account=self.choice((UNSET, *KEYS[item.currency])))
                for item in params.transactions
            ],
            transfers=[self.transfer() for _ in range(self.randrange(9))],
        )

    def ledger(self) -> tuple[Model, Ledger]:
        # Equal amounts lead to equal balances.
        self.amounts = self.choice((AMOUNTS, (40,)))
        transactions = [self.transaction() for _ in range(self.randrange(12))]
        params = NewClock(self.start, transactions, [self.goal() for _ in range(self.randrange(3))])
        if self.random() < 0.5:
            params = self.with_accounts(params)
        clock = new_clock(KEY, params, self.start)
        opening = {currency: self.choice(BOUNDS) for currency in ("EUR", "CHF") if self.random() < 0.5}
        ledger = Ledger(decode_stored(encode_stored(new_schedule(clock, params))))
        assert not list(ledger.build()), "few items take one step"
        return Model(KEY.hex(), self.start, params, opening), ledger


def test_balances_equal_the_model() -> None:
    for seed in range(ROUNDS):
        dice = Dice(seed)
        model, ledger = dice.ledger()
        at = dice.instant()
        assert balances(ledger, dice.start, at, ledger.opening_balances(model.opening)) == model.balances(at), seed


_MAX_EVENTS = 1_000


def test_pages_of_events_equal_the_model() -> None:
    for seed in range(ROUNDS):
        dice = Dice(seed)
        model, ledger = dice.ledger()
        frozen_time, until, after = dice.instant(), dice.instant(), dice.choice((None, dice.instant()))
        limit, cursor = dice.randint(1, 4), None
        seen: list[Any] = []
        while True:
            query = EventQuery(frozen_time, until, limit, after, cursor, ledger.opening_balances(model.opening))
            page = Events(ledger).page(query)
            events = [msgspec.json.decode(event) for event in page.events]
            seen += events
            if page.next_cursor is None:
                break
            assert len(events) == limit
            assert len(seen) <= _MAX_EVENTS, "the pages don't end"
            cursor = read_cursor(page.next_cursor)
        expected = [event for event in model.events() if (after is None or event[0] > after) and event[0] <= until]
        assert [
            (
                timestamps.parse(event["at"]),
                event["type"],
                event["id"],
                [event[name] for name in AMOUNT_MEMBERS if name in event],
            )
            for event in seen
        ] == expected, seed
        assert [event.get("pending", False) for event in seen] == [at > frozen_time for at, *_ in expected], seed


def found(violation: Violation[Any] | None) -> Found | None:
    if violation is None:
        return None
    first = violation.at, violation.actual, list(violation.item_ids)
    cause = None if violation.cause is None else msgspec.structs.astuple(violation.cause)
    assert violation.worst is not None
    at, actual = msgspec.structs.astuple(violation.worst)
    return Found(first, cause, violation.until, (at, actual))


def test_balance_expectations_equal_the_model() -> None:
    for seed in range(4 * ROUNDS):
        dice = Dice(seed)
        model, ledger = dice.ledger()
        low, high, until = sorted(dice.instant() for _ in range(3))
        bounds = dice.bound(*BOUNDS), dice.bound(*BOUNDS), dice.bound(low), dice.bound(high)
        account: Any = dice.choice((UNSET, *ACCOUNTS)) if ledger.accounts else UNSET
        expected = BalanceExpectationEntry(dice.currency() if account is UNSET else UNSET, *bounds, account)
        check = Check(ledger, Totals(ledger), dice.start, until, ledger.opening_balances(model.opening))
        violation = check.run(Expectation(balance=expected))
        assert found(violation) == model.check_balance(expected, until), seed


def test_balances_that_hold_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balance_violations, "first_beyond", pytest.fail)
    dice = Dice(1)
    _, ledger = dice.ledger()
    expected = BalanceExpectationEntry[Any]("EUR", -(10**12), 10**12)
    assert (
        Check(ledger, Totals(ledger), dice.start, dice.start + 60 * DAY, {}).run(Expectation(balance=expected)) is None
    )


def test_total_expectations_equal_the_model() -> None:
    for seed in range(4 * ROUNDS):
        dice = Dice(seed)
        model, ledger = dice.ledger()
        until = dice.instant()
        per: Any = dice.choice(("DAY", "WEEK", "MONTH", "ALL"))
        bounds = dice.bound(0, 1e-9, 0.3, 12, 40), dice.bound(0, 0.3, 12.34, 40, 1e13)
        expected = TotalExpectationEntry(dice.type(), dice.currency(), per, dice.category(), *bounds)
        violation = Check(ledger, Totals(ledger), dice.start, until, {}).run(Expectation(total=expected))
        assert found(violation) == model.check_total(expected, until), seed


def test_ledger_of_many_items_is_built_in_steps_and_equals_the_model() -> None:
    dice = Dice(1)
    dice.amounts = AMOUNTS
    currencies = [f"A{first}{second}" for first in "ABCDEFGHIJ" for second in "ABCDEFGHIJ"]
    transactions = [msgspec.structs.replace(dice.transaction(), currency=currencies[n % 100]) for n in range(2_000)]
    params = NewClock(dice.start, transactions)
    schedule = new_schedule(new_clock(KEY, params, dice.start), params)
    ledger = Ledger(schedule)
    assert len(list(ledger.build())) > 4
    at = dice.instant()
    assert balances(ledger, dice.start, at, {}) == Model(KEY.hex(), dice.start, params, {}).balances(at)
