from typing import Literal

from tickover.api import ids
from tickover.api.access_tokens import CurrentUser, TokenInfo
from tickover.api.errors import unauthenticated
from tickover.server.operations.operation import Caller, NoParams, Operation, Permission, Services


@Operation("getCurrentUser", CurrentUser, needs=Permission.READ, examples={"The token of a sign-in": {}})
async def get_current_user(params: NoParams, caller: Caller, services: Services) -> CurrentUser:
    """Return your user and the token in use.

    Use it to check a token.
    """
    token = caller.token
    email = await services.store.find_email(token.digest)
    if email is None:
        raise unauthenticated()
    kind: Literal["SESSION", "ACCESS"] = "SESSION" if token.permission is Permission.SESSION else "ACCESS"
    return CurrentUser(ids.write("user", token.user), email, TokenInfo(kind, token.expires_at))
