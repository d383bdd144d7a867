from typing import Annotated

from msgspec import Meta

from tickover.api.connections import ConnectionCalls
from tickover.api.fields import doc
from tickover.api.limits import MAX_CONNECTION_CALLS
from tickover.server.operations.connect_test_clock import ConnectionParams, unknown_connection
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, live_key, not_found


class ListCallsEntry(ConnectionParams, frozen=True):
    limit: Annotated[Annotated[int, Meta(ge=1, le=MAX_CONNECTION_CALLS)], doc("The most calls to return.")] = (
        MAX_CONNECTION_CALLS
    )


@Operation(
    "listConnectionCalls",
    ConnectionCalls,
    needs=Permission.READ,
    examples={
        "What the app has asked": {
            "id": EXAMPLE_CLOCK,
            "connectionId": "conn_01a2d121-c120-7df2-85ad-a9080238cdc2",
        }
    },
)
async def list_connection_calls(params: ListCallsEntry, caller: Caller, services: Services) -> ConnectionCalls:
    """List the last calls that an app made with a connection, newest first.

    Has the last {MAX_CONNECTION_CALLS} calls after the app claimed the connection. With several servers, calls appear
    after a second.
    """
    clock_key = live_key(params.id, caller.now)
    await services.call_log.store(params.key, caller.now)
    found = await services.store.list_bank_calls(params.key, clock_key, caller.token)
    if found is None:
        raise not_found()
    if found is False:
        raise unknown_connection()
    return ConnectionCalls(found[::-1][: params.limit])
