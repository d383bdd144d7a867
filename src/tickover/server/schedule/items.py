"""Items and accounts as they are stored: as JSON, sorted by instant, and with the balance after each item."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from operator import itemgetter
from typing import Final, TypeVar

from msgspec import UNSET, Struct, field, json
from msgspec.structs import replace

from tickover.api.clocks import ContributionEntry, TransactionEntry, TransferEntry
from tickover.api.fields import AccountType, TransactionType
from tickover.api.timestamps import Instant
from tickover.server.schedule.money import Amount, Sums, compute_sums

_T = TypeVar("_T")
ENCODER: Final = json.Encoder()
_SOURCE: Final = b',"source":"SIMULATED_TEST_CLOCK"}'


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


class StoredTransfer(Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """An encoded transfer, without the members that a ledger doesn't need."""

    at: Instant
    name: str
    from_: str = field(name="from")
    to: str
    amount: Amount
    currency: str
    received: Amount | None = None
    received_currency: str | None = None
    id: str = ""
    """Empty before it is encoded."""

    @property
    def arriving(self) -> Amount:
        """The amount in the currency of `to`."""
        return self.amount if self.received is None else self.received


_Decoded = TypeVar("_Decoded", StoredTransaction, StoredTransfer)


@cache
def _decoder(kind: type[_Decoded]) -> json.Decoder[list[_Decoded]]:
    return json.Decoder(list[kind])  # type: ignore[valid-type]


def decode_items(kind: type[_Decoded], encoded: Sequence[bytes]) -> list[_Decoded]:
    return _decoder(kind).decode(b"[%b]" % b",".join(encoded))


def item_id(encoded: bytes) -> str:
    """Return the ID of an encoded item, or of a goal's head in braces, which is its first member."""
    return encoded[7 : encoded.index(b'"', 7)].decode()


# An amount is followed by one of these members, or it ends an item. Text can't match, because JSON escapes quotes and
# line breaks.
_WHOLE_AMOUNT_FRACTION: Final = re.compile(rb'\.0(?=,"(?:currency|authorizedName|receivedCurrency)":|}\n)')


def encode_items(
    prefix: str,
    suffix: str,
    items: Sequence[TransactionEntry[Amount] | ContributionEntry[Amount] | StoredTransfer],
    first: int = 0,
) -> ScheduledItems:
    """Encode all items in one call. Add `id` before the members of each item.

    The IDs have consecutive numbers from `first` on.
    """
    if not items:
        return ScheduledItems([], [])
    lines = ENCODER.encode_lines(items)
    # JSON escapes line breaks, so the text of an item contains none.
    members = _WHOLE_AMOUNT_FRACTION.sub(b"", lines)[1:-2].split(b"}\n{")
    start = f'{{"id":"{prefix}_{suffix}_'.encode()
    end = b"}" if prefix == "ctb" else _SOURCE
    encoded = [b'%b%d",%b%b' % (start, number, each, end) for number, each in enumerate(members, first)]
    instants = [item.at for item in items]
    return ScheduledItems(sorted(instants), sort_by(instants, encoded))


def sort_by(instants: list[Instant], items: list[_T]) -> list[_T]:
    """Sort items by their instants, stably."""
    if sorted(instants) == instants:
        return items
    return [items[index] for index in sorted(range(len(instants)), key=instants.__getitem__)]


def without_braces(encoded: bytes) -> bytes:
    return encoded[1:-1]


class AccountHead(Struct, frozen=True, rename="camel"):
    """The members of an account that are the same at every instant."""

    key: str
    name: str
    currency: str
    type: AccountType
    opening_balance: Amount


class ScheduledAccount(Struct, frozen=True, array_like=True, gc=False):
    encoded_head: bytes
    """An AccountHead in JSON, without braces."""
    instants: list[Instant]
    """Of the account's transactions and transfers."""
    balances: Sums
    """The opening balance, and the balance after each of them."""

    @property
    def head(self) -> AccountHead:
        return _decode_head(b"{%b}" % self.encoded_head)

    def encode_at(self, frozen_time: Instant) -> bytes:
        """Return the account as JSON, with its balance at `frozen_time`."""
        balance = self.balances.number(bisect_right(self.instants, frozen_time))
        return b'{%b,"balance":%b}' % (self.encoded_head, ENCODER.encode(balance))


_decode_head: Final = json.Decoder(AccountHead).decode


def with_accounts(
    transactions: Sequence[TransactionEntry[Amount]], heads: Sequence[AccountHead]
) -> Sequence[TransactionEntry[Amount]]:
    """Return each transaction with its account: by default, the first one of its currency."""
    if not heads:
        return transactions
    defaults = {head.currency: head.key for head in reversed(heads)}
    return [replace(item, account=defaults[item.currency]) if item.account is UNSET else item for item in transactions]


def encode_transfers(
    suffix: str, transfers: Sequence[TransferEntry[Amount]], heads: Sequence[AccountHead], first: int = 0
) -> ScheduledItems:
    """Encode transfers with the currencies of their accounts."""
    currencies = {head.key: head.currency for head in heads}
    items = []
    for each in transfers:
        received = () if each.received is UNSET else (each.received, currencies[each.to])
        currency = currencies[each.from_]
        items.append(StoredTransfer(each.at, each.name, each.from_, each.to, each.amount, currency, *received))
    return encode_items("tfr", suffix, items, first)


def schedule_accounts(
    heads: Sequence[AccountHead], transactions: ScheduledItems, transfers: ScheduledItems
) -> list[ScheduledAccount]:
    if not heads:
        return []
    changes: dict[str, list[tuple[Instant, Amount]]] = {head.key: [] for head in heads}
    decoded = decode_items(StoredTransaction, transactions.encoded)
    for at, transaction in zip(transactions.instants, decoded, strict=True):
        assert transaction.account is not None, "a clock with accounts assigns one to each transaction"
        changes[transaction.account].append((at, transaction.sign * transaction.amount))
    for transfer in decode_items(StoredTransfer, transfers.encoded):
        changes[transfer.from_].append((transfer.at, -transfer.amount))
        changes[transfer.to].append((transfer.at, transfer.arriving))
    accounts = []
    for head in heads:
        ordered = sorted(changes[head.key], key=itemgetter(0))
        balances = compute_sums([head.opening_balance, *(amount for _, amount in ordered)])
        accounts.append(ScheduledAccount(without_braces(ENCODER.encode(head)), [at for at, _ in ordered], balances))
    return accounts
