"""advanceTestClock: move a clock forward."""

from typing import Annotated

from tickover.api.clocks import OneClock
from tickover.api.fields import ClockId, Params, doc
from tickover.api.timestamps import Instant
from tickover.server.operations import sizes
from tickover.server.operations.clocks import CLOCK_REASONS, EXAMPLE_CLOCK, TIME_REASONS, check_time, clock_result
from tickover.server.operations.operation import VIEW, Caller, Example, Operation, Permission, Services


class AdvanceEntry(Params, frozen=True):
    """The parameters of advanceTestClock."""

    id: ClockId
    frozen_time: Annotated[
        Instant, doc("The new simulated time, from the clock's `frozenTime` to its `maxTime` inclusive.")
    ]


async def advance_test_clock(params: AdvanceEntry, caller: Caller, services: Services) -> bytes:
    advance = services.store.advance_clock
    clock, schedule = await services.clocks.load(params.id, caller, advance, params.frozen_time)
    check_time(params.frozen_time, clock)
    return clock_result(clock, schedule)


OPERATION = Operation(
    name="advanceTestClock",
    summary="Move a clock forward",
    description=(
        "Items dated at or before the new `frozenTime` become posted. Advancing to the current `frozenTime` changes "
        "nothing, so you can retry a call whose response was lost. Time only moves forward; to rewind, fork the clock."
    ),
    params=AdvanceEntry,
    result=OneClock,
    handler=advance_test_clock,
    needs=Permission.WRITE,
    is_extension=False,
    is_idempotent=True,
    cost=VIEW,
    max_result=sizes.CLOCK,
    reasons=(*CLOCK_REASONS, *TIME_REASONS),
    examples=(Example("By a month", {"id": EXAMPLE_CLOCK, "frozenTime": "2027-02-01T00:00:00Z"}),),
)
