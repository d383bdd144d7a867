from tickover.api import ids
from tickover.api.access_tokens import AccessToken, AccessTokens
from tickover.server.operations.operation import Caller, NoParams, Operation, Permission, Services


@Operation(
    "listAccessTokens",
    AccessTokens,
    needs=Permission.SESSION,
    can_be_repeated=True,
    examples={"One token": {}},
)
async def list_access_tokens(params: NoParams, caller: Caller, services: Services) -> AccessTokens:
    """List your live access tokens, newest first.

    Doesn't list expired tokens.
    """
    found = await services.store.list_access_tokens(caller.token, caller.now)
    return AccessTokens(
        [
            AccessToken(
                ids.write("token", token.key),
                token.name,
                token.read_only,
                token.created_at,
                token.expires_at,
                token.last_used_on and token.last_used_on.date(),
            )
            for token in found
        ]
    )
