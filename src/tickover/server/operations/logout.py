from tickover.api.access_tokens import Done
from tickover.api.errors import unauthenticated
from tickover.server.operations.operation import Caller, NoParams, Operation, Permission, Services


@Operation("logout", Done, needs=Permission.SESSION, examples={"Signing out": {}})
async def logout(params: NoParams, caller: Caller, services: Services) -> Done:
    """Revoke the token in use.

    Your other tokens stay valid. To revoke an access token, call `revokeAccessToken`.
    """
    # With a development outbox, nobody waits a minute to sign in again.
    if not await services.store.revoke_token(caller.token.digest, allow_resend=services.mailer.is_local):
        raise unauthenticated()
    services.access.forget(caller.token)
    return Done()
