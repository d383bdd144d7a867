"""Statements: the transactions of a clock in one currency, with the balances before and after."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final

from msgspec import Struct

from tickover.api.arguments import Amount, add_exactly
from tickover.api.clocks import Snapshot, Transaction
from tickover.api.plans import to_exact_balances

_DECIMALS: Final = {
    **dict.fromkeys(
        [
            "BIF",
            "CLP",
            "DJF",
            "GNF",
            "ISK",
            "JPY",
            "KMF",
            "KRW",
            "PYG",
            "RWF",
            "UGX",
            "UYI",
            "VND",
            "VUV",
            "XAF",
            "XOF",
        ],
        0,
    ),
    "XPF": 0,
    **dict.fromkeys(["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"], 3),
    **dict.fromkeys(["CLF", "UYW"], 4),
}
"""Of the currencies that don't have two, in ISO 4217."""


class Entry(Struct, frozen=True, rename="camel"):
    """A transaction in a statement. Expenses have negative amounts."""

    id: str
    at: datetime
    name: str
    category: str
    amount: Decimal
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
            item.id,
            item.at,
            clean_text(item.name),
            clean_text(item.category or ""),
            amount,
            balance,
            item.at > frozen_time,
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
