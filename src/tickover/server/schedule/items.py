"""The items of a schedule, its goals and its accounts, as they are stored."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from operator import attrgetter
from typing import Final, Generic, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from tickover.api.clocks import AccountEntry, ContributionEntry, GoalEntry, TransactionEntry, TransferEntry
from tickover.api.command_arguments import int_if_whole
from tickover.api.fields import AccountType, TransactionType
from tickover.api.timestamps import Instant
from tickover.server.schedule.money import Amount, Savings, compute_savings


class StoredTransaction(Struct, frozen=True, array_like=True, gc=False):
    number: int
    """The last number of its ID. Numbers are never used again."""
    at: Instant
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


class StoredTransfer(Struct, frozen=True, array_like=True, gc=False):
    number: int
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


class StoredContribution(Struct, frozen=True, array_like=True, gc=False):
    number: int
    at: Instant
    amount: Amount


Item = StoredTransaction | StoredTransfer | StoredContribution
_Item = TypeVar("_Item", StoredTransaction, StoredTransfer, StoredContribution)
_instant_of: Final = attrgetter("at")


class ScheduledItems(Struct, Generic[_Item], frozen=True, array_like=True, gc=False):
    """Transactions, transfers or contributions, sorted by instant. Those of one instant keep the caller's order."""

    all: list[_Item]
    next_number: int

    def count_until(self, frozen_time: Instant) -> int:
        """Return the number of items at or before `frozen_time`."""
        return bisect_right(self.all, frozen_time, key=_instant_of)

    def without(self, numbers: Set[int]) -> "ScheduledItems[_Item]":
        if not numbers:
            return self
        return ScheduledItems([item for item in self.all if item.number not in numbers], self.next_number)

    def merge(self, added: Sequence[_Item]) -> "ScheduledItems[_Item]":
        """Return these items with others, which have the next numbers."""
        if not added:
            return self
        merged = self.all.copy()
        merged.extend(added)
        merged.sort(key=_instant_of)
        return ScheduledItems(merged, self.next_number + len(added))


class StoredGoal(Struct, frozen=True, array_like=True, dict=True):
    name: str
    target_amount: Amount
    initial_amount: Amount
    contributions: ScheduledItems[StoredContribution]

    @cached_property
    def savings(self) -> Savings:
        return compute_savings(
            self.target_amount, self.initial_amount, [item.amount for item in self.contributions.all]
        )


class StoredAccount(Struct, frozen=True, array_like=True, gc=False):
    key: str
    name: str
    currency: str
    type: AccountType
    opening_balance: Amount


def id_prefix(kind: str, clock_key: bytes) -> str:
    """Return what the IDs of all items of a kind begin with. Their numbers follow."""
    return f"{kind}_{clock_key.hex()}_"


def store_transactions(
    transactions: Sequence[TransactionEntry[Amount]], accounts: Iterable[StoredAccount], first: int = 0
) -> list[StoredTransaction]:
    """Number transactions from `first` on. Those without an account belong to the first one of their currency."""
    defaults: dict[str, str] = {}
    for account in accounts:
        defaults.setdefault(account.currency, account.key)
    return [
        StoredTransaction(
            number,
            item.at,
            item.name,
            item.amount if type(item.amount) is int else int_if_whole(item.amount),
            item.currency,
            item.type,
            None if item.category is UNSET else item.category,
            item.account or defaults.get(item.currency),
            item.authorized_at or None,
            int_if_whole(item.authorized_amount) if item.authorized_amount else None,
            item.authorized_name or None,
        )
        for number, item in enumerate(transactions, first)
    ]


def store_transfers(
    transfers: Sequence[TransferEntry[Amount]], accounts: Iterable[StoredAccount], first: int = 0
) -> list[StoredTransfer]:
    """Number transfers from `first` on, and add the currencies of their accounts."""
    currencies: Mapping[str, str] = {account.key: account.currency for account in accounts}
    stored = []
    for number, item in enumerate(transfers, first):
        received = (int_if_whole(item.received), currencies[item.to]) if item.received else ()
        amount, currency = int_if_whole(item.amount), currencies[item.from_]
        stored.append(StoredTransfer(number, item.at, item.name, item.from_, item.to, amount, currency, *received))
    return stored


def store_contributions(contributions: Sequence[ContributionEntry[Amount]], first: int = 0) -> list[StoredContribution]:
    return [
        StoredContribution(number, item.at, item.amount if type(item.amount) is int else int_if_whole(item.amount))
        for number, item in enumerate(contributions, first)
    ]


def store_goal(goal: GoalEntry[Amount, Amount]) -> StoredGoal:
    contributions = NO_CONTRIBUTIONS.merge(store_contributions(goal.contributions))
    return StoredGoal(goal.name, int_if_whole(goal.target_amount), int_if_whole(goal.initial_amount), contributions)


def store_account(account: AccountEntry[Amount]) -> StoredAccount:
    return StoredAccount(
        account.key, account.name, account.currency, account.type, int_if_whole(account.opening_balance)
    )


def add_contributions(goal: StoredGoal, added: Sequence[ContributionEntry[Amount]]) -> StoredGoal:
    """Return a goal with more contributions."""
    if not added:
        return goal
    stored = store_contributions(added, goal.contributions.next_number)
    return replace(goal, contributions=goal.contributions.merge(stored))


NO_TRANSACTIONS: Final = ScheduledItems[StoredTransaction]([], 0)
NO_TRANSFERS: Final = ScheduledItems[StoredTransfer]([], 0)
NO_CONTRIBUTIONS: Final = ScheduledItems[StoredContribution]([], 0)
