"""Operations on bearer tokens, and authentication."""

from tickover.api.errors import Reason, Rejection
from tickover.api.results import Done
from tickover.server.domain import tokens
from tickover.server.domain.logins import LogoutParams
from tickover.server.operations.callers import Caller
from tickover.server.storage.store import Store


class TokenOperations:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def authenticate(self, token: str | None, caller: Caller) -> Caller:
        """Return the caller with the token's user. Raise UNAUTHENTICATED if the token is missing or invalid."""
        digest = tokens.digest(token or "")
        user = await self._store.user_of_token(digest, caller.now) if token else None
        if user is None:
            message = "A valid bearer token is required. Sign in, and send it as: Authorization: Bearer <token>"
            raise Rejection(Reason.UNAUTHENTICATED, message)
        return Caller(caller.now, caller.network, user, digest)

    async def logout(self, params: LogoutParams, caller: Caller) -> Done:
        await self._store.revoke_token(caller.token_digest)
        return Done()
