"""Sign-in: parameters, codes and links, their lifetimes, and the limits on emails and attempts."""

from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from math import ceil
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Meta, Struct

from tickover.api.errors import Fault
from tickover.api.fields import Params, Text, doc, expected
from tickover.api.limits import (
    CODE_DIGITS,
    CODE_LIFETIME,
    CODE_TRIES,
    FAILURES_IN_A_ROW,
    LINK_LIFETIME,
    RESEND_INTERVAL,
    SENDS_AN_HOUR,
    SENDS_AN_HOUR_FROM_ONE_NETWORK,
)
from tickover.api.timestamps import Instant
from tickover.server.domain.email_addresses import EmailAddress

Email = Annotated[EmailAddress, doc("One email address.")]
# The pattern alone would accept a final line break, because `$` matches before it.
Code = Annotated[
    str,
    Meta(min_length=CODE_DIGITS, max_length=CODE_DIGITS, pattern=f"^[0-9]{{{CODE_DIGITS}}}$", extra={"secret": True}),
    expected(f"{CODE_DIGITS} digits"),
    doc(f"The {CODE_DIGITS} digits from the email, including leading zeros."),
]

_REQUIRED_CODE_TYPE: Final = {"WEB_LOGIN_LINK": "LONG_LIVED", "LOGIN_CODE": "SHORT_LIVED"}


class SendEntry(Params, frozen=True):
    """The parameters of sendLoginCodeEmail."""

    combinations: ClassVar[dict[str, Any]] = {
        "anyOf": [
            {"properties": {"loginCodeType": {"const": code_type}, "emailType": {"const": email_type}}}
            for email_type, code_type in _REQUIRED_CODE_TYPE.items()
        ]
    }

    email: Email
    login_code_type: Annotated[
        Literal["SHORT_LIVED", "LONG_LIVED"],
        doc("How long the code or link is valid: minutes for a code, an hour for a link. See `emailType`."),
    ]
    email_type: Annotated[Literal["LOGIN_CODE", "WEB_LOGIN_LINK"], doc("What the email contains: a code or a link.")]

    def faults(self, now: Instant) -> Iterator[Fault]:
        if self.email_type is None or self.login_code_type is None:
            return
        required = _REQUIRED_CODE_TYPE[self.email_type]
        if self.login_code_type != required:
            message = f"must be {required} when emailType is {self.email_type}"
            yield Fault("loginCodeType", "combination", message, self.login_code_type)

    @property
    def kind(self) -> "SecretKind":
        return SecretKind.CODE if self.email_type == "LOGIN_CODE" else SecretKind.LINK


class VerificationEntry(Params, frozen=True):
    """The parameters of loginByEmailVerification."""

    email: Email
    code: Code
    authentication_method: Annotated[Literal["EMAIL_CODE"], doc("The only supported method.")]


class LinkEntry(Params, frozen=True):
    """The parameters of loginByEmailLink."""

    token: Annotated[Text, Meta(extra={"secret": True}), doc("The text after `#token=` in the link.")]


class CurrentUserEntry(Params, frozen=True):
    """getCurrentUser has no parameters."""


class LogoutEntry(Params, frozen=True):
    """logout has no parameters."""


class SecretKind(StrEnum):
    """The kind of secret in an email."""

    CODE = "CODE"
    LINK = "LINK"


class Limits(Struct, frozen=True):
    """Limits until the next sign-in. The operator can change them."""

    resend_interval: timedelta = RESEND_INTERVAL
    sends_an_hour: int = SENDS_AN_HOUR
    sends_an_hour_from_one_network: int = SENDS_AN_HOUR_FROM_ONE_NETWORK
    code_tries: int = CODE_TRIES
    failures_in_a_row: int = FAILURES_IN_A_ROW


HOUR: Final = timedelta(hours=1)
LIFETIMES: Final = {SecretKind.CODE: CODE_LIFETIME, SecretKind.LINK: LINK_LIFETIME}


class LoginEmail(Struct, frozen=True):
    """The record of an email: the digest of its secret, its address and its time."""

    digest: bytes
    email: str
    kind: SecretKind
    sent_at: Instant
    network: bytes
    """A digest of the caller's network."""

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
