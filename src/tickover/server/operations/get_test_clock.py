from typing import Annotated

from msgspec import UNSET, UnsetType

from tickover.api.clocks import OneClock
from tickover.api.fields import doc
from tickover.api.timestamps import Instant
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, TIME_REASONS, ClockParams, check_time, clock_result


class GetEntry(ClockParams, frozen=True):
    """The parameters of getTestClock. With `at`, the result is a preview."""

    at: Annotated[
        Instant | UnsetType,
        doc("Previews the clock at this instant, from its `frozenTime` to its `maxTime`. Default: its `frozenTime`."),
    ] = UNSET
    details: Annotated[bool, doc("Whether the clock has its `startTime`, and each goal its `initialAmount`.")] = False


@Operation(
    "getTestClock",
    OneClock,
    needs=Permission.READ,
    reasons=TIME_REASONS,
    examples={"As it would be in March": {"id": EXAMPLE_CLOCK, "at": "2027-03-01T00:00:00Z"}},
)
async def get_test_clock(params: GetEntry, caller: Caller, services: Services) -> bytes:
    """Return a clock, now or at a later instant.

    This never moves the clock.
    """
    clock, schedule = await services.clocks.find(params.id, caller)
    at = params.at or clock.frozen_time
    check_time(at, clock)
    return clock_result(clock, schedule, at=at, details=params.details)
