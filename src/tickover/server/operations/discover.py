"""rpc.discover: describe all operations in an OpenRPC document."""

from typing import Final

from tickover.api.fields import Params
from tickover.server.operations.operation import Caller, Operation, Services

_MAX_RESULT: Final = 256 * 1024


class DiscoverEntry(Params, frozen=True):
    """rpc.discover has no parameters."""


async def discover(params: DiscoverEntry, caller: Caller, services: Services) -> bytes:
    return services.describe()


OPERATION = Operation(
    name="rpc.discover",
    summary="Describe all operations in an OpenRPC document",
    description="The document doesn't describe this operation itself, because OpenRPC implies it.",
    params=DiscoverEntry,
    result=None,
    handler=discover,
    needs=None,
    is_idempotent=True,
    cost=lambda *_: _MAX_RESULT,
    max_result=_MAX_RESULT,
    examples=(),
)
