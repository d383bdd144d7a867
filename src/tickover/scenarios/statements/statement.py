"""Statements: the transactions of a clock in one currency or account, with the balances before and after."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final

from msgspec import Struct

from tickover.api.arguments import Amount, add_exactly
from tickover.api.clocks import Snapshot
from tickover.api.plans import to_exact_balances

_DECIMALS: Final = {
    "BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0, "UGX": 0,
    "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
    "BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
    "CLF": 4, "UYW": 4,
}  # fmt: skip
"""Of the currencies that don't have two, in ISO 4217."""


class Payment(Struct, frozen=True):
    """A row of a statement. Expenses are negative. `at` has a time only if the statement has one."""

    at: datetime | date
    name: str
    amount: Decimal
    currency: str
    category: str = ""

    @property
    def day(self) -> date:
        return self.at.date() if isinstance(self.at, datetime) else self.at


class Entry(Payment, frozen=True, kw_only=True):
    """A transaction of a clock in a statement."""

    id: str
    at: datetime
    balance: Decimal
    """The balance after it."""
    pending: bool

    @property
    def is_transfer(self) -> bool:
        return self.id.startswith("tfr_")


class Statement(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The entries of one account, or of one currency if the clock has no accounts, in order of time."""

    clock_id: str
    currency: str
    start: datetime
    end: datetime
    opening: Decimal
    closing: Decimal
    entries: Sequence[Entry]
    account: str = ""
    """The key of the account, if the clock has accounts."""


class _Row(Struct, frozen=True):
    """A transaction, or one end of a transfer. Its amount is signed."""

    id: str
    at: datetime
    name: str
    amount: Decimal
    currency: str
    category: str = ""
    account: str = ""


def build_statements(clock: Snapshot, opening: Mapping[str, Amount], *, pending: bool) -> list[Statement]:
    """Return a statement for each account in their order, or for each currency of a clock without accounts."""
    rows = _rows(clock, pending=pending)
    start = min([clock.start_time or clock.frozen_time, *(row.at for row in rows)])
    end = max([clock.frozen_time, *(row.at for row in rows)])
    balances = to_exact_balances(opening)
    books = [("", currency, balances.get(currency, Decimal(0))) for currency in sorted({*balances, *_currencies(rows)})]
    if clock.accounts:
        books = [(account.key, account.currency, account.opening_balance) for account in clock.accounts]
    statements = []
    for account, currency, before in books:
        mine = [row for row in rows if (row.account == account if account else row.currency == currency)]
        entries = list(_entries(mine, before, clock.frozen_time))
        after = entries[-1].balance if entries else before
        statements.append(Statement(clock.id, currency, start, end, before, after, entries, account))
    return statements


def _currencies(rows: Sequence[_Row]) -> set[str]:
    return {row.currency for row in rows}


def _rows(clock: Snapshot, *, pending: bool) -> list[_Row]:
    """Return transactions and the two ends of transfers, in order of time."""
    rows = [
        _Row(
            item.id,
            item.at,
            item.name,
            item.amount if item.type == "INCOME" else -item.amount,
            item.currency,
            item.category or "",
            item.account or "",
        )
        for item in (*clock.transactions, *(clock.pending_transactions if pending else ()))
    ]
    for item in (*(clock.transfers or ()), *((clock.pending_transfers or ()) if pending else ())):
        received = item.amount if item.received is None else item.received
        currency = item.received_currency or item.currency
        rows.append(_Row(f"{item.id}_out", item.at, item.name, -item.amount, item.currency, account=item.from_))
        rows.append(_Row(f"{item.id}_in", item.at, item.name, received, currency, account=item.to))
    return sorted(rows, key=lambda row: row.at)


def _entries(rows: Sequence[_Row], balance: Decimal, frozen_time: datetime) -> Iterator[Entry]:
    for row in rows:
        balance = add_exactly(balance, row.amount)
        yield Entry(
            id=row.id,
            at=row.at,
            name=clean_text(row.name),
            amount=row.amount,
            currency=row.currency,
            category=clean_text(row.category),
            balance=balance,
            pending=row.at > frozen_time,
        )


def clean_text(text: str) -> str:
    """Return text on one line without control and format characters, which most formats can't contain."""
    cleaned = text if text.isprintable() else "".join(map(_clean_character, text))
    return " ".join(cleaned.split())


@lru_cache(maxsize=1024)
def _clean_character(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Cc", "Zl", "Zp"):
        return " "
    return "" if category in ("Cf", "Cs", "Cn") else character


def plain_number(amount: Decimal, currency: str) -> str:
    """Return a number without an exponent, and with at least the decimals of the currency, such as 74.20."""
    whole, _, decimals = f"{amount:f}".partition(".")
    decimals = decimals.rstrip("0").ljust(_DECIMALS.get(currency, 2), "0")
    return f"{whole}.{decimals}" if decimals else whole
