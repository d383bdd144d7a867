from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, field

from tickover.api.connections import (
    CallsPerDay,
    Faults,
    OneConnection,
    Quirks,
    fault_faults,
    quirk_faults,
)
from tickover.api.errors import Fault, reject
from tickover.api.fields import doc
from tickover.api.timestamps import Instant
from tickover.server.operations.connect_test_clock import (
    ConnectionParams,
    read_webhook,
    to_result,
    unknown_connection,
    webhook_faults,
)
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, live_key, not_found
from tickover.server.webhook_calls import MAX_URL


class UpdateConnectionEntry(ConnectionParams, frozen=True):
    bank_faults: Annotated[Faults | None | UnsetType, doc("New failures of the bank, or null for none.")] = field(
        default=UNSET, name="faults"
    )
    quirks: Annotated[Quirks | None | UnsetType, doc("New quirks of the bank, or null for none.")] = UNSET
    calls_per_day: Annotated[CallsPerDay | None | UnsetType, doc("A new limit, or null for none.")] = UNSET
    webhook: Annotated[
        Annotated[str, Meta(max_length=MAX_URL)] | None | UnsetType, doc("A new URL to call, or null for none.")
    ] = UNSET

    def faults(self, now: Instant) -> Iterator[Fault]:
        yield from fault_faults(self.bank_faults)
        yield from quirk_faults(self.quirks)


@Operation(
    "updateTestClockConnection",
    OneConnection,
    needs=Permission.WRITE,
    can_be_repeated=True,
    examples={
        "The bank tells late from now on": {
            "id": EXAMPLE_CLOCK,
            "connectionId": "conn_01a2d121-c120-7df2-85ad-a9080238cdc2",
            "quirks": ["TELLS_LATE"],
        }
    },
)
async def update_test_clock_connection(
    params: UpdateConnectionEntry, caller: Caller, services: Services
) -> OneConnection:
    """Change how the bank of a connection behaves.

    Replaces what you pass, and `null` removes it. The next sync of the app brings the difference. A new `callsPerDay`
    counts the calls that were made before.
    """
    clock_key, key = live_key(params.id, caller.now), params.key
    given = {name: getattr(params, name) for name in ("bank_faults", "quirks", "calls_per_day")}
    changes: dict[str, Any]
    changes = {name: UNSET if value is None else value for name, value in given.items() if value is not UNSET}
    if params.webhook is not UNSET:
        changes["webhook"] = read_webhook(params.webhook, services)
    if params.webhook or "NO_IDS" in (params.quirks or ()):
        # These depend on the protocol, which never changes.
        connections = await services.store.list_connections(clock_key, caller.token) or ()
        protocol = next((found.protocol for found in connections if found.key == key), None)
        reject([*quirk_faults(params.quirks, protocol), *webhook_faults(params.webhook, protocol)])
    updated = await services.store.update_connection(key, clock_key, caller.token, changes)
    if updated is None:
        raise not_found()
    if not updated:
        raise unknown_connection()
    services.clock_changed(clock_key)
    if params.webhook:
        services.webhook_changed()
    return OneConnection(to_result(updated))
