"""What can go wrong for a person at a terminal: one sentence, what to do next, and an exit code for each kind."""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tickover.cli import formatting
from tickover.core.errors import Reason, Rejection
from tickover.core.moments import parse

if TYPE_CHECKING:
    from tickover.client import ClientError

_MOST_FAULTS: Final = 10


class Exit(IntEnum):
    """How a command ends, for the program that started it."""

    DONE = 0
    UNEXPECTED = 1
    WRONG_COMMAND = 2
    NOT_SIGNED_IN = 3
    REFUSED = 4
    GONE = 5
    SPENT = 6
    AWAY = 7
    LATER = 8
    BROKEN_OFF = 130


class _Refusal(NamedTuple):
    """What a refusal means to the person at the terminal."""

    exit: Exit
    sentence: str = "{message}"
    hint: str = ""


_REFUSALS: Final[Mapping[Reason, _Refusal]] = {
    # These five mean that client and server do not speak the same language.
    Reason.PARSE_ERROR: _Refusal(Exit.UNEXPECTED),
    Reason.INVALID_REQUEST: _Refusal(Exit.UNEXPECTED),
    Reason.METHOD_NOT_FOUND: _Refusal(
        Exit.UNEXPECTED, "The server does not know this operation; it may be older than this program."
    ),
    Reason.METHOD_NOT_ALLOWED: _Refusal(Exit.UNEXPECTED),
    Reason.UNSUPPORTED_MEDIA_TYPE: _Refusal(Exit.UNEXPECTED),
    Reason.INVALID_PARAMS: _Refusal(Exit.REFUSED),
    Reason.BODY_TOO_LARGE: _Refusal(Exit.REFUSED),
    Reason.UNAUTHENTICATED: _Refusal(
        Exit.NOT_SIGNED_IN,
        "The server does not take this token, or takes it no more.",
        "Sign in with: tickover login {email}",
    ),
    Reason.LOGIN_REFUSED: _Refusal(
        Exit.NOT_SIGNED_IN,
        "The code or link is wrong, used or too old.",
        "Ask for a new one with: tickover login {email}",
    ),
    Reason.CLOCK_NOT_FOUND: _Refusal(
        Exit.GONE, "You have no clock of this id on this server.", "See which there are with: tickover clock list"
    ),
    Reason.CLOCK_EXPIRED: _Refusal(
        Exit.GONE, "This clock has lived its seven days and is gone.", "Make a new one with: tickover clock create"
    ),
    Reason.TIME_BEFORE_CURRENT: _Refusal(
        Exit.REFUSED,
        "The clock is already at {currentFrozenTime}, and time only moves forward.",
        "To go back, make a copy that stands earlier: tickover clock fork --at TIME",
    ),
    Reason.TIME_AFTER_MAX: _Refusal(Exit.REFUSED, "The clock can go no further than {maxTime}."),
    Reason.RESEND_TOO_SOON: _Refusal(
        Exit.LATER,
        "A letter was sent to {email} a moment ago; the next may follow in {seconds}.",
        "If its code is not used yet: tickover login {email} --code CODE",
    ),
    Reason.RATE_LIMITED: _Refusal(Exit.LATER, hint="Try again in {seconds}."),
    Reason.MAIL_NOT_SENT: _Refusal(Exit.LATER, hint="Try again in a moment."),
    Reason.UNAVAILABLE: _Refusal(Exit.AWAY, hint="Try again in {seconds}."),
    Reason.INTERNAL: _Refusal(Exit.AWAY),
}

_OF_CLIENT: Final = {
    "Unreachable": _Refusal(Exit.AWAY, hint="Another server than {url} is named with --url."),
    "InvalidResponse": _Refusal(Exit.AWAY, hint="Name another server than {url} with --url."),
    "NothingLeft": _Refusal(
        Exit.SPENT, "Nothing is left to happen on this clock.", "Start over with a copy of it: tickover clock fork"
    ),
}
"""By the names of the client's errors, because the client is imported only by those who use it."""

_CLIENT_REASONS: Final = {"InvalidResponse": "BAD_ANSWER", "NothingLeft": "NOTHING_LEFT"}

EXITS: Final[Mapping[Reason, Exit]] = {reason: refusal.exit for reason, refusal in _REFUSALS.items()}


class Trouble(Exception):
    """A command could not do what it was asked; the person who asked can do something about it."""

    def __init__(
        self,
        exit: Exit,
        sentence: str,
        hint: str = "",
        *,
        reason: str = "",
        faults: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(sentence)
        self.exit = exit
        self.sentence = sentence
        self.hint = hint
        """What to do next, often a command."""
        self.reason = reason or exit.name
        self.faults = faults
        """What is wrong with each parameter, by its `path` and a `message`."""

    @property
    def lines(self) -> list[str]:
        """What a person reads."""
        told = [f"  {fault['path']} {fault['message']}" for fault in self.faults[:_MOST_FAULTS]]
        more = len(self.faults) - len(told)
        hint = [f"  {self.hint}"] if self.hint else []
        lines = [f"tickover: {self.sentence}", *told, *([f"  and {more} more"] if more else []), *hint]
        return [formatting.safe(line) for line in lines]

    @property
    def document(self) -> dict[str, Any]:
        """What a program reads."""
        error: dict[str, Any] = {"reason": self.reason, "exitCode": int(self.exit), "message": self.sentence}
        if self.hint:
            error["hint"] = self.hint
        if self.faults:
            error["errors"] = list(self.faults)
        return {"error": error}


def of_rejection(rejection: Rejection, email: str = "") -> Trouble:
    """What the server's refusal means here, and what can be done about it."""
    exit, sentence, hint = _REFUSALS[rejection.reason]
    words = {
        "message": rejection.message,
        "email": email or "EMAIL",
        "seconds": formatting.count(rejection.details.get("retryAfterSeconds", 60), "second"),
        "currentFrozenTime": _time(rejection.details.get("currentFrozenTime")),
        "maxTime": _time(rejection.details.get("maxTime")),
    }
    faults = [{"path": fault.path, "message": fault.message} for fault in rejection.faults]
    told, what_next = sentence.format_map(words), hint.format_map(words)
    return Trouble(exit, told, what_next, reason=str(rejection.reason), faults=faults)


def of_client(error: "ClientError", url: str) -> Trouble:
    """What it means that there was no answer, or none that can be understood, or no question."""
    told = _OF_CLIENT.get(type(error).__name__, _OF_CLIENT["Unreachable"])
    words = {"message": str(error), "url": url}
    return Trouble(
        told.exit,
        told.sentence.format_map(words),
        told.hint.format_map(words),
        reason=_CLIENT_REASONS.get(type(error).__name__, "UNREACHABLE"),
    )


def _time(text: object) -> str:
    try:
        return formatting.moment(parse(text))
    except ValueError:
        return "another time"
