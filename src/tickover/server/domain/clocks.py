"""Test clocks: a schedule, fixed at creation, and an instant that only moves forward.

Everything a caller sees is a view of the two. A schedule is therefore written out once, as the very JSON that views
show; a view at any instant joins the pieces and reads none of them.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Annotated, Final, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, json

from tickover.api import ids, timestamps
from tickover.api.errors import Fault, truncate
from tickover.api.limits import (
    MAX_AMOUNT,
    MAX_CATEGORY,
    MAX_CONTRIBUTIONS,
    MAX_GOALS,
    MAX_NAME,
    MAX_PAGE,
    MAX_TRANSACTIONS,
    SPAN_YEARS,
    USUAL_PAGE,
)
from tickover.api.timestamps import Instant
from tickover.server.domain.money import Amount, Savings, add_up, whole_if_whole
from tickover.server.domain.params import Params, Text

_T = TypeVar("_T")
_POSITIVE: Final = Meta(gt=0, le=MAX_AMOUNT)
_NOT_NEGATIVE: Final = Meta(ge=0, le=MAX_AMOUNT)

Name = Annotated[Text, Meta(min_length=1, max_length=MAX_NAME)]
Category = Annotated[Text, Meta(max_length=MAX_CATEGORY)]
# Only `explain` uses the pattern: `passes_fast_checks` checks all currencies at once.
Currency = Annotated[
    str,
    Meta(
        min_length=3,
        max_length=3,
        description="three uppercase letters",
        extra_json_schema={"pattern": "^[A-Z]{3}$"},
    ),
]
PositiveAmount = Annotated[int, _POSITIVE] | Annotated[float, _POSITIVE]
InitialAmount = Annotated[int, _NOT_NEGATIVE] | Annotated[float, _NOT_NEGATIVE]
TransactionType = Literal["INCOME", "EXPENSE"]


# What a caller asks for.


class TransactionParams(Params, frozen=True):
    at: Instant
    name: Name
    amount: PositiveAmount
    currency: Currency
    type: TransactionType
    category: Category | UnsetType = UNSET


class ContributionParams(Params, frozen=True):
    at: Instant
    amount: PositiveAmount


_Items = Sequence[TransactionParams | ContributionParams]


class GoalParams(Params, frozen=True):
    name: Name
    target_amount: PositiveAmount
    initial_amount: InitialAmount = 0
    contributions: Annotated[list[ContributionParams], Meta(max_length=MAX_CONTRIBUTIONS)] = []


class CreateTestClockParams(Params, frozen=True):
    """The whole of createTestClock's parameters."""

    frozen_time: Instant | UnsetType = UNSET
    transactions: Annotated[list[TransactionParams], Meta(max_length=MAX_TRANSACTIONS)] = []
    goals: Annotated[list[GoalParams], Meta(max_length=MAX_GOALS)] = []

    def passes_fast_checks(self, now: Instant) -> bool:
        start = now if self.frozen_time is UNSET else self.frozen_time
        ats = [item.at for item in self.transactions]
        for goal in self.goals:
            if goal.initial_amount > goal.target_amount:
                return False
            ats += [item.at for item in goal.contributions]
        letters = "".join([item.currency for item in self.transactions])
        return (
            abs(start.year - now.year) < SPAN_YEARS
            and (not ats or (start <= min(ats) and max(ats) <= timestamps.years_after(start)))
            and (not letters or (letters.isascii() and letters.isalpha() and letters.isupper()))
        )

    def faults(self, now: Instant) -> Iterator[Fault]:
        start = now if self.frozen_time is UNSET else self.frozen_time
        yield from _initial_amounts_over_target(self.goals)
        if start is None:
            return
        earliest, latest = timestamps.years_after(now, -SPAN_YEARS), timestamps.years_after(now)
        if not earliest <= start <= latest:
            limits = f"{timestamps.write(earliest)} to {timestamps.write(latest)}"
            message = f"must lie within {SPAN_YEARS} years of now ({limits})"
            yield Fault("frozenTime", "range", message, timestamps.write(start))
            return
        end = timestamps.years_after(start)
        yield from _outside("transactions", self.transactions, start, end)
        for index, goal in enumerate(self.goals or ()):
            if goal is not None:
                yield from _outside(f"goals[{index}].contributions", goal.contributions, start, end)


