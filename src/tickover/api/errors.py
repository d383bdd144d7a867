"""Errors that a caller can cause: the reasons, and Rejection, the exception that carries them.

`tickover.server.rpc.reasons` maps reasons to JSON-RPC codes and HTTP statuses.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

_MAX_TEXT = 200
_MAX_LISTED_FAULTS = 10


class Reason(StrEnum):
    """Stable names that programs can match on."""

    PARSE_ERROR = "PARSE_ERROR"
    INVALID_REQUEST = "INVALID_REQUEST"
    METHOD_NOT_FOUND = "METHOD_NOT_FOUND"
    INVALID_PARAMS = "INVALID_PARAMS"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN = "FORBIDDEN"
    CLOCK_NOT_FOUND = "CLOCK_NOT_FOUND"
    CLOCK_EXPIRED = "CLOCK_EXPIRED"
    TIME_BEFORE_CURRENT = "TIME_BEFORE_CURRENT"
    TIME_AFTER_MAX = "TIME_AFTER_MAX"
    ITEM_NOT_PENDING = "ITEM_NOT_PENDING"
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
    """One invalid field of the parameters."""

    path: Annotated[str, Meta(description="The field, such as `goals[0].name`. `params` means all parameters.")]
    rule: Annotated[str, Meta(description="The violated rule, for programs.")]
    message: Annotated[str, Meta(description="The rule in words, for people.")]
    got: Annotated[
        str | int | float | bool | None | UnsetType,
        Meta(description="The invalid value, if it is short and not a secret."),
    ] = UNSET
    line: Annotated[int | UnsetType, Meta(description="The line of an invalid scenario, from 1.")] = UNSET


def format_faults(faults: Sequence[Fault]) -> list[str]:
    """Return a line for each of the first faults, and the number of the others."""
    lines = [f"  {fault.path} {fault.message}" for fault in faults[:_MAX_LISTED_FAULTS]]
    more = len(faults) - len(lines)
    return [*lines, f"  and {more} more"] if more else lines


def truncate(text: str) -> str:
    """Truncate a caller's text for an error message."""
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"


class Rejection(Exception):
    """The server rejected a call because of its caller.

    `message` is for people. `details` has the data that a program needs to fix the call.
    """

    def __init__(self, reason: Reason, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.details = dict(details or {})

    def __str__(self) -> str:
        """Return the message and the invalid fields."""
        return "\n".join([self.message, *format_faults(self.faults)])

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The invalid fields, if the reason is INVALID_PARAMS."""
        return tuple(self.details.get("errors", ()))


def invalid_params(faults: Sequence[Fault], operation: str = "the call") -> Rejection:
    """Return a rejection. The dispatcher adds the name of the operation."""
    fields = f"1 field of {operation} is" if len(faults) == 1 else f"{len(faults)} fields of {operation} are"
    return Rejection(Reason.INVALID_PARAMS, f"{fields} invalid.", {"errors": list(faults)})


def reject(faults: Sequence[Fault]) -> None:
    """Raise INVALID_PARAMS if there are faults."""
    if faults:
        raise invalid_params(faults)


def unauthenticated() -> Rejection:
    message = "A valid bearer token is required. Sign in, and send it as: Authorization: Bearer <token>"
    return Rejection(Reason.UNAUTHENTICATED, message)


def unavailable(message: str) -> Rejection:
    return Rejection(Reason.UNAVAILABLE, message, {"retryAfterSeconds": 1})
