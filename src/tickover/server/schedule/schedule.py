"""Schedules as they are stored: plain values, which never change. Each change makes another schedule."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Final, NamedTuple

from msgspec import UNSET, Struct, UnsetType, msgpack
from msgspec.structs import replace

from tickover.api.clocks import AddEntry, ContributionEntry, NewClock
from tickover.api.command_arguments import int_if_whole
from tickover.api.connections import BankSettings
from tickover.api.expectations import ExpectationEntry
from tickover.api.timestamps import Instant
from tickover.server.schedule.clock import Clock
from tickover.server.schedule.items import (
    NO_TRANSACTIONS,
    NO_TRANSFERS,
    Item,
    ScheduledItems,
    StoredAccount,
    StoredContribution,
    StoredGoal,
    StoredTransaction,
    StoredTransfer,
    add_contributions,
    id_prefix,
    store_account,
    store_goal,
    store_transactions,
    store_transfers,
)
from tickover.server.schedule.money import Amount

Expectation = ExpectationEntry[Amount, Amount]


class Located(NamedTuple):
    """An item, and the items that it is one of."""

    items: ScheduledItems[Any]
    item: Item


class Schedule(Struct, frozen=True, array_like=True, dict=True):
    """What a clock points to. The names of its fields are not stored.

    Its `__dict__` is for what views encode once (`view.py`).
    """

    key: bytes
    """The key of the clock, which is a part of all IDs."""
    max_time: Instant
    transactions: ScheduledItems[StoredTransaction] = NO_TRANSACTIONS
    goals: list[StoredGoal] = []
    accounts: list[StoredAccount] = []
    transfers: ScheduledItems[StoredTransfer] = NO_TRANSFERS
    opening_balances: dict[str, Amount] | None = None
    expectations: list[Expectation] | None = None
    cancelled_payments: list[StoredTransaction] = []
    """Card payments that were cancelled after their authorization. A bank has shown them, and has to take them back."""
    former_currencies: list[str] = []
    """Those that cancelled transactions and replaced opening balances had. A bank has shown accounts for them."""
    bank_defaults: BankSettings | None = None
    """For connections that an app makes itself."""

    @property
    def item_count(self) -> int:
        contributions = sum(len(goal.contributions.all) for goal in self.goals)
        return len(self.transactions.all) + len(self.transfers.all) + contributions

    def next_at(self, frozen_time: Instant) -> Instant | None:
        """Return the instant of the next item after `frozen_time`, or None if nothing is left."""
        lists = (items.all[items.count_until(frozen_time) :][:1] for _, items in self._lists())
        return min((item.at for items in lists for item in items), default=None)

    def transaction_id(self, number: int) -> str:
        return f"{id_prefix('txn', self.key)}{number}"

    def transfer_id(self, number: int) -> str:
        return f"{id_prefix('tfr', self.key)}{number}"

    def goal_id(self, index: int) -> str:
        return f"{id_prefix('goal', self.key)}{index}"

    def contribution_id(self, goal: int, number: int) -> str:
        """Return the ID of a contribution to the goal at this index."""
        return f"{self.contribution_prefix(goal)}{number}"

    def contribution_prefix(self, goal: int) -> str:
        return f"{id_prefix('ctb', self.key)}{goal}_"

    def locate(self, wanted: Set[str]) -> dict[str, Located]:
        """Return the items that have one of these IDs."""
        lists = self._lists() if wanted else ()
        return {
            id: Located(items, item)
            for prefix, items in lists
            for item in items.all
            if (id := f"{prefix}{item.number}") in wanted
        }

    def _lists(self) -> Iterator[tuple[str, ScheduledItems[Any]]]:
        """Return all items, with what their IDs begin with."""
        yield id_prefix("tfr", self.key), self.transfers
        yield id_prefix("txn", self.key), self.transactions
        for index, goal in enumerate(self.goals):
            yield self.contribution_prefix(index), goal.contributions


_MAX_FORMER_CURRENCIES: Final = 200
"""The oldest ones beyond are forgotten, so that amendments can't grow the bank of a clock for ever."""
encode_stored: Final = msgpack.Encoder().encode
decode_stored: Final = msgpack.Decoder(Schedule).decode


def new_schedule(clock: Clock, params: NewClock) -> Schedule:
    """Return the first schedule of a clock. Items have numbers in the order of the request."""
    accounts = [store_account(account) for account in params.accounts]
    schedule = Schedule(
        clock.key,
        clock.max_time,
        NO_TRANSACTIONS.merge(store_transactions(params.transactions, accounts)),
        [store_goal(goal) for goal in params.goals],
        accounts,
        NO_TRANSFERS.merge(store_transfers(params.transfers, accounts)),
    )
    if params.opening_balances is UNSET and params.expectations is UNSET:
        return schedule
    return update_schedule(schedule, params.opening_balances, params.expectations)


