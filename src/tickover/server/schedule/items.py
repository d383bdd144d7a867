"""Items as they are stored: each as a JSON object with its ID, sorted by instant."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final, TypeVar

from msgspec import Struct, json

from tickover.api.clocks import ContributionEntry, TransactionEntry
from tickover.api.fields import TransactionType
from tickover.api.timestamps import Instant
from tickover.server.schedule.money import Amount

_T = TypeVar("_T")
ENCODER: Final = json.Encoder()
SOURCE: Final = "SIMULATED_TEST_CLOCK"


class ScheduledItems(Struct, frozen=True, array_like=True, gc=False):
    """Transactions, transfers or contributions; those of one instant keep the caller's order."""

    instants: list[Instant]
    encoded: list[bytes]
    """Each item as a JSON object."""
    cancelled: int = 0
    """The number of items that were cancelled. It keeps their IDs from being used again."""

    @property
    def next_number(self) -> int:
        """The last number of the next item's ID."""
        return len(self.instants) + self.cancelled

    def count_until(self, frozen_time: Instant) -> int:
        """Return the number of items at or before `frozen_time`."""
        return bisect_right(self.instants, frozen_time)

    def split(self, count: int) -> tuple[bytes, bytes]:
        """Return the first `count` items and the rest, each joined by commas."""
        return b",".join(self.encoded[:count]), b",".join(self.encoded[count:])

    def without(self, positions: set[int]) -> "ScheduledItems":
        kept = [position for position in range(len(self.instants)) if position not in positions]
        return ScheduledItems(
            [self.instants[position] for position in kept],
            [self.encoded[position] for position in kept],
            self.cancelled + len(positions),
        )

    def merge(self, added: "ScheduledItems") -> "ScheduledItems":
        instants = self.instants + added.instants
        return ScheduledItems(sorted(instants), sort_by(instants, self.encoded + added.encoded), self.cancelled)


NO_ITEMS: Final = ScheduledItems([], [])


class StoredTransaction(Struct, frozen=True, rename="camel", gc=False):
    """An encoded transaction, without the members that a ledger doesn't need."""

    id: str
    name: str
    amount: Amount
    currency: str
    type: TransactionType
    category: str | None = None
    account: str | None = None
    authorized_at: Instant | None = None
    """Of a card payment. Only a bank shows this, and the amount and name until then."""
    authorized_amount: Amount | None = None
    authorized_name: str | None = None

    @property
    def sign(self) -> int:
        """The factor of the amount in a balance."""
        return 1 if self.type == "INCOME" else -1


class TransferMembers(
    Struct, frozen=True, rename={"from_": "from", "received_currency": "receivedCurrency"}, omit_defaults=True, gc=False
):
    """A transfer without its `id` and `source`."""

    at: Instant
    name: str
    from_: str
    to: str
    amount: Amount
    currency: str
    received: Amount | None = None
    received_currency: str | None = None

    @property
    def arriving(self) -> Amount:
        """The amount in the currency of `to`."""
        return self.amount if self.received is None else self.received


class StoredTransfer(TransferMembers, frozen=True, kw_only=True, gc=False):
    """An encoded transfer."""

    id: str


_Decoded = TypeVar("_Decoded", StoredTransaction, StoredTransfer)


@cache
def _decoder(kind: type[_Decoded]) -> json.Decoder[list[_Decoded]]:
    return json.Decoder(list[kind])  # type: ignore[valid-type]


def decode_items(kind: type[_Decoded], encoded: Sequence[bytes]) -> list[_Decoded]:
    return _decoder(kind).decode(b"[%b]" % b",".join(encoded))


def item_id(encoded: bytes) -> str:
    """Return the ID of an encoded item, or of a goal's head in braces, which is its first member."""
    return encoded[7 : encoded.index(b'"', 7)].decode()


# Text can't match, because JSON escapes quotes.
_CURRENCY: Final = re.compile(rb',"currency":"([A-Z]{3})"')


def find_currencies(encoded: Sequence[bytes]) -> set[bytes]:
    """Return the currencies of encoded transactions."""
    return set(_CURRENCY.findall(b"".join(encoded)))


# An amount is followed by `currency` or `authorizedName`, or it ends an item. Text can't match, because JSON escapes
# quotes and line breaks.
_WHOLE_AMOUNT_FRACTION: Final = re.compile(rb'\.0(?=,"(?:currency|authorizedName)":|}\n)')


def encode_items(
    prefix: str,
    suffix: str,
    items: Sequence[TransactionEntry[Amount] | ContributionEntry[Amount] | TransferMembers],
    first: int = 0,
) -> ScheduledItems:
    """Encode all items in one call. Add `id` before the members of each item.

    The IDs have consecutive numbers from `first` on.
    """
    if not items:
        return ScheduledItems([], [])
    lines = ENCODER.encode_lines(items)
    # JSON escapes line breaks and U+0000, so the text of an item contains neither.
    members = _WHOLE_AMOUNT_FRACTION.sub(b"", lines)[1:-2].split(b"}\n{")
    # Numbers of amendments rarely repeat, so their templates are not cached.
    template = _new_template(first, prefix, len(members)) if first else _template(prefix, len(members))
    objects = template % tuple(members)
    encoded = objects.replace(b"\0", suffix.encode()).split(b"\n")
    instants = [item.at for item in items]
    return ScheduledItems(sorted(instants), sort_by(instants, encoded))


@lru_cache(maxsize=256)
def _template(prefix: str, count: int) -> bytes:
    return _new_template(0, prefix, count)


def _new_template(first: int, prefix: str, count: int) -> bytes:
    """Return `count` lines, each with a placeholder for an item's members. U+0000 stands for the suffix of the IDs."""
    source = "" if prefix == "ctb" else f',"source":"{SOURCE}"'
    numbers = range(first, first + count)
    return "\n".join([f'{{"id":"{prefix}_\0_{number}",%b{source}}}' for number in numbers]).encode()


def sort_by(instants: list[Instant], items: list[_T]) -> list[_T]:
    """Sort items by their instants, stably."""
    if sorted(instants) == instants:
        return items
    return [items[index] for index in sorted(range(len(instants)), key=instants.__getitem__)]


def without_braces(encoded: bytes) -> bytes:
    return encoded[1:-1]
