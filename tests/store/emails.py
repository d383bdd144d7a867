"""Emails with codes and links, and a guesser who tries codes."""

from collections.abc import Callable
from datetime import timedelta
from itertools import count

from tests.store.values import ANA, NOW, SECOND, digest, session
from tickover.api.timestamps import Instant
from tickover.server.sign_in.logins import Claimed, Limits, LoginEmail, SecretKind, TooSoon
from tickover.server.storage.store import Store

HERE, THERE = b"network: here...", b"network: there.."

LIMITS = Limits()
HOURLY_LIMITS_ONLY = Limits(resend_interval=timedelta(0))
"""No interval between emails, so that only the hourly limits apply."""


def code(number: int, sent_at: Instant = NOW, email: str = ANA, network: bytes = HERE) -> LoginEmail:
    return LoginEmail(digest(number), email, SecretKind.CODE, sent_at, network)


def link(number: int, sent_at: Instant = NOW, email: str = ANA, network: bytes = HERE) -> LoginEmail:
    return LoginEmail(digest(number), email, SecretKind.LINK, sent_at, network)


async def sent(store: Store, send: LoginEmail, limits: Limits = HOURLY_LIMITS_ONLY) -> LoginEmail:
    """Record an email that the limits must allow."""
    assert isinstance(await store.claim_send(send, limits), Claimed)
    return send


class Guesser:
    """A user whom only a limit of ten failures stops. Emails are sent a second apart."""

    limits = Limits(timedelta(0), sends_an_hour=0, sends_an_hour_from_one_network=0, failures_in_a_row=10)

    def __init__(self, store: Store) -> None:
        self.now = NOW
        self._store = store
        self._numbers = count()

    async def send(
        self, kind: Callable[..., LoginEmail] = code, email: str = ANA
    ) -> tuple[LoginEmail, Claimed | TooSoon]:
        self.now += SECOND
        message = kind(next(self._numbers), self.now, email)
        return message, await self._store.claim_send(message, self.limits)

    async def try_code(self, email: str = ANA) -> bool:
        """Return whether the store compares a try with the newest code."""
        return await self._store.count_attempt(email, self.limits, self.now) is not None

    async def fail(self, times: int, email: str = ANA) -> None:
        """Make this many counted tries, five for each code."""
        for done in range(0, times, 5):
            await self.send(code, email)
            for _ in range(min(5, times - done)):
                assert await self.try_code(email)

    async def sign_in(self, by_link: bool) -> None:
        message, _ = await self.send(link if by_link else code)
        new = session(1_000_000 + next(self._numbers), self.now)
        if by_link:
            assert await self._store.redeem_link(message.digest, new) is not None
        else:
            assert await self._store.redeem_code(ANA, message.digest, new) is not None
