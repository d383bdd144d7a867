"""deleteTestClock: delete a clock."""

from tickover.api.fields import ClockId, Params
from tickover.api.tokens import Done
from tickover.server.operations.clocks import CLOCK_REASONS, live_key, not_found
from tickover.server.operations.operation import Caller, Example, Operation, Permission, Services


class DeleteEntry(Params, frozen=True):
    """The parameters of deleteTestClock."""

    id: ClockId


async def delete_test_clock(params: DeleteEntry, caller: Caller, services: Services) -> Done:
    if not await services.store.delete_clock(live_key(params.id, caller.now), caller.token):
        raise not_found()
    return Done()


OPERATION = Operation(
    name="deleteTestClock",
    summary="Delete a clock",
    description="Deletes the clock and its schedule immediately. You can reuse its idempotency keys.",
    params=DeleteEntry,
    result=Done,
    handler=delete_test_clock,
    needs=Permission.WRITE,
    is_idempotent=True,
    reasons=CLOCK_REASONS,
    examples=(Example("The fork", {"id": "clock_01a2d121-c120-7da7-88a6-1e029a8a5b02"}),),
)
