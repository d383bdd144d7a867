"""Test clocks: a schedule, fixed at creation, and an instant that only moves forward.

Everything a caller sees is a view of the two. A schedule is therefore written once, as the very JSON that views show,
with the places where it can be cut; a view at any instant cuts the text there and reads none of it.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, json

from tickover.core import ids, moments
from tickover.core.entries import Entry, Text
from tickover.core.errors import Fault
from tickover.core.limits import (
    MAX_AMOUNT,
    MAX_CATEGORY,
    MAX_CONTRIBUTIONS,
    MAX_GOALS,
    MAX_NAME,
    MAX_TRANSACTIONS,
    SPAN_YEARS,
)
from tickover.core.moments import Moment
from tickover.core.money import Amount, staircase, whole_if_whole

_POSITIVE: Final = Meta(gt=0, le=MAX_AMOUNT)
_NOT_NEGATIVE: Final = Meta(ge=0, le=MAX_AMOUNT)

Name = Annotated[Text, Meta(min_length=1, max_length=MAX_NAME)]
Category = Annotated[Text, Meta(max_length=MAX_CATEGORY)]
# The lengths are there beside the pattern because `$` also matches before a final line break.
Currency = Annotated[str, Meta(min_length=3, max_length=3, pattern="^[A-Z]{3}$", description="three uppercase letters")]
PositiveAmount = Annotated[int, _POSITIVE] | Annotated[float, _POSITIVE]
InitialAmount = Annotated[int, _NOT_NEGATIVE] | Annotated[float, _NOT_NEGATIVE]
TransactionType = Literal["INCOME", "EXPENSE"]


# What a caller asks for.


class TransactionEntry(Entry, frozen=True):
    at: Moment
    name: Name
    amount: PositiveAmount
    currency: Currency
    type: TransactionType
    category: Category | UnsetType = UNSET


class ContributionEntry(Entry, frozen=True):
    at: Moment
    amount: PositiveAmount


class GoalEntry(Entry, frozen=True):
    name: Name
    target_amount: PositiveAmount
    initial_amount: InitialAmount = 0
    contributions: Annotated[list[ContributionEntry], Meta(max_length=MAX_CONTRIBUTIONS)] = []


class ScheduleEntry(Entry, frozen=True):
    """The whole of createTestClock's parameters."""

    frozen_time: Moment | UnsetType = UNSET
    transactions: Annotated[list[TransactionEntry], Meta(max_length=MAX_TRANSACTIONS)] = []
    goals: Annotated[list[GoalEntry], Meta(max_length=MAX_GOALS)] = []

    def faults(self, now: Moment) -> Iterator[Fault]:
        start = now if self.frozen_time is UNSET else self.frozen_time
        yield from _initial_amounts_over_target(self.goals)
        if start is None:
            return
        earliest, latest = moments.years_after(now, -SPAN_YEARS), moments.years_after(now)
        if not earliest <= start <= latest:
            limits = f"{moments.write(earliest)} to {moments.write(latest)}"
            message = f"must lie within {SPAN_YEARS} years of now ({limits})"
            yield Fault("frozenTime", "range", message, moments.write(start))
            return
        yield from _outside("transactions", self.transactions, start)
        for index, goal in enumerate(self.goals or ()):
            if goal is not None:
                yield from _outside(f"goals[{index}].contributions", goal.contributions, start)


def _initial_amounts_over_target(goals: Sequence[GoalEntry]) -> Iterator[Fault]:
    for index, goal in enumerate(goals or ()):
        if goal is None or goal.target_amount is None or goal.initial_amount is None:
            continue
        if goal.initial_amount > goal.target_amount:
            message = f"must not exceed targetAmount ({whole_if_whole(goal.target_amount)})"
            yield Fault(f"goals[{index}].initialAmount", "max", message, goal.initial_amount)


def _outside(path: str, entries: Sequence[TransactionEntry | ContributionEntry], start: Moment) -> Iterator[Fault]:
    end = moments.years_after(start)
    for index, entry in enumerate(entries or ()):
        if entry is None or entry.at is None or start <= entry.at <= end:
            continue
        message = f"must lie between frozenTime and maxTime ({moments.write(start)} to {moments.write(end)})"
        yield Fault(f"{path}[{index}].at", "range", message, moments.write(entry.at))


class AdvanceEntry(Entry, frozen=True):
    """The parameters of advanceTestClock; both are required, since either alone says nothing."""

    id: Text
    frozen_time: Moment


# What a caller sees.


class Transaction(Struct, frozen=True, omit_defaults=True):
    id: str
    at: Moment
    name: str
    amount: Amount
    currency: str
    type: TransactionType
    source: str
    category: str | UnsetType = UNSET


class Contribution(Struct, frozen=True):
    id: str
    at: Moment
    amount: Amount


class GoalHead(Struct, frozen=True, rename="camel"):
    """The part of a goal that time does not change."""

    id: str
    name: str
    target_amount: Amount


