"""listAccessTokens: list your live access tokens, newest first."""

from tickover.api import ids
from tickover.api.fields import Params
from tickover.api.limits import MAX_ACCESS_TOKENS, MAX_TOKEN_NAME
from tickover.api.tokens import AccessToken, AccessTokens
from tickover.server.operations import sizes
from tickover.server.operations.operation import NEEDS_SIGN_IN, Caller, Example, Operation, Permission, Services


class ListAccessTokensEntry(Params, frozen=True):
    """listAccessTokens has no parameters."""


async def list_access_tokens(params: ListAccessTokensEntry, caller: Caller, services: Services) -> AccessTokens:
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


OPERATION = Operation(
    name="listAccessTokens",
    summary="List your live access tokens, newest first",
    description=f"Doesn't list expired tokens. {NEEDS_SIGN_IN}",
    params=ListAccessTokensEntry,
    result=AccessTokens,
    handler=list_access_tokens,
    needs=Permission.SESSION,
    is_idempotent=True,
    max_result=64 + MAX_ACCESS_TOKENS * (256 + sizes.CHARACTER * MAX_TOKEN_NAME),
    examples=(Example("One token", {}),),
)
