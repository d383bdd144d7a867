"""listTestClockConnections: list the connections of a clock, oldest first."""

from tickover.api.connections import Connections
from tickover.api.fields import ClockId, Params
from tickover.api.limits import MAX_CONNECTIONS
from tickover.server.operations.clocks import CLOCK_REASONS, EXAMPLE_CLOCK, live_key, not_found
from tickover.server.operations.connections import MAX_CONNECTION_SIZE, to_result
from tickover.server.operations.operation import Caller, Example, Operation, Permission, Services


class ListConnectionsEntry(Params, frozen=True):
    """The parameters of listTestClockConnections."""

    id: ClockId


async def list_test_clock_connections(params: ListConnectionsEntry, caller: Caller, services: Services) -> Connections:
    found = await services.store.list_connections(live_key(params.id, caller.now), caller.token)
    if found is None:
        raise not_found()
    return Connections([to_result(connection) for connection in found])


OPERATION = Operation(
    name="listTestClockConnections",
    summary="List the connections of a clock, oldest first",
    description="Lists connections whether or not a program uses them. Their secrets aren't shown again.",
    params=ListConnectionsEntry,
    result=Connections,
    handler=list_test_clock_connections,
    needs=Permission.READ,
    is_idempotent=True,
    max_result=64 + MAX_CONNECTIONS * MAX_CONNECTION_SIZE,
    reasons=CLOCK_REASONS,
    examples=(Example("Two connections", {"id": EXAMPLE_CLOCK}),),
)