# What is kept.


class Pieces(Struct, frozen=True, array_like=True):
    """Pieces of JSON joined by commas, and where each ends."""

    text: bytes
    ends: list[int]

    def __getitem__(self, index: int) -> bytes:
        return self.text[self.ends[index - 1] + 1 if index else 0 : self.ends[index]]

    def cut(self, count: int) -> tuple[bytes, bytes]:
        """The first `count` pieces, and the rest."""
        if count == 0:
            return b"", self.text
        end = self.ends[count - 1]
        return self.text[:end], self.text[end + 1 :]


class Lane(Struct, frozen=True, array_like=True):
    """Scheduled things in order of time, and then in the order given."""

    ats: list[int]
    pieces: Pieces

    def passed(self, frozen_time: int) -> int:
        return bisect_right(self.ats, frozen_time)


class GoalLane(Struct, frozen=True, array_like=True):
    head: bytes
    progress: Pieces
    contributions: Lane


class Schedule(Struct, frozen=True, array_like=True):
    transactions: Lane
    goals: list[GoalLane]


class Clock(Struct, frozen=True):
    """Where a clock stands. Its expiry is in its key: seven days after the birth that the key carries."""

    key: bytes
    start_time: Moment
    frozen_time: Moment
    max_time: Moment


def start(key: bytes, entry: ScheduleEntry, now: Moment) -> Clock:
    start_time = now if entry.frozen_time is UNSET else entry.frozen_time
    return Clock(key, start_time, start_time, moments.years_after(start_time))


def write_schedule(key: bytes, entry: ScheduleEntry) -> Schedule:
    """Fix the schedule: give every item its id, put it in order, and write it down."""
    clock = key.hex()
    transactions = (
        Transaction(
            f"txn_{clock}_{index}",
            item.at,
            item.name,
            whole_if_whole(item.amount),
            item.currency,
            item.type,
            "SIMULATED_TEST_CLOCK",
            item.category,
        )
        for index, item in enumerate(entry.transactions)
    )
    goals = [_write_goal(f"{clock}_{index}", goal) for index, goal in enumerate(entry.goals)]
    return Schedule(_write_lane(sorted(transactions, key=_AT)), goals)


def _write_goal(suffix: str, goal: GoalEntry) -> GoalLane:
    items = (
        Contribution(f"ctb_{suffix}_{index}", item.at, whole_if_whole(item.amount))
        for index, item in enumerate(goal.contributions)
    )
    contributions = sorted(items, key=_AT)
    steps = staircase(goal.target_amount, goal.initial_amount, [item.amount for item in contributions])
    head = GoalHead(f"goal_{suffix}", goal.name, whole_if_whole(goal.target_amount))
    return GoalLane(_members(_ENCODER.encode(head)), _write_pieces(steps), _write_lane(contributions))


_AT: Final = attrgetter("at")
_ENCODER: Final = json.Encoder()


def _write_lane(items: Sequence[Transaction | Contribution]) -> Lane:
    return Lane([moments.to_micros(item.at) for item in items], _write_pieces(items))


def _write_pieces(items: Sequence[Struct]) -> Pieces:
    # JSON escapes line breaks inside strings, so those that `encode_lines` adds are the only ones.
    lines = _ENCODER.encode_lines(items)[:-1]
    lengths = [len(line) + 1 for line in lines.split(b"\n")] if items else []
    return Pieces(lines.replace(b"\n", b","), [end - 1 for end in accumulate(lengths)])


def _members(written: bytes) -> bytes:
    """A JSON object without its braces, to be joined with others."""
    return written[1:-1]


def view(clock: Clock, schedule: Schedule) -> bytes:
    """The clock as a caller sees it at its frozen time, as JSON."""
    frozen_time = moments.to_micros(clock.frozen_time)
    visible, pending = schedule.transactions.pieces.cut(schedule.transactions.passed(frozen_time))
    return (
        b'{"id":"%b","status":"READY","frozenTime":"%b","maxTime":"%b","expiresAt":"%b",'
        b'"transactions":[%b],"pendingTransactions":[%b],"goals":[%b]}'
    ) % (
        ids.write("clock", clock.key).encode(),
        moments.write(clock.frozen_time).encode(),
        moments.write(clock.max_time).encode(),
        moments.write(ids.expires_at(clock.key)).encode(),
        visible,
        pending,
        b",".join([_view_goal(goal, frozen_time) for goal in schedule.goals]),
    )


def _view_goal(goal: GoalLane, frozen_time: int) -> bytes:
    passed = goal.contributions.passed(frozen_time)
    posted, upcoming = goal.contributions.pieces.cut(passed)
    return b'{%b,%b,"contributions":[%b],"upcomingContributions":[%b]}' % (
        goal.head,
        _members(goal.progress[passed]),
        posted,
        upcoming,
    )
