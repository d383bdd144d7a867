"""What a caller can do wrong: a closed list of reasons, and the one exception that carries them.

Knows nothing of JSON-RPC codes or HTTP; `wire` maps reasons to both.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import UNSET, Struct, UnsetType

_LONGEST_SHOWN = 200
_MOST_SHOWN = 10


class Reason(StrEnum):
    """The stable names that programs match on."""

    PARSE_ERROR = "PARSE_ERROR"
    INVALID_REQUEST = "INVALID_REQUEST"
    METHOD_NOT_FOUND = "METHOD_NOT_FOUND"
    INVALID_PARAMS = "INVALID_PARAMS"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    CLOCK_NOT_FOUND = "CLOCK_NOT_FOUND"
    CLOCK_EXPIRED = "CLOCK_EXPIRED"
    TIME_BEFORE_CURRENT = "TIME_BEFORE_CURRENT"
    TIME_AFTER_MAX = "TIME_AFTER_MAX"
    LOGIN_REFUSED = "LOGIN_REFUSED"
    RESEND_TOO_SOON = "RESEND_TOO_SOON"
    RATE_LIMITED = "RATE_LIMITED"
    MAIL_NOT_SENT = "MAIL_NOT_SENT"
    UNAVAILABLE = "UNAVAILABLE"
    INTERNAL = "INTERNAL"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    UNSUPPORTED_MEDIA_TYPE = "UNSUPPORTED_MEDIA_TYPE"
    BODY_TOO_LARGE = "BODY_TOO_LARGE"


class Fault(Struct, frozen=True, omit_defaults=True):
    """One thing wrong with one field of the parameters."""

    path: str
    rule: str
    message: str
    got: str | int | float | bool | None | UnsetType = UNSET


def shown(text: str) -> str:
    """A caller's own text as an error may show it."""
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


class Rejection(Exception):
    """A call was refused for a reason that its caller can understand and act on.

    `message` is a sentence for a person; `details` is what a program needs to repair the call.
    """

    def __init__(self, reason: Reason, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.details = dict(details or {})

    def __str__(self) -> str:
        """The message, and what is wrong with which field: whoever sees only this has to mend the call by it."""
        told = [f"  {fault.path} {fault.message}" for fault in self.faults[:_MOST_SHOWN]]
        more = len(self.faults) - len(told)
        return "\n".join([self.message, *told, *([f"  and {more} more"] if more else [])])

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What is wrong with which field, when that is what the call was refused for."""
        return tuple(self.details.get("errors", ()))


def invalid_params(method: str, faults: Sequence[Fault]) -> Rejection:
    fields = "1 field" if len(faults) == 1 else f"{len(faults)} fields"
    verb = "was" if len(faults) == 1 else "were"
    return Rejection(Reason.INVALID_PARAMS, f"{fields} of {method} {verb} refused.", {"errors": list(faults)})


def unavailable(message: str) -> Rejection:
    return Rejection(Reason.UNAVAILABLE, message, {"retryAfterSeconds": 1})
