from typing import Final

from tickover.server.operations.operation import Caller, NoParams, Operation, Services

_MAX_RESULT: Final = 256 * 1024


@Operation(
    "rpc.discover",
    None,
    needs=None,
    is_idempotent=True,
    cost=lambda *_: _MAX_RESULT,
    max_result=_MAX_RESULT,
    examples={},
)
async def discover(params: NoParams, caller: Caller, services: Services) -> bytes:
    """Describe all operations in an OpenRPC document.

    The document doesn't describe this operation itself, because OpenRPC implies it.
    """
    return services.describe()
