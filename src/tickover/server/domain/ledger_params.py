"""Parameters of the operations on balances, events and expectations."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from tickover.api.errors import Fault, truncate
from tickover.api.expectations import ExpectationEntry
from tickover.api.fields import Bound, ClockId, OpeningBalances, Params, Text, TotalBound, doc
from tickover.api.limits import DEFAULT_EVENTS, MAX_EVENTS, MAX_EXPECTATIONS
from tickover.api.timestamps import Instant
from tickover.server.domain.events import read_cursor


class BalancesEntry(Params, frozen=True):
    """The parameters of getTestClockBalances."""

    id: ClockId
    at: Annotated[
        Instant | UnsetType, doc("An instant from the clock's start to its `maxTime`. Default: its `frozenTime`.")
    ] = UNSET
    opening_balances: OpeningBalances = {}


class EventsEntry(Params, frozen=True):
    """The parameters of listTestClockEvents."""

    id: ClockId
    after: Annotated[
        Instant | UnsetType, doc("Returns events after this instant. Default: from the clock's start on.")
    ] = UNSET
    until: Annotated[
        Instant | UnsetType,
        doc("Returns events up to this instant, from the clock's start to its `maxTime`. Default: its `frozenTime`."),
    ] = UNSET
    opening_balances: OpeningBalances = {}
    limit: Annotated[int, Meta(ge=1, le=MAX_EVENTS), doc("The maximum number of events.")] = DEFAULT_EVENTS
    cursor: Annotated[
        Text | UnsetType,
        doc("The `nextCursor` of the previous page. Without it, the list starts with the first event."),
    ] = UNSET

    def faults(self, now: Instant) -> Iterator[Fault]:
        if isinstance(self.cursor, str) and read_cursor(self.cursor) is None:
            message = "must be a nextCursor from a listTestClockEvents result"
            yield Fault("cursor", "format", message, truncate(self.cursor))


class CheckEntry(Params, frozen=True):
    """The parameters of checkTestClock."""

    id: ClockId
    expectations: Annotated[
        Sequence[ExpectationEntry[Bound, TotalBound]],
        Meta(min_length=1, max_length=MAX_EXPECTATIONS),
        doc("Each has exactly one member."),
    ]
    until: Annotated[
        Instant | UnsetType,
        doc(
            "The end of the check, from the clock's start to its `maxTime`. Default: its `maxTime`, so that the whole "
            "schedule is checked."
        ),
    ] = UNSET
    opening_balances: OpeningBalances = {}

    def faults(self, now: Instant) -> Iterator[Fault]:
        for index, expectation in enumerate(self.expectations or ()):
            if expectation is not None:
                yield from expectation.faults_at(f"expectations[{index}]")
