"""logout: revoke the token in use."""

from tickover.api.errors import unauthenticated
from tickover.api.fields import Params
from tickover.api.tokens import Done
from tickover.server.operations.operation import Caller, Example, Operation, Permission, Services


class LogoutEntry(Params, frozen=True):
    """logout has no parameters."""


async def logout(params: LogoutEntry, caller: Caller, services: Services) -> Done:
    # With a development outbox, nobody waits a minute to sign in again.
    if not await services.store.revoke_token(caller.token.digest, allow_resend=services.mailer.is_local):
        raise unauthenticated()
    services.access.forget(caller.token)
    return Done()


OPERATION = Operation(
    name="logout",
    summary="Revoke the token in use",
    description="Your other tokens stay valid. To revoke an access token, call `revokeAccessToken`.",
    params=LogoutEntry,
    result=Done,
    handler=logout,
    needs=Permission.SESSION,
    examples=(Example("Signing out", {}),),
)
