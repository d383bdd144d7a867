"""The stored form of a schedule, and the views that are joined from it.

A schedule is encoded once, when its clock is created, as the JSON of its items. A view at any instant joins these
pieces without decoding them. This is the hot path of the server, and measurements showed that string operations are
faster here. `reference_view` computes the same result in a simple way. A property test compares the two, byte for byte.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeVar

from msgspec import Struct, json, to_builtins

from tickover.api import ids
from tickover.api.arguments import int_if_whole
from tickover.api.clocks import AddEntry, ContributionEntry, GoalEntry, NewClock, TransactionEntry
from tickover.api.fields import TransactionType
from tickover.api.timestamps import Instant
from tickover.server.schedule.clocks import Clock
from tickover.server.schedule.money import Amount, Savings, compute_savings

_T = TypeVar("_T")
ItemEntry = TransactionEntry[Amount] | ContributionEntry[Amount]


class GoalHead(Struct, frozen=True, rename="camel"):
    """The members of a goal that are the same at every instant."""

    id: str
    name: str
    target_amount: Amount


class StoredTransaction(Struct, frozen=True, gc=False):
    """An encoded transaction, without the members that a ledger doesn't need."""

    id: str
    name: str
    amount: Amount
    currency: str
    type: TransactionType
    category: str | None = None


class ScheduledItems(Struct, frozen=True, array_like=True, gc=False):
    """Transactions or contributions, sorted by instant; those of one instant keep the caller's order."""

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


class ScheduledGoal(Struct, frozen=True, array_like=True, gc=False):
    head: bytes
    """A GoalHead in JSON, without braces."""
    savings: Savings
    contributions: ScheduledItems


class Schedule(Struct, frozen=True, array_like=True, gc=False):
    """The stored form. The names of its fields are not stored."""

    head: bytes
    """The members `id` and `status`."""
    bounds: bytes
    """The members `maxTime` and `expiresAt`."""
    transactions: ScheduledItems
    goals: list[ScheduledGoal]


_SOURCE: Final = ',"source":"SIMULATED_TEST_CLOCK"'
TRANSACTIONS: Final = 0
"""The group of transactions. The group of a goal's contributions is the goal's index plus 1."""


def item_id(encoded: bytes) -> str:
    """Return the ID of an encoded item, or of a goal's head in braces, which is its first member."""
    return encoded[7 : encoded.index(b'"', 7)].decode()


# Text can't match, because JSON escapes quotes.
_CURRENCY: Final = re.compile(rb',"currency":"([A-Z]{3})"')


def find_currencies(encoded: Sequence[bytes]) -> set[bytes]:
    """Return the currencies of encoded transactions."""
    return set(_CURRENCY.findall(b"".join(encoded)))


def encode_schedule(clock: Clock, params: NewClock) -> Schedule:
    """Assign IDs to all items, sort them and encode them."""
    key = clock.key.hex()
    transactions = _encode_items("txn", key, params.transactions, _SOURCE)
    goals = [_encode_goal(f"{key}_{index}", goal) for index, goal in enumerate(params.goals)]
    return Schedule(_encode_head(clock.key), _encode_bounds(clock), transactions, goals)


def fork_schedule(schedule: Schedule, original_key: bytes, fork: Clock) -> Schedule:
    """Return the schedule of a fork: the same items with IDs that contain the fork's key."""
    old, new = original_key.hex().encode(), fork.key.hex().encode()

    # Every item begins with its ID. Later occurrences of the key are in the caller's own text and stay.
    def replace_keys(items: ScheduledItems) -> ScheduledItems:
        return ScheduledItems(items.instants, [item.replace(old, new, 1) for item in items.encoded], items.cancelled)

    goals = [
        ScheduledGoal(goal.head.replace(old, new, 1), goal.savings, replace_keys(goal.contributions))
        for goal in schedule.goals
    ]
    return Schedule(_encode_head(fork.key), _encode_bounds(fork), replace_keys(schedule.transactions), goals)


