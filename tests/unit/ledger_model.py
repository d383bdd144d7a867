"""A plain model of balances, events and expectations: it adds fractions and looks at every instant and every period.

It shares only the form of ids and the parameters' types with the server.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from msgspec import UNSET

from tickover.api.clocks import NewClock, TransactionEntry
from tickover.api.expectations import BalanceExpectationEntry, TotalExpectationEntry

Json: TypeAlias = Any
MICROSECOND = timedelta(microseconds=1)


class Model(NamedTuple):
    key: str
    start: datetime
    params: NewClock
    opening: dict[str, Any]

    def transactions(self) -> list[tuple[str, TransactionEntry[Any]]]:
        numbered = [(f"txn_{self.key}_{index}", item) for index, item in enumerate(self.params.transactions)]
        return sorted(numbered, key=lambda pair: pair[1].at)

    def is_opening(self, item: TransactionEntry[Any]) -> bool:
        return bool(item.at == self.start) and item.category == "Opening balance"

    def opening_of(self, currency: str) -> Fraction:
        return Fraction(repr(self.opening.get(currency, 0)))

    def balance(self, currency: str, at: datetime) -> Fraction:
        mine = [item for _, item in self.transactions() if item.currency == currency and item.at <= at]
        return self.opening_of(currency) + sum(map(signed, mine))

    def balances(self, at: datetime) -> list[Json]:
        currencies = {item.currency for item in self.params.transactions} | set(self.opening)
        return [self._balances_of(currency, at) for currency in sorted(currencies)]

    def _balances_of(self, currency: str, at: datetime) -> Json:
        mine = [item for _, item in self.transactions() if item.currency == currency and item.at <= at]
        opening = self.opening_of(currency) + sum(signed(item) for item in mine if self.is_opening(item))
        others = [item for item in mine if not self.is_opening(item)]
        points = [(self.start, opening)]
        points += [(instant, self.balance(currency, instant)) for instant in sorted({item.at for item in mine})]
        lowest = min(points, key=lambda point: point[1])
        highest = max(points, key=lambda point: point[1])
        return {
            "currency": currency,
            "opening": float(opening),
            "income": float(sum((exact(item.amount) for item in others if item.type == "INCOME"), Fraction(0))),
            "expense": float(sum((exact(item.amount) for item in others if item.type == "EXPENSE"), Fraction(0))),
            "balance": float(self.balance(currency, at)),
            "lowest": {"at": lowest[0], "balance": float(lowest[1])},
            "highest": {"at": highest[0], "balance": float(highest[1])},
        }

    def events(self) -> list[tuple[datetime, str, str, float | None]]:
        """Return the instant, type and id of each event, and its balance or current amount."""
        found: list[tuple[datetime, int, str, str, float | None]] = []
        running: dict[str, Fraction] = {}
        for id, item in self.transactions():
            running[item.currency] = running.get(item.currency, self.opening_of(item.currency)) + signed(item)
            found.append((item.at, 0, "transaction.posted", f"evt_{id}", float(running[item.currency])))
        for index, goal in enumerate(self.params.goals):
            current = exact(goal.initial_amount)
            for number, paid in sorted(enumerate(goal.contributions), key=lambda pair: pair[1].at):
                before, current = current, current + exact(paid.amount)
                id = f"evt_ctb_{self.key}_{index}_{number}"
                found.append((paid.at, index + 1, "contribution.posted", id, float(current)))
                if before < exact(goal.target_amount) <= current:
                    found.append((paid.at, index + 1, "goal.reached", f"evt_goal_{self.key}_{index}", None))
        found.sort(key=lambda event: event[:2])
        return [(at, type, id, amount) for at, _, type, id, amount in found]

    def check_balance(
        self, expected: BalanceExpectationEntry[Any], until: datetime
    ) -> tuple[datetime, float, list[str]] | None:
        low = self.start if expected.from_ is UNSET else expected.from_
        high = until if expected.until is UNSET else expected.until
        mine = [(id, item) for id, item in self.transactions() if item.currency == expected.currency]
        for at in sorted({low, *(item.at for _, item in mine if low < item.at <= high)}):
            balance = self.balance(expected.currency, at)
            if is_outside(balance, expected):
                return at, float(balance), [id for id, item in mine if item.at == at]
        return None

    def check_total(
        self, expected: TotalExpectationEntry[Any], until: datetime
    ) -> tuple[datetime, float, list[str]] | None:
        mine = [
            (id, item)
            for id, item in self.transactions()
            if (item.type, item.currency) == (expected.type, expected.currency)
            and item.at <= until
            and not self.is_opening(item)
            and (expected.category is UNSET or expected.category == item.category)
        ]
        for first, last in periods(expected.per, self.start, until):
            inside = [(id, item) for id, item in mine if first <= item.at <= last]
            for at in sorted({item.at for _, item in inside}):
                counted = [(id, item) for id, item in inside if item.at <= at]
                total = sum(exact(item.amount) for _, item in counted)
                if expected.at_most is not UNSET and total > exact(expected.at_most):
                    return at, float(total), [id for id, _ in counted]
            is_complete = expected.per == "ALL" or (first >= self.start and last <= until)
            total = sum((exact(item.amount) for _, item in inside), Fraction(0))
            if is_complete and expected.at_least is not UNSET and total < exact(expected.at_least):
                return last, float(total), [id for id, _ in inside]
        return None


def periods(per: str, start: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Return the first and the last instant of each period that overlaps the range."""
    if per == "ALL":
        yield start, until
        return
    first = datetime(start.year, start.month, 1 if per == "MONTH" else start.day, tzinfo=UTC)
    if per == "WEEK":
        first -= timedelta(days=first.weekday())
    while first <= until:
        days = {"DAY": 1, "WEEK": 7, "MONTH": 31}[per]
        following = first + timedelta(days=days)
        if per == "MONTH":
            following = following.replace(day=1)
        yield first, following - MICROSECOND
        first = following


@cache
def exact(amount: Any) -> Fraction:
    return Fraction(repr(amount))


def signed(item: TransactionEntry[Any]) -> Fraction:
    return exact(item.amount) if item.type == "INCOME" else -exact(item.amount)


def is_outside(balance: Fraction, expected: BalanceExpectationEntry[Any]) -> bool:
    return (expected.at_least is not UNSET and balance < exact(expected.at_least)) or (
        expected.at_most is not UNSET and balance > exact(expected.at_most)
    )