def update_schedule(
    schedule: Schedule,
    opening_balances: Mapping[str, Amount] | UnsetType | None,
    expectations: Sequence[Expectation] | UnsetType | None,
) -> Schedule:
    """Return a schedule with other opening balances and expectations. UNSET keeps the old ones, None removes them."""
    if not isinstance(opening_balances, UnsetType):
        whole = {currency: int_if_whole(amount) for currency, amount in (opening_balances or {}).items()}
        former = (schedule.opening_balances or {}).keys() - whole
        schedule = replace(
            schedule,
            opening_balances=None if opening_balances is None else whole,
            former_currencies=_add_former(schedule, former),
        )
    if not isinstance(expectations, UnsetType):
        whole_numbers = None if expectations is None else [_with_whole_numbers(each) for each in expectations]
        schedule = replace(schedule, expectations=whole_numbers)
    return schedule


def _with_whole_numbers(expectation: Expectation) -> Expectation:
    """Return the expectation as it was sent, except that whole numbers have no fraction."""
    for name, rule in (("balance", expectation.balance), ("total", expectation.total)):
        if rule:
            given = {"at_least": rule.at_least, "at_most": rule.at_most}
            whole = {bound: int_if_whole(amount) for bound, amount in given.items() if amount is not UNSET}
            return replace(expectation, **{name: replace(rule, **whole)})
    return expectation


def fork_schedule(schedule: Schedule, fork: Clock) -> Schedule:
    """Return the schedule of a fork: the same items with IDs that contain the fork's key."""
    # A fork has no connections, so nobody has seen cancelled payments.
    forked = replace(schedule, key=fork.key, max_time=fork.max_time, cancelled_payments=[])
    if schedule.expectations is None:
        return forked
    own_ids = {schedule.goal_id(index): forked.goal_id(index) for index in range(len(schedule.goals))}
    return replace(forked, expectations=[_rename_goal(each, own_ids) for each in schedule.expectations])


def _rename_goal(expectation: Expectation, own_ids: Mapping[str, str]) -> Expectation:
    """Return an expectation about the goal of the fork. A goal's name is no ID, even if it begins like one."""
    rule = expectation.goal_reached
    if not rule or rule.goal not in own_ids:
        return expectation
    return replace(expectation, goal_reached=replace(rule, goal=own_ids[rule.goal]))


def cancel_items(schedule: Schedule, cancelled: Iterable[Located], shown: Sequence[StoredTransaction]) -> Schedule:
    """Return a schedule without these items. Some are card payments that a bank has shown."""
    numbers = defaultdict[int, set[int]](set)
    currencies = set()
    for items, item in cancelled:
        numbers[id(items)].add(item.number)
        if isinstance(item, StoredTransaction):
            currencies.add(item.currency)

    def keep(goal: StoredGoal) -> StoredGoal:
        kept: ScheduledItems[StoredContribution] = goal.contributions.without(numbers[id(goal.contributions)])
        return goal if kept is goal.contributions else replace(goal, contributions=kept)

    return replace(
        schedule,
        transactions=schedule.transactions.without(numbers[id(schedule.transactions)]),
        goals=[keep(goal) for goal in schedule.goals],
        transfers=schedule.transfers.without(numbers[id(schedule.transfers)]),
        cancelled_payments=[*schedule.cancelled_payments, *shown],
        former_currencies=_add_former(schedule, currencies),
    )


def _add_former(schedule: Schedule, currencies: Set[str]) -> list[str]:
    """Return the former currencies with these. The currencies of a clock with accounts are those of its accounts."""
    if schedule.accounts:
        return []
    return list(dict.fromkeys([*schedule.former_currencies, *sorted(currencies)]))[-_MAX_FORMER_CURRENCIES:]


def add_items(schedule: Schedule, add: AddEntry) -> Schedule:
    """Return a schedule with more items."""
    contributions = defaultdict[str, list[ContributionEntry[Amount]]](list)
    for item in add.contributions:
        contributions[item.goal_id].append(item)
    accounts, transactions, transfers = schedule.accounts, schedule.transactions, schedule.transfers
    goals = [
        add_contributions(goal, contributions[schedule.goal_id(index)]) for index, goal in enumerate(schedule.goals)
    ]
    return replace(
        schedule,
        transactions=transactions.merge(store_transactions(add.transactions, accounts, transactions.next_number)),
        goals=[*goals, *map(store_goal, add.goals)],
        transfers=transfers.merge(store_transfers(add.transfers, accounts, transfers.next_number)),
    )
