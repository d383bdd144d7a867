from tickover.api.access_tokens import Done
from tickover.server.operations.connect_test_clock import ConnectionParams, unknown_connection
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, live_key, not_found


@Operation(
    "disconnectTestClock",
    Done,
    needs=Permission.WRITE,
    examples={
        "The connection of the first example": {
            "id": EXAMPLE_CLOCK,
            "connectionId": "conn_01a2d121-c120-7df2-85ad-a9080238cdc2",
        }
    },
)
async def disconnect_test_clock(params: ConnectionParams, caller: Caller, services: Services) -> Done:
    """End a connection of a clock.

    The connection's secrets stop working immediately, on every server.
    """
    clock_key = live_key(params.id, caller.now)
    deleted = await services.store.delete_connection(params.key, clock_key, caller.token)
    if deleted is None:
        raise not_found()
    if not deleted:
        raise unknown_connection()
    return Done()
