from tickover.server.operations.operation import Caller, NoParams, Operation, Services


@Operation(
    "rpc.discover",
    None,
    needs=None,
    can_be_repeated=True,
    examples={},
)
async def discover(params: NoParams, caller: Caller, services: Services) -> bytes:
    """Describe all operations in an OpenRPC document.

    The document doesn't describe this operation itself, because OpenRPC implies it.
    """
    return services.describe()
