"""getCurrentUser: return your user and the token in use."""

from typing import Literal

from tickover.api import ids
from tickover.api.errors import unauthenticated
from tickover.api.fields import Params
from tickover.api.tokens import CurrentUser, TokenInfo
from tickover.server.operations.operation import Caller, Example, Operation, Permission, Services


class CurrentUserEntry(Params, frozen=True):
    """getCurrentUser has no parameters."""


async def get_current_user(params: CurrentUserEntry, caller: Caller, services: Services) -> CurrentUser:
    session = await services.store.find_session(caller.token.digest, caller.now)
    if session is None:
        raise unauthenticated()
    kind: Literal["SESSION", "ACCESS"] = "SESSION" if caller.token.permission is Permission.SESSION else "ACCESS"
    return CurrentUser(ids.write("user", session.user), session.email, TokenInfo(kind, session.expires_at))


OPERATION = Operation(
    name="getCurrentUser",
    summary="Return your user and the token in use",
    description="Use it to check a token.",
    params=CurrentUserEntry,
    result=CurrentUser,
    handler=get_current_user,
    needs=Permission.READ,
    is_idempotent=True,
    examples=(Example("The token of a sign-in", {}),),
)
