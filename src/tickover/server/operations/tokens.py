"""Operations on bearer tokens, and authentication."""

from tickover.api import ids
from tickover.api.errors import Reason, Rejection
from tickover.api.results import CurrentUser, Done, TokenInfo
from tickover.server.domain import tokens
from tickover.server.domain.logins import GetCurrentUserParams, LogoutParams
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
            raise _unauthenticated()
        return Caller(caller.now, caller.network, user, digest)

    async def get_current_user(self, params: GetCurrentUserParams, caller: Caller) -> CurrentUser:
        session = await self._store.find_session(caller.token_digest, caller.now)
        if session is None:
            # The token was revoked after the authentication.
            raise _unauthenticated()
        return CurrentUser(ids.write("user", session.user), session.email, TokenInfo("SESSION", session.expires_at))

    async def logout(self, params: LogoutParams, caller: Caller) -> Done:
        await self._store.revoke_token(caller.token_digest)
        return Done()


def _unauthenticated() -> Rejection:
    message = "A valid bearer token is required. Sign in, and send it as: Authorization: Bearer <token>"
    return Rejection(Reason.UNAUTHENTICATED, message)
