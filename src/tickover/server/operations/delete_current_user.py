from tickover.api.access_tokens import Done
from tickover.api.errors import unauthenticated
from tickover.server.operations.operation import Caller, NoParams, Operation, Permission, Services


@Operation("deleteCurrentUser", Done, needs=Permission.SESSION, examples={"Everything": {}})
async def delete_current_user(params: NoParams, caller: Caller, services: Services) -> Done:
    """Delete your user, with all clocks, connections and tokens.

    This can't be undone. If you sign in again later, you are a new user.
    """
    if not await services.store.delete_user(caller.token.digest, caller.now):
        raise unauthenticated()
    services.access.forget(caller.token)
    return Done()