def _initial_amounts_over_target(goals: Sequence[GoalParams]) -> Iterator[Fault]:
    for index, goal in enumerate(goals or ()):
        if goal is None or goal.target_amount is None or goal.initial_amount is None:
            continue
        if goal.initial_amount > goal.target_amount:
            message = f"must not exceed targetAmount ({whole_if_whole(goal.target_amount)})"
            yield Fault(f"goals[{index}].initialAmount", "max", message, goal.initial_amount)


def _outside(path: str, entries: _Items, start: Instant, end: Instant) -> Iterator[Fault]:
    for index, entry in enumerate(entries or ()):
        if entry is None or entry.at is None or start <= entry.at <= end:
            continue
        message = f"must lie between frozenTime and maxTime ({timestamps.write(start)} to {timestamps.write(end)})"
        yield Fault(f"{path}[{index}].at", "range", message, timestamps.write(entry.at))


class AdvanceTestClockParams(Params, frozen=True):
    """The parameters of advanceTestClock; both are required, since either alone says nothing."""

    id: Text
    frozen_time: Instant


class GetTestClockParams(Params, frozen=True):
    """The parameters of getTestClock; with `at`, of a preview."""

    id: Text
    at: Instant | UnsetType = UNSET


class ListTestClocksParams(Params, frozen=True):
    """The parameters of listTestClocks."""

    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = USUAL_PAGE
    cursor: Text | UnsetType = UNSET

    def faults(self, now: Instant) -> Iterator[Fault]:
        if isinstance(self.cursor, str) and ids.read_cursor(self.cursor) is None:
            yield Fault("cursor", "format", "must be a nextCursor that listTestClocks has given", truncate(self.cursor))


class DeleteTestClockParams(Params, frozen=True):
    """The parameters of deleteTestClock."""

    id: Text


class ForkTestClockParams(Params, frozen=True):
    """The parameters of forkTestClock."""

    id: Text
    at: Instant | UnsetType = UNSET


# What is kept, and seen: pieces of JSON. Items are what was asked for, each with an id; of a goal, only how far it has
# come depends on the instant.


class GoalHead(Struct, frozen=True, rename="camel"):
    """The part of a goal that time does not change."""

    id: str
    name: str
    target_amount: Amount


class ScheduledItems(Struct, frozen=True, array_like=True, gc=False):
    """Scheduled things in order of time, and then in the order given: their instants, and each as JSON."""

    ats: list[Instant]
    pieces: list[bytes]

    def passed(self, frozen_time: Instant) -> int:
        """How many lie at this instant or before it."""
        return bisect_right(self.ats, frozen_time)

    def cut(self, count: int) -> tuple[bytes, bytes]:
        """The first `count` of them as JSON, and the rest."""
        return b",".join(self.pieces[:count]), b",".join(self.pieces[count:])


class ScheduledGoal(Struct, frozen=True, array_like=True, gc=False):
    head: bytes
    savings: Savings
    contributions: ScheduledItems


class Schedule(Struct, frozen=True, array_like=True, gc=False):
    beginning: bytes
    bounds: bytes
    transactions: ScheduledItems
    goals: list[ScheduledGoal]


class Clock(Struct, frozen=True, gc=False):
    """Where a clock stands. Its expiry is in its key: seven days after the birth that the key carries."""

    key: bytes
    start_time: Instant
    frozen_time: Instant
    max_time: Instant


def start(key: bytes, params: CreateTestClockParams, now: Instant) -> Clock:
    start_time = now if params.frozen_time is UNSET else params.frozen_time
    return Clock(key, start_time, start_time, timestamps.years_after(start_time))


def write_schedule(clock: Clock, params: CreateTestClockParams) -> Schedule:
    """Give every item its id, put it in order, and write it down, so that a view has only to join the pieces."""
    key = clock.key.hex()
    transactions = _write_items("txn", key, params.transactions, ',"source":"SIMULATED_TEST_CLOCK"')
    goals = [_write_goal(f"{key}_{index}", goal) for index, goal in enumerate(params.goals)]
    return Schedule(_write_beginning(clock.key), _write_bounds(clock), transactions, goals)


def _write_beginning(key: bytes) -> bytes:
    return b'"id":"%b","status":"READY"' % ids.write("clock", key).encode()


