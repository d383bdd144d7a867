"""Amendments: the next schedule of a clock, or the reasons why there is none.

The past never changes: new items are at or after the frozen time, and only items after it can be cancelled.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct

from tickover.api.clocks import AddEntry, ClockBounds
from tickover.api.errors import Fault, Reason, Rejection, invalid_params, truncate
from tickover.api.fields import faults_of_each
from tickover.api.limits import (
    MAX_CLOCK_CURRENCIES,
    MAX_CLOCK_GOALS,
    MAX_CLOCK_ITEMS,
    MAX_CLOCK_TRANSACTIONS,
    MAX_GOAL_CONTRIBUTIONS,
)
from tickover.api.timestamps import Instant
from tickover.server.schedule.clock import Clock
from tickover.server.schedule.items import Item, StoredTransaction
from tickover.server.schedule.schedule import Schedule, add_items, cancel_items

_MICROSECOND: Final = timedelta(microseconds=1)


class NextSchedule(Struct, frozen=True):
    schedule: Schedule
    valid_until: Instant
    """The latest frozen time at which the amendment is valid."""


def amend(clock: Clock, schedule: Schedule, add: AddEntry, cancel: Sequence[str]) -> NextSchedule:
    """Return the amended schedule. Raise a Rejection with all faults, or with all items that are not pending."""
    found = schedule.locate(set(cancel))
    items = [located.item for located in found.values()]
    not_pending = [id for id, located in found.items() if located.item.at <= clock.frozen_time]
    shown, unseen = _cancelled_payments(clock, items)
    kept = cancel_items(schedule, found.values(), shown)
    faults = [
        *_added_faults(clock, schedule, add),
        *_total_faults(kept, add),
        *_currency_faults(kept, add),
        *_cancel_faults(cancel, found, schedule),
    ]
    if faults:
        for index, id in enumerate(cancel):
            if id in not_pending:
                faults.append(Fault(f"cancel[{index}]", "pending", "has already happened", id))
        raise invalid_params(faults)
    if not_pending:
        message = "You can cancel only items that are still to come. These have already happened."
        raise Rejection(Reason.ITEM_NOT_PENDING, message, {"itemIds": not_pending})
    added = [item.authorized_at or item.at for item in add.transactions]
    added += [item.at for item in add.transfers] + [item.at for item in add.contributions]
    added += [item.at for goal in add.goals for item in goal.contributions]
    happening = [*(item.at for item in items), *unseen]
    valid_until = min([*added, *(at - _MICROSECOND for at in happening)], default=clock.max_time)
    return NextSchedule(add_items(kept, add), valid_until)


def _cancelled_payments(clock: Clock, items: Iterable[Item]) -> tuple[list[StoredTransaction], list[Instant]]:
    """Return the cancelled payments that are authorized already, and the instants at which others would be."""
    shown: list[StoredTransaction] = []
    unseen: list[Instant] = []
    for item in items:
        if not isinstance(item, StoredTransaction) or item.authorized_at is None:
            continue
        if item.authorized_at > clock.frozen_time:
            unseen.append(item.authorized_at)
        else:
            shown.append(item)
    return shown, unseen


def _added_faults(clock: Clock, schedule: Schedule, add: AddEntry) -> Iterator[Fault]:
    currencies = {account.key: account.currency for account in schedule.accounts}
    bounds = ClockBounds((clock.frozen_time, clock.max_time), "frozenTime", currencies)
    yield from bounds.faults("add.", add)
    yield from faults_of_each("add.contributions", add.contributions, bounds.time_faults)
    known_goals = {schedule.goal_id(index) for index in range(len(schedule.goals))}
    for index, item in enumerate(add.contributions):
        if item.goal_id not in known_goals:
            message = "is not a goal of this clock"
            yield Fault(f"add.contributions[{index}].goalId", "unknown", message, truncate(item.goal_id))


def _total_faults(kept: Schedule, add: AddEntry) -> Iterator[Fault]:
    """Check what the clock would hold. Cancelled payments are stored, so they count."""
    transactions = len(kept.transactions.all) + len(kept.cancelled_payments) + len(add.transactions)
    money = transactions + len(kept.transfers.all) + len(add.transfers)
    if money > MAX_CLOCK_TRANSACTIONS:
        path = "add.transactions" if add.transactions or not add.transfers else "add.transfers"
        yield _total_fault(path, MAX_CLOCK_TRANSACTIONS, "transactions and transfers", money)
    goals = len(kept.goals) + len(add.goals)
    if goals > MAX_CLOCK_GOALS:
        yield _total_fault("add.goals", MAX_CLOCK_GOALS, "goals", goals)
    total = money + sum(len(goal.contributions) for goal in add.goals)
    added = Counter(item.goal_id for item in add.contributions)
    for index, goal in enumerate(kept.goals):
        id = kept.goal_id(index)
        count = len(goal.contributions.all) + added[id]
        total += count
        if count > MAX_GOAL_CONTRIBUTIONS:
            yield _total_fault("add.contributions", MAX_GOAL_CONTRIBUTIONS, f"contributions to {id}", count)
    if total > MAX_CLOCK_ITEMS:
        yield _total_fault("add", MAX_CLOCK_ITEMS, "items in total", total)


def _currency_faults(kept: Schedule, add: AddEntry) -> Iterator[Fault]:
    """Check the currencies of all items. The bank still has the accounts of cancelled payments, so they count."""
    # The currencies of a clock with accounts are those of its accounts.
    if not add.transactions or kept.accounts:
        return
    currencies = {item.currency for item in kept.transactions.all}
    currencies.update(payment.currency for payment in kept.cancelled_payments)
    currencies.update(item.currency for item in add.transactions)
    if len(currencies) > MAX_CLOCK_CURRENCIES:
        yield _total_fault("add.transactions", MAX_CLOCK_CURRENCIES, "different currencies", len(currencies))


def _total_fault(path: str, limit: int, items: str, count: int) -> Fault:
    return Fault(path, "count", f"must leave the clock with at most {limit} {items}", count)


def _cancel_faults(ids: Sequence[str], found: Collection[str], schedule: Schedule) -> Iterator[Fault]:
    goal_ids = {schedule.goal_id(index) for index in range(len(schedule.goals))}
    seen: set[str] = set()
    for index, id in enumerate(ids):
        path = f"cancel[{index}]"
        if id in goal_ids:
            yield Fault(path, "goal", "is a goal; only transactions, transfers and contributions can be cancelled", id)
        elif id not in found:
            message = "is not an item of this clock, or is already cancelled"
            yield Fault(path, "unknown", message, truncate(id))
        elif id in seen:
            yield Fault(path, "unique", "is in the list twice", id)
        seen.add(id)
