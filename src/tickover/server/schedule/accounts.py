"""Accounts as they are stored: with their balance after each of their items."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Final

from msgspec import UNSET, Struct, json
from msgspec.structs import replace

from tickover.api.arguments import int_if_whole
from tickover.api.clocks import AccountEntry, TransactionEntry, TransferEntry
from tickover.api.fields import AccountType
from tickover.api.timestamps import Instant
from tickover.server.schedule.items import (
    ENCODER,
    ScheduledItems,
    StoredTransaction,
    StoredTransfer,
    TransferMembers,
    decode_items,
    encode_items,
    without_braces,
)
from tickover.server.schedule.money import Amount, Sums, compute_sums


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


def head_of(account: AccountEntry[Amount]) -> AccountHead:
    opening = int_if_whole(account.opening_balance)
    return AccountHead(account.key, account.name, account.currency, account.type, opening)


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
    currencies = {head.key: head.currency for head in heads}
    return encode_items("tfr", suffix, [members_of(transfer, currencies) for transfer in transfers], first)


def members_of(transfer: TransferEntry[Amount], currencies: Mapping[str, str]) -> TransferMembers:
    """Return the transfer with the currencies of its accounts."""
    amount = int_if_whole(transfer.amount)
    members = transfer.at, transfer.name, transfer.from_, transfer.to, amount, currencies[transfer.from_]
    if transfer.received is UNSET:
        return TransferMembers(*members)
    return TransferMembers(*members, int_if_whole(transfer.received), currencies[transfer.to])


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
    return [_schedule_account(head, sorted(changes[head.key], key=itemgetter(0))) for head in heads]


def _schedule_account(head: AccountHead, changes: Sequence[tuple[Instant, Amount]]) -> ScheduledAccount:
    balances = compute_sums([head.opening_balance, *(amount for _, amount in changes)])
    return ScheduledAccount(without_braces(ENCODER.encode(head)), [at for at, _ in changes], balances)
