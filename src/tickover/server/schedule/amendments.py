"""Amendments: the next schedule of a clock, or the reasons why there is none.

The past never changes: new items are at or after the frozen time, and only items after it can be cancelled.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
from tickover.server.schedule.clocks import Clock
from tickover.server.schedule.items import (
    ScheduledItems,
    StoredTransaction,
    decode_items,
    item_id,
)
from tickover.server.schedule.schedule import (
    TRANSACTIONS,
    TRANSFERS,
    Cancelled,
    Schedule,
    WithdrawnPayment,
    amend_schedule,
)

_MICROSECOND: Final = timedelta(microseconds=1)


class NextSchedule(Struct, frozen=True):
    schedule: Schedule
    valid_until: Instant
    """The latest frozen time at which the amendment is valid."""


class _Item(Struct, frozen=True):
    group: int
    position: int
    at: Instant


def amend(clock: Clock, schedule: Schedule, add: AddEntry, cancel: Sequence[str]) -> NextSchedule:
    """Return the amended schedule. Raise a Rejection with all faults, or with all items that are not pending."""
    found = _find_items(schedule, cancel)
    not_pending = [id for id, item in found.items() if item.at <= clock.frozen_time]
    cancelled = defaultdict[int, set[int]](set)
    for item in found.values():
        cancelled[item.group].add(item.position)
    shown, unseen = _cancelled_payments(clock, schedule, cancelled[TRANSACTIONS])
    withdrawn = [*schedule.withdrawn, *shown]
    faults = [
        *_added_faults(clock, schedule, add),
        *_total_faults(schedule, add, cancelled, len(withdrawn)),
        *_currency_faults(schedule, add, cancelled[TRANSACTIONS], withdrawn),
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
    happening = [*(item.at for item in found.values()), *unseen]
    valid_until = min([*added, *(at - _MICROSECOND for at in happening)], default=clock.max_time)
    return NextSchedule(amend_schedule(schedule, clock.key, add, cancelled, withdrawn), valid_until)


def _cancelled_payments(
    clock: Clock, schedule: Schedule, positions: set[int]
) -> tuple[list[WithdrawnPayment], list[Instant]]:
    """Return the cancelled payments that are authorized already, and the instants at which others would be."""
    shown: list[WithdrawnPayment] = []
    unseen: list[Instant] = []
    encoded = schedule.transactions.encoded
    for item in decode_items(StoredTransaction, [encoded[position] for position in sorted(positions)]):
        if item.authorized_at is None:
            continue
        if item.authorized_at > clock.frozen_time:
            unseen.append(item.authorized_at)
        else:
            shown.append(WithdrawnPayment(item.id, item.authorized_at, item.account or item.currency))
    return shown, unseen


def _groups(schedule: Schedule) -> dict[int, ScheduledItems]:
    contributions = {group: goal.contributions for group, goal in enumerate(schedule.goals, start=TRANSACTIONS + 1)}
    return {TRANSFERS: schedule.transfers, TRANSACTIONS: schedule.transactions, **contributions}


def _find_items(schedule: Schedule, ids: Sequence[str]) -> dict[str, _Item]:
    """Return the items that have one of these IDs."""
    wanted = set(ids)
    return {
        id: _Item(group, position, items.instants[position])
        for group, items in (_groups(schedule).items() if wanted else ())
        for position, encoded in enumerate(items.encoded)
        if (id := item_id(encoded)) in wanted
    }


def _added_faults(clock: Clock, schedule: Schedule, add: AddEntry) -> Iterator[Fault]:
    currencies = {head.key: head.currency for head in (account.head for account in schedule.accounts)}
    bounds = ClockBounds((clock.frozen_time, clock.max_time), "frozenTime", currencies)
    yield from bounds.faults("add.", add)
    yield from faults_of_each("add.contributions", add.contributions, bounds.time_faults)
    known_goals = {goal.id for goal in schedule.goals}
    for index, item in enumerate(add.contributions):
        if item.goal_id not in known_goals:
            message = "is not a goal of this clock"
            yield Fault(f"add.contributions[{index}].goalId", "unknown", message, truncate(item.goal_id))


def _total_faults(schedule: Schedule, add: AddEntry, cancelled: Cancelled, withdrawn: int) -> Iterator[Fault]:
    """Check what the clock would hold. Withdrawn payments are stored, so they count."""
    counts = {group: len(items.instants) - len(cancelled[group]) for group, items in _groups(schedule).items()}
    counts[TRANSACTIONS] += len(add.transactions) + withdrawn
    counts[TRANSFERS] += len(add.transfers)
    if (money := counts[TRANSACTIONS] + counts[TRANSFERS]) > MAX_CLOCK_TRANSACTIONS:
        path = "add.transactions" if add.transactions or not add.transfers else "add.transfers"
        yield _total_fault(path, MAX_CLOCK_TRANSACTIONS, "transactions and transfers", money)
    goals = len(schedule.goals) + len(add.goals)
    if goals > MAX_CLOCK_GOALS:
        yield _total_fault("add.goals", MAX_CLOCK_GOALS, "goals", goals)
    added = Counter(item.goal_id for item in add.contributions)
    for group, goal in enumerate(schedule.goals, start=TRANSACTIONS + 1):
        counts[group] += added[goal.id]
        if counts[group] > MAX_GOAL_CONTRIBUTIONS:
            items = f"contributions to {goal.id}"
            yield _total_fault("add.contributions", MAX_GOAL_CONTRIBUTIONS, items, counts[group])
    total = sum(counts.values()) + sum(len(goal.contributions) for goal in add.goals)
    if total > MAX_CLOCK_ITEMS:
        yield _total_fault("add", MAX_CLOCK_ITEMS, "items in total", total)


def _currency_faults(
    schedule: Schedule, add: AddEntry, cancelled: set[int], withdrawn: Sequence[WithdrawnPayment]
) -> Iterator[Fault]:
    """Check the currencies of all items. The bank still has the accounts of withdrawn payments, so they count."""
    encoded = schedule.transactions.encoded
    most = len(encoded) + len(add.transactions) + len(withdrawn)
    # The currencies of a clock with accounts are those of its accounts.
    if not add.transactions or schedule.accounts or most <= MAX_CLOCK_CURRENCIES:
        return
    kept = [item for position, item in enumerate(encoded) if position not in cancelled]
    added = [*(item.currency for item in add.transactions), *(payment.account for payment in withdrawn)]
    count = len({item.currency for item in decode_items(StoredTransaction, kept)}.union(added))
    if count > MAX_CLOCK_CURRENCIES:
        yield _total_fault("add.transactions", MAX_CLOCK_CURRENCIES, "different currencies", count)


def _total_fault(path: str, limit: int, items: str, count: int) -> Fault:
    return Fault(path, "count", f"must leave the clock with at most {limit} {items}", count)


def _cancel_faults(ids: Sequence[str], found: Mapping[str, _Item], schedule: Schedule) -> Iterator[Fault]:
    goal_ids = {goal.id for goal in schedule.goals}
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
