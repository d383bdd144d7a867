from typing import Annotated

from tickover.api import ids
from tickover.api.access_tokens import Done
from tickover.api.errors import Fault, invalid_params
from tickover.api.fields import Text, doc
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, ClockParams, live_key, not_found


class DisconnectEntry(ClockParams, frozen=True):
    connection_id: Annotated[Text, doc("The ID of a connection of this clock.")]


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
async def disconnect_test_clock(params: DisconnectEntry, caller: Caller, services: Services) -> Done:
    """End a connection of a clock.

    The connection's secrets stop working immediately, on every server.
    """
    clock_key, key = live_key(params.id, caller.now), ids.read("conn", params.connection_id)
    deleted = await services.store.delete_connection(key or b"\0" * 16, clock_key, caller.token)
    if deleted is None:
        raise not_found()
    if not deleted:
        fault = Fault("connectionId", "existing", "must be the ID of a connection of this clock")
        raise invalid_params([fault])
    return Done()