def _write_bounds(clock: Clock) -> bytes:
    expires_at = _ENCODER.encode(ids.expires_at(clock.key))
    return b'"maxTime":%b,"expiresAt":%b' % (_ENCODER.encode(clock.max_time), expires_at)


def fork_schedule(schedule: Schedule, original: bytes, fork: Clock) -> Schedule:
    """The same schedule for a fork of the clock with the key `original`: every id tells of the fork."""
    old, new = original.hex().encode(), fork.key.hex().encode()

    # Only the first: that is in the id, with which every piece begins, and any other is in a text of the caller's.
    def renamed(pieces: list[bytes]) -> list[bytes]:
        return [piece.replace(old, new, 1) for piece in pieces]

    transactions = ScheduledItems(schedule.transactions.ats, renamed(schedule.transactions.pieces))
    goals = [
        ScheduledGoal(
            goal.head.replace(old, new, 1),
            goal.savings,
            ScheduledItems(goal.contributions.ats, renamed(goal.contributions.pieces)),
        )
        for goal in schedule.goals
    ]
    return Schedule(_write_beginning(fork.key), _write_bounds(fork), transactions, goals)


def _write_goal(suffix: str, goal: GoalParams) -> ScheduledGoal:
    head = GoalHead(f"goal_{suffix}", goal.name, whole_if_whole(goal.target_amount))
    amounts = [item.amount for item in _in_order(goal.contributions, [item.at for item in goal.contributions])]
    savings = add_up(goal.target_amount, goal.initial_amount, amounts)
    return ScheduledGoal(_members(_ENCODER.encode(head)), savings, _write_items("ctb", suffix, goal.contributions))


_ENCODER: Final = json.Encoder()
# What follows an amount, in a transaction and in a contribution. No text can hold either, because JSON escapes quotes
# and line breaks.
_NO_FRACTION: Final = re.compile(rb'\.0(?=,"currency":|}\n)')


def _write_items(kind: str, suffix: str, items: _Items, more: str = "") -> ScheduledItems:
    """The items as they were sent, in their order in time, each with its id before and what else it has behind."""
    if not items:
        return ScheduledItems([], [])
    lines = _ENCODER.encode_lines(items)
    if b".0" in lines:
        # Amounts that are whole are shown so.
        lines = _NO_FRACTION.sub(b"", lines)
    # JSON escapes line breaks and U+0000, so those that are put between things are the only ones.
    members = lines[1:-2].split(b"}\n{")
    written = _form(kind, more, len(members)) % tuple(members)
    pieces = written.replace(b"\0", suffix.encode()).split(b"\n")
    ats = [item.at for item in items]
    return ScheduledItems(sorted(ats), _in_order(pieces, ats))


@lru_cache(maxsize=256)
def _form(kind: str, more: str, count: int) -> bytes:
    """So many items, a line each, to be filled in; U+0000 stands for what all their ids have in common."""
    return "\n".join([f'{{"id":"{kind}_\0_{place}",%b{more}}}' for place in range(count)]).encode()


def _in_order(items: list[_T], ats: list[Instant]) -> list[_T]:
    """The items by their instants; those of one instant stay as they are."""
    if sorted(ats) == ats:
        return items
    return [items[place] for place in sorted(range(len(ats)), key=ats.__getitem__)]


def _members(written: bytes) -> bytes:
    """A JSON object without its braces, to be joined with others."""
    return written[1:-1]


def view(frozen_time: Instant, schedule: Schedule) -> bytes:
    """The clock as a caller sees it at this instant, as JSON."""
    visible, pending = schedule.transactions.cut(schedule.transactions.passed(frozen_time))
    return b'{%b,"frozenTime":%b,%b,"transactions":[%b],"pendingTransactions":[%b],"goals":[%b]}' % (
        schedule.beginning,
        _ENCODER.encode(frozen_time),
        schedule.bounds,
        visible,
        pending,
        b",".join([_view_goal(goal, frozen_time) for goal in schedule.goals]),
    )


def _view_goal(goal: ScheduledGoal, frozen_time: Instant) -> bytes:
    passed = goal.contributions.passed(frozen_time)
    posted, upcoming = goal.contributions.cut(passed)
    return b'{%b,%b,"contributions":[%b],"upcomingContributions":[%b]}' % (
        goal.head,
        _members(_ENCODER.encode(goal.savings.progress(passed))),
        posted,
        upcoming,
    )
