"""A plain model of balances, events and expectations: it adds fractions and looks at every instant and every period.

It shares only the form of ids and the parameters' types with the server.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import cache
from itertools import dropwhile, takewhile
from typing import Any, NamedTuple, TypeAlias

from msgspec import UNSET

from tickover.api.clocks import NewClock, TransactionEntry, TransferEntry
from tickover.api.expectations import BalanceExpectationEntry, TotalExpectationEntry

Json: TypeAlias = Any
MICROSECOND = timedelta(microseconds=1)


class Change(NamedTuple):
    """What an item does to one currency or account. `amount` is signed."""

    at: datetime
    id: str
    kind: str
    amount: Fraction


class Found(NamedTuple):
    """A violation."""

    violation: tuple[datetime, float, list[str]]
    """The instant, the value and the ids of items."""
    cause: tuple[Any, ...] | None
    """The id, the instant, the name and the amount of an item, and the value before and after it."""
    until: datetime | None
    worst: tuple[datetime, float]


class Model(NamedTuple):
    key: str
    start: datetime
    params: NewClock
    opening: dict[str, Any]

    def transactions(self) -> list[tuple[str, TransactionEntry[Any]]]:
        numbered = [(f"txn_{self.key}_{index}", item) for index, item in enumerate(self.params.transactions)]
        return sorted(numbered, key=lambda pair: pair[1].at)

    def transfers(self) -> list[tuple[str, TransferEntry[Any]]]:
        numbered = [(f"tfr_{self.key}_{index}", item) for index, item in enumerate(self.params.transfers)]
        return sorted(numbered, key=lambda pair: pair[1].at)

    def account_of(self, item: TransactionEntry[Any]) -> str:
        mine = [account.key for account in self.params.accounts if account.currency == item.currency]
        return mine[0] if item.account is UNSET else item.account

    def currency_of(self, key: str) -> str:
        [currency] = [account.currency for account in self.params.accounts if account.key == key]
        return currency

    def opening_of(self, book: str) -> Fraction:
        """Return the opening balance of a currency or an account."""
        accounts = [account for account in self.params.accounts if book in {account.key, account.currency}]
        given = [] if self.params.accounts else [self.opening.get(book, 0)]
        return sum((exact(amount) for amount in (*given, *(each.opening_balance for each in accounts))), Fraction(0))

    def changes(self, book: str) -> list[Change]:
        """Return what items do to a currency or an account, in their order."""
        found = []
        for id, item in self.transactions():
            if book == item.currency or (self.params.accounts and book == self.account_of(item)):
                found.append(Change(item.at, id, item.type.lower(), signed(item)))
        for id, transfer in self.transfers():
            received = transfer.amount if transfer.received is UNSET else transfer.received
            if book in {transfer.from_, self.currency_of(transfer.from_)}:
                found.append(Change(transfer.at, id, "transferredOut", -exact(transfer.amount)))
            if book in {transfer.to, self.currency_of(transfer.to)}:
                found.append(Change(transfer.at, id, "transferredIn", exact(received)))
        return sorted(found, key=lambda change: change.at)

    def balance(self, book: str, at: datetime) -> Fraction:
        return self.opening_of(book) + sum(change.amount for change in self.changes(book) if change.at <= at)

    def balances(self, at: datetime) -> Json:
        currencies = {item.currency for item in self.params.transactions}
        if not self.params.accounts:
            every = sorted(currencies | set(self.opening))
            return {"balances": [{"currency": currency, **self._balances_of(currency, at)} for currency in every]}
        currencies |= {account.currency for account in self.params.accounts}
        return {
            "balances": [{"currency": each, **self._balances_of(each, at)} for each in sorted(currencies)],
            "accounts": [
                {"account": each.key, "currency": each.currency, **self._balances_of(each.key, at)}
                for each in self.params.accounts
            ],
        }

    def _balances_of(self, book: str, at: datetime) -> Json:
        mine = [change for change in self.changes(book) if change.at <= at]
        opening = self.opening_of(book)
        points = [(self.start, opening)]
        points += [(instant, self.balance(book, instant)) for instant in sorted({change.at for change in mine})]
        lowest = min(points, key=lambda point: point[1])
        highest = max(points, key=lambda point: point[1])
        kinds = ("income", "expense", "transferredIn", "transferredOut")[: 4 if self.params.accounts else 2]
        return {
            "opening": float(opening),
            **{kind: float(sum(abs(one.amount) for one in mine if one.kind == kind)) for kind in kinds},
            "balance": float(self.balance(book, at)),
            "lowest": {"at": lowest[0], "balance": float(lowest[1])},
            "highest": {"at": highest[0], "balance": float(highest[1])},
        }

    def balance_after(self, book: str, id: str) -> float:
        """Return the balance after an item, and all items before it."""
        changes = self.changes(book)
        last = max(index for index, change in enumerate(changes) if change.id == id)
        return float(self.opening_of(book) + sum(change.amount for change in changes[: last + 1]))

    def events(self) -> list[tuple[datetime, str, str, list[float]]]:
        """Return the instant, type and id of each event, and its balances or current amount."""
        found: list[tuple[datetime, int, str, str, list[float]]] = []
        for id, item in self.transactions():
            books = [item.currency, *([self.account_of(item)] if self.params.accounts else [])]
            after = [self.balance_after(book, id) for book in books]
            found.append((item.at, -1, "transaction.posted", f"evt_{id}", after))
        for id, transfer in self.transfers():
            after = [self.balance_after(book, id) for book in (transfer.from_, transfer.to)]
            found.append((transfer.at, 0, "transfer.posted", f"evt_{id}", after))
        for index, goal in enumerate(self.params.goals):
            current = exact(goal.initial_amount)
            for number, paid in sorted(enumerate(goal.contributions), key=lambda pair: pair[1].at):
                before, current = current, current + exact(paid.amount)
                id = f"evt_ctb_{self.key}_{index}_{number}"
                found.append((paid.at, index + 1, "contribution.posted", id, [float(current)]))
                if before < exact(goal.target_amount) <= current:
                    found.append((paid.at, index + 1, "goal.reached", f"evt_goal_{self.key}_{index}", []))
        found.sort(key=lambda event: event[:2])
        return [(at, type, id, amounts) for at, _, type, id, amounts in found]

    def check_balance(self, expected: BalanceExpectationEntry[Any], until: datetime) -> Found | None:
        low = self.start if expected.from_ is UNSET else expected.from_
        high = until if expected.until is UNSET else expected.until
        book = str(expected.account or expected.currency)
        mine = self.changes(book)
        instants = sorted({low, *(change.at for change in mine if low < change.at <= high)})
        points = [(at, self.balance(book, at)) for at in instants]
        violated = list(dropwhile(lambda point: not excess(point[1], expected), points))
        if not violated:
            return None
        at, balance = violated[0]
        outside = list(takewhile(lambda point: excess(point[1], expected), violated))
        later = violated[len(outside) :]
        worst_at, worst = max(outside, key=lambda point: excess(point[1], expected))
        is_below = expected.at_least is not UNSET and balance < exact(expected.at_least)
        before = self.opening_of(book) + sum(change.amount for change in mine if change.at < at)
        ids: list[str] = []
        causes: list[tuple[Any, ...]] = []
        # A transfer inside a currency is there twice, and changes nothing.
        for id in dict.fromkeys(change.id for change in mine if change.at == at):
            amount = sum(change.amount for change in mine if change.id == id)
            if amount:
                ids.append(id)
            if amount and (amount < 0) == is_below:
                names = (float(each) for each in (amount, before, before + amount))
                causes.append((id, at, self.name_of(id), *names))
            before += amount
        return Found(
            (at, float(balance), ids),
            # The first of several equal ones.
            max(causes, key=lambda cause: abs(cause[3]), default=None),
            later[0][0] if later else None,
            (worst_at, float(worst)),
        )

    def check_total(self, expected: TotalExpectationEntry[Any], until: datetime) -> Found | None:
        mine = [
            (id, item)
            for id, item in self.transactions()
            if (item.type, item.currency) == (expected.type, expected.currency)
            and item.at <= until
            and (expected.category is UNSET or expected.category == item.category)
        ]
        for first, last in periods(expected.per, self.start, until):
            inside = [(id, item) for id, item in mine if first <= item.at <= last]
            total = Fraction(0)
            for id, item in inside:
                before, total = total, total + exact(item.amount)
                if expected.at_most is not UNSET and total > exact(expected.at_most):
                    counted = [(id, each) for id, each in inside if each.at <= item.at]
                    return Found(
                        (item.at, total_of(counted), [id for id, _ in counted]),
                        (id, item.at, item.name, float(exact(item.amount)), float(before), float(total)),
                        None if expected.per == "ALL" or last > until else last,
                        (inside[-1][1].at, total_of(inside)),
                    )
            is_complete = expected.per == "ALL" or (first >= self.start and last <= until)
            if is_complete and expected.at_least is not UNSET and total < exact(expected.at_least):
                return Found((last, float(total), [id for id, _ in inside]), None, None, (last, float(total)))
        return None

    def name_of(self, id: str) -> str:
        names = [(key, item.name) for key, item in self.transactions()]
        names += [(key, item.name) for key, item in self.transfers()]
        return dict(names)[id]


def total_of(items: list[tuple[str, TransactionEntry[Any]]]) -> float:
    return float(sum(exact(item.amount) for _, item in items))


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


def excess(balance: Fraction, expected: BalanceExpectationEntry[Any]) -> Fraction:
    """Return how far a balance is beyond the bounds."""
    below = [] if expected.at_least is UNSET else [exact(expected.at_least) - balance]
    above = [] if expected.at_most is UNSET else [balance - exact(expected.at_most)]
    return max([Fraction(0), *below, *above])
