from tickover.api.connections import Connections
from tickover.server.operations.connect_test_clock import to_result
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, ClockParams, live_key, not_found


@Operation(
    "listTestClockConnections",
    Connections,
    needs=Permission.READ,
    examples={"Two connections": {"id": EXAMPLE_CLOCK}},
)
async def list_test_clock_connections(params: ClockParams, caller: Caller, services: Services) -> Connections:
    """List the connections of a clock, oldest first.

    Lists connections whether or not a program uses them. Their secrets aren't shown again.
    """
    found = await services.store.list_connections(live_key(params.id, caller.now), caller.token)
    if found is None:
        raise not_found()
    return Connections([to_result(connection) for connection in found])
