"""Statements: the transactions of a clock in one currency, with the balances before and after."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final

from msgspec import Struct

from tickover.api.arguments import Amount, add_exactly
from tickover.api.clocks import Snapshot, Transaction
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


class Statement(Struct, frozen=True, rename="camel"):
    """The entries of one currency, in order of time."""

    clock_id: str
    currency: str
    start: datetime
    end: datetime
    opening: Decimal
    closing: Decimal
    entries: Sequence[Entry]


def build_statements(clock: Snapshot, opening: Mapping[str, Amount], *, pending: bool) -> list[Statement]:
    """Return a statement for each currency of the clock, in order of currency."""
    items = [*clock.transactions, *(clock.pending_transactions if pending else ())]
    balances = to_exact_balances(opening)
    start = min([clock.start_time or clock.frozen_time, *(item.at for item in items)])
    end = max([clock.frozen_time, *(item.at for item in items)])
    statements = []
    for currency in sorted({*balances, *(item.currency for item in items)}):
        before = balances.get(currency, Decimal(0))
        entries = list(_entries([item for item in items if item.currency == currency], before, clock.frozen_time))
        after = entries[-1].balance if entries else before
        statements.append(Statement(clock.id, currency, start, end, before, after, entries))
    return statements


def _entries(items: Sequence[Transaction], balance: Decimal, frozen_time: datetime) -> Iterator[Entry]:
    for item in items:
        amount = item.amount if item.type == "INCOME" else -item.amount
        balance = add_exactly(balance, amount)
        yield Entry(
            id=item.id,
            at=item.at,
            name=clean_text(item.name),
            amount=amount,
            currency=item.currency,
            category=clean_text(item.category or ""),
            balance=balance,
            pending=item.at > frozen_time,
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
