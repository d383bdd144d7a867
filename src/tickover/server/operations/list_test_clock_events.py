from collections.abc import Iterator
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from tickover.api.clocks import EventPage
from tickover.api.errors import Fault, reject, truncate
from tickover.api.fields import OpeningBalances, Text, doc
from tickover.api.limits import DEFAULT_EVENTS, MAX_EVENTS
from tickover.api.timestamps import Instant
from tickover.server.operations.ledgers import join_events, opening_faults, range_faults
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, ClockParams
from tickover.server.schedule.check_expectations import time_faults
from tickover.server.schedule.events import EventQuery, read_cursor


class EventsEntry(ClockParams, frozen=True):
    after: Annotated[Instant | UnsetType, doc("Returns only events after this instant.")] = UNSET
    until: Annotated[
        Instant | UnsetType,
        doc("Returns events up to this instant, from the clock's start to its `maxTime`. Default: its `frozenTime`."),
    ] = UNSET
    opening_balances: OpeningBalances | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=MAX_EVENTS), doc("The maximum number of events.")] = DEFAULT_EVENTS
    cursor: Annotated[Text | UnsetType, doc("The `nextCursor` of the previous page.")] = UNSET

    def faults(self, now: Instant) -> Iterator[Fault]:
        if isinstance(self.cursor, str) and read_cursor(self.cursor) is None:
            message = "must be a nextCursor from a listTestClockEvents result"
            yield Fault("cursor", "format", message, truncate(self.cursor))


@Operation(
    "listTestClockEvents",
    EventPage,
    needs=Permission.READ,
    examples={
        "All of January": {"id": EXAMPLE_CLOCK, "openingBalances": {"EUR": 1000}},
        "What is still to come, one event at a time": {
            "id": EXAMPLE_CLOCK,
            "after": "2027-02-01T00:00:00Z",
            "until": "2037-01-01T00:00:00Z",
            "limit": 1,
        },
    },
)
async def list_test_clock_events(params: EventsEntry, caller: Caller, services: Services) -> bytes:
    """List what happened to a clock, and what will happen.

    Returns events after `after`, up to and including `until`, in order of time. Among events of one instant,
    transactions come first, then transfers, then goals in the order of the request. An event after the clock's
    `frozenTime` is pending. The ID of an event never changes. Pass `nextCursor` as `cursor` to get the next page.
    """
    clock, schedule = await services.clocks.find(params.id, caller)
    until = params.until or clock.frozen_time
    faults = range_faults("until", params.until, clock)
    latest = clock.max_time if faults else until
    faults += time_faults("after", params.after, clock.start_time, latest, "the clock's start and until")
    reject(faults + opening_faults(schedule, params.opening_balances))
    cursor = read_cursor(params.cursor or "")
    cached = await services.ledgers.get(clock, schedule)
    limit, opening = params.limit, cached.ledger.opening_balances(params.opening_balances)
    page = cached.events.page(EventQuery(clock.frozen_time, until, limit, params.after or None, cursor, opening))
    next_cursor = b',"nextCursor":"%b"' % page.next_cursor.encode() if page.next_cursor else b""
    return b'{"events":[%b]%b}' % (await join_events(page.events), next_cursor)
