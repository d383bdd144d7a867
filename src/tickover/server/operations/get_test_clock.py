"""getTestClock: return a clock, now or at a later instant."""

from typing import Annotated

from msgspec import UNSET, UnsetType

from tickover.api.clocks import OneClock
from tickover.api.fields import ClockId, Params, doc
from tickover.api.timestamps import Instant
from tickover.server.operations import sizes
from tickover.server.operations.clocks import CLOCK_REASONS, EXAMPLE_CLOCK, TIME_REASONS, check_time, clock_result
from tickover.server.operations.operation import VIEW, Caller, Example, Operation, Permission, Services


class GetEntry(Params, frozen=True):
    """The parameters of getTestClock. With `at`, the result is a preview."""

    id: ClockId
    at: Annotated[
        Instant | UnsetType,
        doc(
            "Returns the clock as it would be at this instant, from its `frozenTime` to its `maxTime` inclusive. "
            "Default: its `frozenTime`."
        ),
    ] = UNSET
    details: Annotated[bool, doc("Whether the clock has its `startTime`, and each goal its `initialAmount`.")] = False


async def get_test_clock(params: GetEntry, caller: Caller, services: Services) -> bytes:
    clock, schedule = await services.clocks.find(params.id, caller)
    at = params.at or clock.frozen_time
    check_time(at, clock)
    return clock_result(clock, schedule, at, details=params.details)


OPERATION = Operation(
    name="getTestClock",
    summary="Return a clock, now or at a later instant",
    description="This never moves the clock.",
    params=GetEntry,
    result=OneClock,
    handler=get_test_clock,
    needs=Permission.READ,
    is_idempotent=True,
    cost=VIEW,
    max_result=sizes.CLOCK,
    reasons=(*CLOCK_REASONS, *TIME_REASONS),
    examples=(Example("As it would be in March", {"id": EXAMPLE_CLOCK, "at": "2027-03-01T00:00:00Z"}),),
)
