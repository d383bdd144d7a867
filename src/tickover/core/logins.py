"""Signing in: what a caller may ask for, what is sent, how long it lives, and when the next may be sent."""

from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from math import ceil
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tickover.core.addresses import EmailAddress
from tickover.core.entries import Entry
from tickover.core.errors import Fault
from tickover.core.limits import CODE_DIGITS, CODE_LIFETIME, LINK_LIFETIME, RESEND_INTERVAL
from tickover.core.moments import Moment

# The lengths are there beside the pattern because `$` also matches before a final line break.
Code = Annotated[
    str,
    Meta(
        min_length=CODE_DIGITS,
        max_length=CODE_DIGITS,
        pattern=f"^[0-9]{{{CODE_DIGITS}}}$",
        description=f"{CODE_DIGITS} digits",
        extra={"secret": True},
    ),
]

_CODE_TYPE_OF: Final = {"LOGIN_CODE": "SHORT_LIVED", "WEB_LOGIN_LINK": "LONG_LIVED"}


class SendEntry(Entry, frozen=True):
    """The parameters of sendLoginCodeEmail."""

    email: EmailAddress
    login_code_type: Literal["SHORT_LIVED", "LONG_LIVED"]
    email_type: Literal["LOGIN_CODE", "WEB_LOGIN_LINK"]

    def faults(self, now: Moment) -> Iterator[Fault]:
        if self.email_type is None or self.login_code_type is None:
            return
        needed = _CODE_TYPE_OF[self.email_type]
        if self.login_code_type != needed:
            message = f"must be {needed} when emailType is {self.email_type}"
            yield Fault("loginCodeType", "combination", message, self.login_code_type)

    @property
    def kind(self) -> "Kind":
        return Kind.CODE if self.email_type == "LOGIN_CODE" else Kind.LINK


class VerificationEntry(Entry, frozen=True):
    """The parameters of loginByEmailVerification."""

    email: EmailAddress
    code: Code
    authentication_method: Literal["EMAIL_CODE"]


class Sent(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The result of sendLoginCodeEmail."""

    message: str
    login_url: str | UnsetType = UNSET


class SignedIn(Struct, frozen=True, rename="camel"):
    """The result of signing in."""

    token: str
    user_id: str


class Kind(StrEnum):
    """What a letter carries."""

    CODE = "CODE"
    LINK = "LINK"


LIFETIMES = {Kind.CODE: CODE_LIFETIME, Kind.LINK: LINK_LIFETIME}


class Send(Struct, frozen=True):
    """One letter on its way: the digest of its secret, and the slot it takes for its address."""

    digest: bytes
    email: str
    kind: Kind
    sent_at: Moment

    @property
    def expires_at(self) -> Moment:
        """From this instant on, inclusive, the secret opens nothing."""
        return self.sent_at + LIFETIMES[self.kind]


class Try(Struct, frozen=True):
    """A counted try: what the code has to match."""

    digest: bytes
    sent_at: Moment


def retry_after_seconds(last_sent_at: Moment, now: Moment) -> int:
    """How long until the address may be written to again: a whole number from 1 to 60."""
    wait = (last_sent_at + RESEND_INTERVAL - now) / timedelta(seconds=1)
    return min(max(ceil(wait), 1), int(RESEND_INTERVAL.total_seconds()))
