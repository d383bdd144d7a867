"""Who calls an operation, and may: tokens, their permissions, and the rate limit of a client's network."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from tickover.api.errors import Reason, Rejection, unauthenticated
from tickover.api.timestamps import Instant
from tickover.server import gate
from tickover.server.lru_cache import LruCache
from tickover.server.sign_in.rate_limits import Buckets
from tickover.server.sign_in.tokens import Permission
from tickover.server.storage.store import IdempotencyRecord, Store, Token

_MAX_KNOWN_TOKENS: Final = 10_000


class Caller(Struct, frozen=True, gc=False):
    """The caller, its network, and the time of the call."""

    now: Instant
    network: str
    given_token: Token | None = None
    """None for a call that needs no token."""
    idempotency_record: IdempotencyRecord | None = None
    """If the call has an Idempotency-Key header."""

    @property
    def token(self) -> Token:
        """The token of a call that needs one."""
        assert self.given_token is not None
        return self.given_token


class Access:
    def __init__(self, store: Store, client_burst: int, client_refill: float) -> None:
        self._store = store
        self._known: LruCache[bytes, Token] = LruCache(_MAX_KNOWN_TOKENS)
        self._buckets = Buckets(client_burst, client_refill)

    def check_client_limit(self, caller: Caller) -> None:
        """Count a call of the client's network. Raise RATE_LIMITED if there were too many."""
        wait = self._buckets.take(caller.network, caller.now)
        if wait:
            message = f"Too many calls from your IP address. Try again in {wait} s."
            raise Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})

    def recall(self, digest: bytes | None) -> bytes | None:
        """Return the user of a token that was valid before."""
        known = None if digest is None else self._known.get(digest)
        return None if known is None else known.user

    def recognize(self, digest: bytes | None, caller: Caller) -> Caller | None:
        """Return the caller with the token of this digest, or None if it must be looked up.

        A token that was found before is not looked up again. It may have been revoked since, so every operation
        passes it to the store, which checks it in the same statement. That saves a round trip to the database. An
        access token is looked up once a day, to record its use.
        """
        known = None if digest is None else self._known.get(digest)
        if known is None or known.expires_at <= caller.now or _is_first_use(known, caller.now):
            return None
        return _with_token(caller, known)

    async def authenticate(self, digest: bytes | None, caller: Caller) -> Caller:
        """Return the caller with the token of this digest. Raise UNAUTHENTICATED if it is missing or invalid."""
        if digest is None:
            raise unauthenticated()
        return self.recognize(digest, caller) or _with_token(caller, await self._look_up(digest, caller))

    async def look_up(self, digest: bytes, caller: Caller) -> Caller:
        """Return the caller with the token of this digest, which is looked up even if it is known."""
        return _with_token(caller, await self._look_up(digest, caller))

    def check_permission(self, caller: Caller, needed: Permission) -> None:
        """Raise FORBIDDEN if the caller's token is not allowed to call an operation."""
        if caller.token.permission < needed:
            if needed is Permission.SESSION:
                message = "An access token can't call this operation. Use a token from a sign-in."
            else:
                message = "This access token is read-only. Use a token that can write."
            raise Rejection(Reason.FORBIDDEN, message)

    async def confirm_token(self, caller: Caller) -> None:
        """Raise UNAUTHENTICATED if the caller's token was revoked.

        Call it before another rejection: a known token was not looked up, and the operation may not have used it.
        """
        await self._look_up(caller.token.digest, caller)

    def forget(self, token: Token) -> None:
        """Look up a revoked token again at its next use."""
        self._known.remove(token.digest)

    async def _look_up(self, digest: bytes, caller: Caller) -> Token:
        found = await self._store.find_token(digest, caller.now)
        if found is None:
            self._known.remove(digest)
            raise unauthenticated()
        if _is_first_use(found, caller.now):
            day = _day(caller.now)
            await self._store.record_token_use(digest, day)
            found = replace(found, last_used_on=day)
        self._known.put(digest, found)
        return found


def _with_token(caller: Caller, token: Token) -> Caller:
    gate.identify(token.user)
    return Caller(caller.now, caller.network, token)


def _is_first_use(token: Token, now: Instant) -> bool:
    """Return whether this is the first use of an access token on this day."""
    if token.permission is Permission.SESSION:
        return False
    # If the wall clock was set back, the last day of use stays.
    return token.last_used_on is None or token.last_used_on < _day(now)


def _day(now: Instant) -> Instant:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
