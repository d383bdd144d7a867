from collections.abc import Iterator
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from tickover.api import durations
from tickover.api.clocks import AdvancedClock
from tickover.api.errors import Fault, Reason, invalid_params, truncate
from tickover.api.fields import Text, doc
from tickover.api.limits import MAX_DURATION, MAX_EVENTS
from tickover.api.timestamps import LATEST, Instant
from tickover.server.operations.ledgers import join_events
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import (
    EXAMPLE_CLOCK,
    TIME_REASONS,
    ClockParams,
    check_time,
    clock_result,
)
from tickover.server.schedule.clock import Clock
from tickover.server.schedule.events import EventQuery
from tickover.server.schedule.schedule import Schedule


class AdvanceEntry(ClockParams, frozen=True):
    frozen_time: Annotated[
        Instant | UnsetType,
        Meta(extra={"required": True}),
        doc("The new simulated time, from the clock's `frozenTime` to its `maxTime`. Pass it, `by` or `next`."),
    ] = UNSET
    by: Annotated[
        Annotated[Text, Meta(max_length=MAX_DURATION)] | UnsetType,
        doc("A duration from the clock's `frozenTime`, such as `1mo`, `2w`, `36h` or `1y 6mo`."),
    ] = UNSET
    next: Annotated[bool, doc("Whether to advance to the next item.")] = False
    events: Annotated[bool, doc("Whether to return what happened.")] = False

    def passes_fast_checks(self, now: Instant) -> bool:
        return self.frozen_time is not UNSET and self.by is UNSET and not self.next

    def faults(self, now: Instant) -> Iterator[Fault]:
        given = [
            name
            for name, is_given in (
                ("frozenTime", self.frozen_time is not UNSET),
                ("by", self.by is not UNSET),
                ("next", self.next is not False),
            )
            if is_given
        ]
        if not given:
            yield Fault("frozenTime", "required", "is required")
        for name in given[1:]:
            yield Fault(name, "oneOf", f"must not be there, because {given[0]} is")
        if not isinstance(self.by, str):
            return
        try:
            is_zero = durations.parse(self.by).is_zero
        except ValueError as error:
            yield Fault("by", "format", str(error), truncate(self.by))
        else:
            if is_zero:
                yield Fault("by", "positive", "must be longer than zero", truncate(self.by))

    def target(self, clock: Clock, schedule: Schedule) -> Instant | None:
        """Return the new frozen time of the clock, which may be out of range. Return None if nothing is left."""
        if self.frozen_time:
            return self.frozen_time
        if not self.by:
            return schedule.next_at(clock.frozen_time)
        try:
            return durations.parse(self.by).add_to(clock.frozen_time)
        except OverflowError:
            return LATEST


@Operation(
    "advanceTestClock",
    AdvancedClock,
    needs=Permission.WRITE,
    is_core=True,
    takes_idempotency_key=True,
    ignores_key=lambda params: params.frozen_time is not UNSET,
    decides_with_key=True,
    reasons=(*TIME_REASONS, Reason.RATE_LIMITED),
    examples={
        "To the next item, with what happens": {"id": EXAMPLE_CLOCK, "next": True, "events": True},
        "To a time": {"id": EXAMPLE_CLOCK, "frozenTime": "2027-02-01T00:00:00Z"},
    },
)
async def advance_test_clock(params: AdvanceEntry, caller: Caller, services: Services) -> bytes:
    """Move a clock forward.

    Items dated at or before the new `frozenTime` become posted. Advancing to the current `frozenTime` changes nothing,
    so you can retry a call whose response was lost. Time only moves forward; to rewind, fork the clock.

    Instead of a time, pass `by` or `next`. Both count from the clock's `frozenTime` at the moment when the call is
    applied, so a retry needs an idempotency key. A repeated call returns no events. With `frozenTime`, a key changes
    nothing. At most {MAX_EVENTS} events are returned; `moreEvents` says whether there are others.
    """
    if params.frozen_time and not params.events:
        advance = services.store.advance_clock
        clock, schedule = await services.clocks.load(params.id, caller, advance, params.frozen_time)
        check_time(params.frozen_time, clock)
        services.clock_changed(clock.key)
        return clock_result(clock, schedule)
    clock, schedule = await services.clocks.find(params.id, caller)
    if params.events:
        # Before the clock moves, because the server may have no room for it.
        await services.ledgers.get(clock, schedule)
    before, clock, schedule = await services.clocks.move(clock, schedule, params.target, caller)
    if before == clock.frozen_time:
        to = params.target(clock, schedule)
        if to is None:
            raise invalid_params([Fault("next", "existing", "must not be there, because nothing is left to happen")])
        check_time(to, clock)
    services.clock_changed(clock.key)
    if not params.events:
        return clock_result(clock, schedule)
    cached = await services.ledgers.get(clock, schedule)
    after, opening = before or clock.frozen_time, cached.ledger.opening_balances(UNSET)
    page = cached.events.page(EventQuery(clock.frozen_time, clock.frozen_time, MAX_EVENTS, after, opening=opening))
    events = b',"events":[%b]' % await join_events(page.events)
    return clock_result(clock, schedule, events + b',"moreEvents":true' if page.next_cursor else events)