def amend_schedule(schedule: Schedule, key: bytes, add: AddEntry, cancelled: Mapping[int, set[int]]) -> Schedule:
    """Return the next schedule of the clock with this key. `cancelled` has the positions of items in their groups."""
    suffix = key.hex()
    contributions: dict[str, list[ContributionEntry[Amount]]] = {}
    for item in add.contributions:
        contributions.setdefault(item.goal_id, []).append(ContributionEntry(item.at, item.amount))
    kept = _remove(schedule.transactions, cancelled.get(TRANSACTIONS, set()))
    added = _encode_items("txn", suffix, add.transactions, _SOURCE, kept.next_number)
    goals = [
        _amend_goal(f"{suffix}_{index}", goal, contributions, cancelled.get(index + 1, set()))
        for index, goal in enumerate(schedule.goals)
    ]
    for index, goal in enumerate(add.goals, start=len(goals)):
        goals.append(_encode_goal(f"{suffix}_{index}", goal))
    return Schedule(schedule.head, schedule.bounds, _merge(kept, added), goals)


def _amend_goal(
    suffix: str,
    goal: ScheduledGoal,
    contributions: Mapping[str, Sequence[ContributionEntry[Amount]]],
    cancelled: set[int],
) -> ScheduledGoal:
    new = contributions.get(f"goal_{suffix}", ())
    if not new and not cancelled:
        return goal
    kept = _remove(goal.contributions, cancelled)
    target, initial, old_amounts = goal.savings.amounts()
    amounts = [amount for position, amount in enumerate(old_amounts) if position not in cancelled]
    amounts = _sort([*amounts, *(item.amount for item in new)], [*kept.instants, *(item.at for item in new)])
    added = _encode_items("ctb", suffix, new, first=kept.next_number)
    return ScheduledGoal(goal.head, compute_savings(target, initial, amounts), _merge(kept, added))


def _remove(items: ScheduledItems, positions: set[int]) -> ScheduledItems:
    kept = [position for position in range(len(items.instants)) if position not in positions]
    return ScheduledItems(
        [items.instants[position] for position in kept],
        [items.encoded[position] for position in kept],
        items.cancelled + len(positions),
    )


def _merge(items: ScheduledItems, added: ScheduledItems) -> ScheduledItems:
    instants = items.instants + added.instants
    return ScheduledItems(sorted(instants), _sort(items.encoded + added.encoded, instants), items.cancelled)


def view(frozen_time: Instant, schedule: Schedule, names: bytes = b"", *, details: bool = False) -> bytes:
    """Return the clock at `frozen_time` as JSON. `names` has the members of `encode_names`.

    With `details`, each goal has its initial amount.
    """
    visible, pending = schedule.transactions.split(schedule.transactions.count_until(frozen_time))
    # One join of all pieces is faster than formatting each goal.
    pieces = [b"{", schedule.head, b',"frozenTime":', _ENCODER.encode(frozen_time), b",", schedule.bounds, names]
    pieces += (b',"transactions":[', visible, b'],"pendingTransactions":[', pending, b'],"goals":[')
    before = b"{"
    for goal in schedule.goals:
        count = goal.contributions.count_until(frozen_time)
        posted, upcoming = goal.contributions.split(count)
        progress = _without_braces(_ENCODER.encode(goal.savings.progress(count)))
        pieces += (before, goal.head, b",", progress)
        pieces += (b',"contributions":[', posted, b'],"upcomingContributions":[', upcoming, b"]")
        if details:
            pieces += (b',"initialAmount":', _ENCODER.encode(goal.savings.initial_amount))
        before = b"},{"
    pieces.append(b"}]}" if schedule.goals else b"]}")
    return b"".join(pieces)


_ENCODER: Final = json.Encoder()
# An amount is followed by `currency` in a transaction, and ends a contribution. Text can't match, because JSON escapes
# quotes and line breaks.
_WHOLE_AMOUNT_FRACTION: Final = re.compile(rb'\.0(?=,"currency":|}\n)')


def _encode_head(key: bytes) -> bytes:
    return b'"id":"%b","status":"READY"' % ids.write("clock", key).encode()


def _encode_bounds(clock: Clock) -> bytes:
    expires_at = _ENCODER.encode(ids.expires_at(clock.key))
    return b'"maxTime":%b,"expiresAt":%b' % (_ENCODER.encode(clock.max_time), expires_at)


