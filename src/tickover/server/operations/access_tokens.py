"""Operations on access tokens, which users create for programs."""

from datetime import timedelta
from math import ceil

from tickover.api import ids
from tickover.api.errors import Fault, Reason, Rejection, invalid_params
from tickover.api.limits import MAX_ACCESS_TOKENS
from tickover.api.timestamps import Instant
from tickover.api.tokens import AccessToken, AccessTokens, CreatedAccessToken, Done
from tickover.server.domain import tokens
from tickover.server.domain.access_tokens import (
    CreateAccessTokenEntry,
    ListAccessTokensEntry,
    RevokeAccessTokenEntry,
)
from tickover.server.domain.tokens import Mint
from tickover.server.operations.callers import Caller
from tickover.server.storage.store import NewAccessToken, Owner, Store, TooManyTokens


class AccessTokenOperations:
    def __init__(self, store: Store, mint: Mint) -> None:
        self._store = store
        self._mint = mint

    async def create_access_token(self, params: CreateAccessTokenEntry, caller: Caller) -> CreatedAccessToken:
        return await self.create(params, caller.token, caller.now)

    async def create(self, params: CreateAccessTokenEntry, owner: Owner, now: Instant) -> CreatedAccessToken:
        token = self._mint.new_access_token()
        expires_at = now + timedelta(days=int(params.expires_in_days))
        key = self._mint.new_key(now)
        new = NewAccessToken(key, tokens.digest(token), params.name, params.read_only, now, expires_at)
        outcome = await self._store.create_access_token(new, owner, MAX_ACCESS_TOKENS)
        if isinstance(outcome, TooManyTokens):
            raise _too_many(outcome, now)
        return CreatedAccessToken(ids.write("token", key), token, params.name, params.read_only, expires_at)

    async def list_access_tokens(self, params: ListAccessTokensEntry, caller: Caller) -> AccessTokens:
        found = await self._store.list_access_tokens(caller.token, caller.now)
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

    async def revoke_access_token(self, params: RevokeAccessTokenEntry, caller: Caller) -> Done:
        key = ids.read_token_id(params.id)
        if key is None or not await self._store.revoke_access_token(key, caller.token, caller.now):
            fault = Fault("id", "existing", "must be the ID of one of your access tokens")
            raise invalid_params("revokeAccessToken", [fault])
        return Done()


def _too_many(outcome: TooManyTokens, now: Instant) -> Rejection:
    wait = ceil((outcome.first_expires_at - now).total_seconds())
    message = f"You have {MAX_ACCESS_TOKENS} access tokens, which is the limit. Revoke one first."
    return Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})
