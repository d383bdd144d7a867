"""Emails with a code or a link, and attempts to sign in with a code."""

from datetime import timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct

from tickover.api.limits import CODE_LIFETIME, LINK_LIFETIME
from tickover.api.timestamps import Instant


class SecretKind(StrEnum):
    """The kind of secret in an email."""

    CODE = "CODE"
    LINK = "LINK"


LIFETIMES: Final[dict[SecretKind, timedelta]] = {SecretKind.CODE: CODE_LIFETIME, SecretKind.LINK: LINK_LIFETIME}


class LoginEmail(Struct, frozen=True):
    """The record of an email: the digest of its secret, its address and its time."""

    digest: bytes
    address: str
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
