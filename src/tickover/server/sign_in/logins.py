"""Sign-in: codes and links, their lifetimes, and the limits on emails and attempts."""

from datetime import timedelta
from enum import StrEnum
from math import ceil
from typing import Final

from msgspec import Struct

from tickover.api.limits import (
    CODE_LIFETIME,
    CODE_TRIES,
    FAILURES_IN_A_ROW,
    LINK_LIFETIME,
    RESEND_INTERVAL,
    SENDS_AN_HOUR,
    SENDS_AN_HOUR_FROM_ONE_NETWORK,
)
from tickover.api.timestamps import Instant


class SecretKind(StrEnum):
    """The kind of secret in an email."""

    CODE = "CODE"
    LINK = "LINK"


class SendLimits(Struct, frozen=True):
    """Limits until the next sign-in. The operator can change those of emails."""

    resend_interval: timedelta = RESEND_INTERVAL
    sends_an_hour: int = SENDS_AN_HOUR
    sends_an_hour_from_one_network: int = SENDS_AN_HOUR_FROM_ONE_NETWORK
    code_tries: int = CODE_TRIES
    failures_in_a_row: int = FAILURES_IN_A_ROW
    failure_lifetime: timedelta | None = None
    """How long after the last failure the failures count. None means until a sign-in."""


HOUR: Final = timedelta(hours=1)
MAX_DISORDER: Final = timedelta(minutes=10)
"""Concurrent emails may be recorded out of order. A time later than this means that the wall clock was set back."""
LIFETIMES: Final = {SecretKind.CODE: CODE_LIFETIME, SecretKind.LINK: LINK_LIFETIME}


class LoginEmail(Struct, frozen=True):
    """The record of an email: the digest of its secret, its address and its time."""

    digest: bytes
    email: str
    kind: SecretKind
    sent_at: Instant
    network: bytes
    """A digest of the caller's network."""
    is_mailed: bool = True
    """Whether the resend interval applies. Fixed codes aren't mailed."""

    @property
    def expires_at(self) -> Instant:
        """The first instant at which the secret is invalid."""
        return self.sent_at + LIFETIMES[self.kind]


class CountedAttempt(Struct, frozen=True):
    """A counted attempt, with the digest that the code must match."""

    digest: bytes
    sent_at: Instant


class Claimed(Struct, frozen=True):
    """The email may be sent. If `codes_stopped`, the address accepts no codes until it signs in with a link."""

    codes_stopped: bool


class TooSoon(Struct, frozen=True):
    """The email must wait until `interval` after `since`. `by_last_email` means the resend interval, not a quota."""

    since: Instant
    interval: timedelta
    by_last_email: bool

    def retry_after_seconds(self, now: Instant) -> int:
        """Return the seconds to wait, from 1 to the interval, even if the wall clock was set back."""
        wait = min(self.since + self.interval - now, self.interval)
        return max(1, ceil(wait.total_seconds()))