def _encode_goal(suffix: str, goal: GoalEntry[Amount, Amount]) -> ScheduledGoal:
    head = GoalHead(f"goal_{suffix}", goal.name, int_if_whole(goal.target_amount))
    amounts = _sort([item.amount for item in goal.contributions], [item.at for item in goal.contributions])
    savings = compute_savings(goal.target_amount, goal.initial_amount, amounts)
    return ScheduledGoal(
        _without_braces(_ENCODER.encode(head)), savings, _encode_items("ctb", suffix, goal.contributions)
    )


def _encode_items(
    prefix: str, suffix: str, items: Sequence[ItemEntry], last_members: str = "", first: int = 0
) -> ScheduledItems:
    """Encode all items in one call. Add `id` before the members of each item, and `last_members` after them.

    The IDs have consecutive numbers from `first` on.
    """
    if not items:
        return ScheduledItems([], [])
    lines = _ENCODER.encode_lines(items)
    # JSON escapes line breaks and U+0000, so the text of an item contains neither.
    members = _WHOLE_AMOUNT_FRACTION.sub(b"", lines)[1:-2].split(b"}\n{")
    # Numbers of amendments rarely repeat, so their templates are not cached.
    template = (
        _new_template(first, prefix, last_members, len(members))
        if first
        else _template(prefix, last_members, len(members))
    )
    objects = template % tuple(members)
    encoded = objects.replace(b"\0", suffix.encode()).split(b"\n")
    instants = [item.at for item in items]
    return ScheduledItems(sorted(instants), _sort(encoded, instants))


@lru_cache(maxsize=256)
def _template(prefix: str, last_members: str, count: int) -> bytes:
    return _new_template(0, prefix, last_members, count)


def _new_template(first: int, prefix: str, last_members: str, count: int) -> bytes:
    """Return `count` lines, each with a placeholder for an item's members. U+0000 stands for the suffix of the IDs."""
    numbers = range(first, first + count)
    return "\n".join([f'{{"id":"{prefix}_\0_{number}",%b{last_members}}}' for number in numbers]).encode()


def _sort(items: list[_T], instants: list[Instant]) -> list[_T]:
    """Sort items by their instants, stably."""
    if sorted(instants) == instants:
        return items
    return [items[index] for index in sorted(range(len(instants)), key=instants.__getitem__)]


def _without_braces(encoded: bytes) -> bytes:
    return encoded[1:-1]


def reference_view(clock: Clock, params: NewClock, frozen_time: Instant) -> bytes:
    """Return what `view(frozen_time, encode_schedule(clock, params))` must return."""
    key = clock.key.hex()
    visible, pending = _reference_items("txn", key, params.transactions, frozen_time, source="SIMULATED_TEST_CLOCK")
    return json.encode(
        {
            "id": ids.write("clock", clock.key),
            "status": "READY",
            "frozenTime": frozen_time,
            "maxTime": clock.max_time,
            "expiresAt": ids.expires_at(clock.key),
            "transactions": visible,
            "pendingTransactions": pending,
            "goals": [_reference_goal(f"{key}_{i}", goal, frozen_time) for i, goal in enumerate(params.goals)],
        }
    )


def _reference_goal(suffix: str, goal: GoalEntry[Amount, Amount], frozen_time: Instant) -> dict[str, Any]:
    posted, upcoming = _reference_items("ctb", suffix, goal.contributions, frozen_time)
    savings = compute_savings(goal.target_amount, goal.initial_amount, [item["amount"] for item in posted])
    return {
        "id": f"goal_{suffix}",
        "name": goal.name,
        "targetAmount": int_if_whole(goal.target_amount),
        **to_builtins(savings.progress(len(posted))),
        "contributions": posted,
        "upcomingContributions": upcoming,
    }


def _reference_items(
    prefix: str, suffix: str, items: Sequence[ItemEntry], frozen_time: Instant, **last_members: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the items at or before `frozen_time`, and the items after it."""
    passed: list[dict[str, Any]] = []
    remaining: list[dict[str, Any]] = []
    for index, item in sorted(enumerate(items), key=lambda numbered: numbered[1].at):
        members = to_builtins(item) | {"amount": int_if_whole(item.amount)} | last_members
        (passed if item.at <= frozen_time else remaining).append({"id": f"{prefix}_{suffix}_{index}", **members})
    return passed, remaining
