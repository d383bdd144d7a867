"""disconnectTestClock: end a connection of a clock."""

from typing import Annotated

from tickover.api import ids
from tickover.api.errors import Fault, invalid_params
from tickover.api.fields import ClockId, Params, Text, doc
from tickover.api.tokens import Done
from tickover.server.operations.clocks import CLOCK_REASONS, EXAMPLE_CLOCK, live_key, not_found
from tickover.server.operations.operation import Caller, Example, Operation, Permission, Services


class DisconnectEntry(Params, frozen=True):
    """The parameters of disconnectTestClock."""

    id: ClockId
    connection_id: Annotated[Text, doc("The ID of a connection of this clock.")]


async def disconnect_test_clock(params: DisconnectEntry, caller: Caller, services: Services) -> Done:
    clock_key, key = live_key(params.id, caller.now), ids.read("conn", params.connection_id)
    deleted = await services.store.delete_connection(key or b"\0" * 16, clock_key, caller.token)
    if deleted is None:
        raise not_found()
    if not deleted:
        fault = Fault("connectionId", "existing", "must be the ID of a connection of this clock")
        raise invalid_params(OPERATION.name, [fault])
    return Done()


OPERATION = Operation(
    name="disconnectTestClock",
    summary="End a connection of a clock",
    description="The connection's secrets stop working immediately, on every server.",
    params=DisconnectEntry,
    result=Done,
    handler=disconnect_test_clock,
    needs=Permission.WRITE,
    reasons=CLOCK_REASONS,
    examples=(
        Example(
            "The connection of the first example",
            {"id": EXAMPLE_CLOCK, "connectionId": "conn_01a2d121-c120-7df2-85ad-a9080238cdc2"},
        ),
    ),
)
