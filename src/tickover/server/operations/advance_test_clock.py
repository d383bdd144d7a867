from typing import Annotated

from tickover.api.clocks import OneClock
from tickover.api.fields import doc
from tickover.api.timestamps import Instant
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, TIME_REASONS, ClockParams, check_time, clock_result


class AdvanceEntry(ClockParams, frozen=True):
    frozen_time: Annotated[Instant, doc("The new simulated time, from the clock's `frozenTime` to its `maxTime`.")]


@Operation(
    "advanceTestClock",
    OneClock,
    needs=Permission.WRITE,
    is_core=True,
    can_be_repeated=True,
    reasons=TIME_REASONS,
    examples={"By a month": {"id": EXAMPLE_CLOCK, "frozenTime": "2027-02-01T00:00:00Z"}},
)
async def advance_test_clock(params: AdvanceEntry, caller: Caller, services: Services) -> bytes:
    """Move a clock forward.

    Items dated at or before the new `frozenTime` become posted. Advancing to the current `frozenTime` changes nothing,
    so you can retry a call whose response was lost. Time only moves forward; to rewind, fork the clock.
    """
    advance = services.store.advance_clock
    clock, schedule = await services.clocks.load(params.id, caller, advance, params.frozen_time)
    check_time(params.frozen_time, clock)
    return clock_result(clock, schedule)
