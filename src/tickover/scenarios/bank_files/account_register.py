"""Account registers: the transactions of a clock in one account or currency, with the balance after each."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

from msgspec import UNSET, Struct
from msgspec.structs import replace

from tickover.api.clocks import Snapshot
from tickover.api.command_arguments import Amount, add_exactly
from tickover.api.fields import AccountType
from tickover.api.plans import to_exact_balances
from tickover.scenarios.bank_files.history import Payment

_DECIMALS: Final = {
    "BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0, "UGX": 0,
    "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
    "BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
    "CLF": 4, "UYW": 4,
}  # fmt: skip
"""Of the currencies that don't have two, in ISO 4217."""


class Entry(Payment, frozen=True, kw_only=True):
    """A transaction of a clock in a register."""

    id: str
    at: datetime
    balance: Decimal = Decimal(0)
    """The balance after it."""
    pending: bool

    @property
    def is_transfer(self) -> bool:
        return self.id.startswith("tfr_")


class AccountRegister(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The entries of one account, or of one currency if the clock has no accounts, in order of time."""

    clock_id: str
    currency: str
    start: datetime
    end: datetime
    frozen_time: datetime
    """The clock's time. Later entries are pending."""
    opening: Decimal
    closing: Decimal
    entries: Sequence[Entry]
    account: str = ""
    """The key of the account, if the clock has accounts."""
    account_type: AccountType | Literal[""] = ""

    @property
    def booked(self) -> Decimal:
        """The balance after the entries that aren't pending."""
        return next((entry.balance for entry in reversed(self.entries) if not entry.pending), self.opening)


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


def build_registers(
    clock: Snapshot, opening: Mapping[str, Amount], *, pending: bool, clean: Callable[[str], str] = clean_text
) -> list[AccountRegister]:
    """Return a register for each account in their order, or for each currency of a clock without accounts.

    `clean` returns a name or a category as the file can contain it.
    """
    books: dict[str, list[Entry]] = {}
    for entry in sorted(_entries(clock, clean, pending=pending), key=lambda entry: entry.at):
        books.setdefault(entry.account or entry.currency, []).append(entry)
    instants = [entry.at for entries in books.values() for entry in entries]
    start = min([clock.start_time or clock.frozen_time, *instants])
    end = max([clock.frozen_time, *instants])
    balances = to_exact_balances(opening)

    def register(
        currency: str, before: Decimal, account: str = "", account_type: AccountType | Literal[""] = ""
    ) -> AccountRegister:
        entries = list(_with_balances(books.get(account or currency, []), before))
        after = entries[-1].balance if entries else before
        return AccountRegister(
            clock.id, currency, start, end, clock.frozen_time, before, after, entries, account, account_type
        )

    if clock.accounts:
        return [register(one.currency, one.opening_balance, one.key, one.type) for one in clock.accounts]
    currencies = {*balances, *books, *(item.currency for item in clock.pending_transactions)}
    return [register(currency, balances.get(currency, Decimal(0))) for currency in sorted(currencies)]


def _entries(clock: Snapshot, clean: Callable[[str], str], *, pending: bool) -> Iterator[Entry]:
    """Yield transactions and the two ends of transfers."""
    for item in (*clock.transactions, *(clock.pending_transactions if pending else ())):
        yield Entry(
            id=item.id,
            at=item.at,
            name=clean(item.name),
            amount=item.signed_amount,
            currency=item.currency,
            category=clean(item.category or ""),
            account=item.account or UNSET,
            pending=item.at > clock.frozen_time,
        )
    for transfer in (*clock.transfers, *(clock.pending_transfers if pending else ())):
        leaves = Entry(
            id=f"{transfer.id}_out",
            at=transfer.at,
            name=clean(transfer.name),
            amount=-transfer.amount,
            currency=transfer.currency,
            account=transfer.from_,
            pending=transfer.at > clock.frozen_time,
        )
        yield leaves
        yield replace(
            leaves,
            id=f"{transfer.id}_in",
            amount=transfer.amount if transfer.received is None else transfer.received,
            currency=transfer.received_currency or transfer.currency,
            account=transfer.to,
        )


def _with_balances(entries: Sequence[Entry], balance: Decimal) -> Iterator[Entry]:
    for entry in entries:
        balance = add_exactly(balance, entry.amount)
        yield replace(entry, balance=balance)


def plain_number(amount: Decimal, currency: str) -> str:
    """Return a number without an exponent, and with at least the decimals of the currency, such as 74.20."""
    whole, _, decimals = f"{amount:f}".partition(".")
    decimals = decimals.rstrip("0").ljust(_DECIMALS.get(currency, 2), "0")
    return f"{whole}.{decimals}" if decimals else whole
