from typing import Annotated

from tickover.api.access_tokens import Done
from tickover.api.errors import unauthenticated
from tickover.api.fields import Params, doc
from tickover.server.operations.operation import Caller, Operation, Permission, Services


class LogoutEntry(Params, frozen=True):
    everywhere: Annotated[bool, doc("Whether to revoke the tokens of all your sign-ins.")] = False


@Operation("logout", Done, needs=Permission.SESSION, examples={"Signing out": {}})
async def logout(params: LogoutEntry, caller: Caller, services: Services) -> Done:
    """Revoke the token in use, or with `everywhere` the tokens of all your sign-ins.

    Access tokens stay valid. To revoke one, call `revokeAccessToken`.
    """
    # With a development outbox, nobody waits a minute to sign in again.
    allow_resend, digest = services.mailer.is_local, caller.token.digest
    if not await services.store.revoke_token(digest, allow_resend=allow_resend, all_sessions=params.everywhere):
        raise unauthenticated()
    services.access.forget(caller.token)
    return Done()
