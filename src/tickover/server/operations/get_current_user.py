from typing import Literal

from tickover.api import ids
from tickover.api.errors import unauthenticated
from tickover.api.tokens import CurrentUser, TokenInfo
from tickover.server.operations.operation import Caller, NoParams, Operation, Permission, Services


@Operation("getCurrentUser", CurrentUser, needs=Permission.READ, examples={"The token of a sign-in": {}})
async def get_current_user(params: NoParams, caller: Caller, services: Services) -> CurrentUser:
    """Return your user and the token in use.

    Use it to check a token.
    """
    session = await services.store.find_session(caller.token.digest, caller.now)
    if session is None:
        raise unauthenticated()
    kind: Literal["SESSION", "ACCESS"] = "SESSION" if caller.token.permission is Permission.SESSION else "ACCESS"
    return CurrentUser(ids.write("user", session.user), session.email, TokenInfo(kind, session.expires_at))
