from tickover.api.access_tokens import Done
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import ClockParams, live_key, not_found


@Operation(
    "deleteTestClock",
    Done,
    needs=Permission.WRITE,
    can_be_repeated=True,
    examples={"The fork": {"id": "clock_01a2d121-c120-7da7-88a6-1e029a8a5b02"}},
)
async def delete_test_clock(params: ClockParams, caller: Caller, services: Services) -> Done:
    """Delete a clock.

    Deletes the clock and its schedule immediately. You can reuse its idempotency keys.
    """
    if not await services.store.delete_clock(live_key(params.id, caller.now), caller.token):
        raise not_found()
    return Done()
