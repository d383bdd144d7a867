"""Connections to a server. Errors of the client become CLI errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tickover.cli.errors import CliError, Exit
from tickover.cli.rejections import from_rejection
from tickover.client import ClientError, InvalidResponse, NothingLeft, Reason, Rejection, Tickover

if TYPE_CHECKING:
    from tickover.cli.session import Session

_WRONG_TOKEN: Final = {Reason.UNAUTHENTICATED, Reason.FORBIDDEN}
_NO_CLOCK: Final = {Reason.CLOCK_NOT_FOUND, Reason.CLOCK_EXPIRED}


@contextmanager
def connect(url: str, token: str, *, timeout: float, retries: int) -> Iterator[Tickover]:
    """Open a client and close it at the end."""
    try:
        client = Tickover(url, token or None, timeout=timeout, retries=retries)
    except ValueError as error:
        message = str(error)
        raise CliError(Exit.WRONG_COMMAND, f"{message[:1].upper()}{message[1:]}.") from None
    with client:
        yield client


@contextmanager
def translate_errors(session: "Session") -> Iterator[None]:
    """Raise a `CliError` for every error of a call."""
    try:
        yield
    except Rejection as rejection:
        error = from_rejection(rejection, session.profile.email, session.login_command)
        if rejection.reason in _WRONG_TOKEN and session.environment_token:
            error.hint = "The token comes from TICKOVER_TOKEN. Unset the variable or change it."
        if rejection.reason in _NO_CLOCK and session.uses_last_clock:
            error.message = "The clock that you used last has been deleted or has expired."
            error.hint = "List your clocks: tickover clock list. Create one: tickover clock create salary-and-rent"
        raise error from None
    except ClientError as client_error:
        raise from_client_error(client_error, session.url) from None


def from_client_error(error: ClientError, url: str) -> CliError:
    """Convert an error that the client raised without an error of the server."""
    match error:
        case NothingLeft():
            return CliError(
                Exit.NOTHING_LEFT,
                "Nothing is left to happen on this clock.",
                "Start over with a copy: tickover clock fork",
                reason="NOTHING_LEFT",
            )
        case InvalidResponse():
            return CliError(Exit.UNAVAILABLE, str(error), _other_server(url), reason="INVALID_RESPONSE")
        case _:
            return CliError(Exit.UNAVAILABLE, str(error), _other_server(url), reason="UNREACHABLE")


def _other_server(url: str) -> str:
    return f"If your server isn't at {url}, pass its address with --url."
