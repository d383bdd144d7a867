"""The state of one command: server address, credentials, output and the current time."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final

import click

from tickover.cli.errors import CliError, Exit
from tickover.cli.output import Output

if TYPE_CHECKING:
    from tickover.cli.credentials import Credentials, ServerProfile
    from tickover.client import Tickover

DEFAULT_URL: Final = "http://127.0.0.1:8000"


class Session:
    """One run of the program. It imports slow modules on first use, so that help is fast."""

    def __init__(self) -> None:
        self.output = Output()
        self.url_option = ""
        self.uses_last_clock = False
        """Whether the command has no ID and uses the last clock."""

    @property
    def url(self) -> str:
        """The server's address: given by the user, that of the last sign-in, or the default."""
        return self.given_url or self._last_server or DEFAULT_URL

    @property
    def login_url(self) -> str:
        """The server that `tickover login` selects. It doesn't depend on the last sign-in."""
        return self.given_url or DEFAULT_URL

    @property
    def given_url(self) -> str:
        return (self.url_option or _environment_url()).rstrip("/")

    @property
    def _last_server(self) -> str:
        # The token in the environment may belong to another server.
        return "" if self.environment_token else self.credentials.last_server

    @property
    def login_command(self) -> str:
        """The command that signs in at the current server, without the email address."""
        is_default = self.url == (_environment_url().rstrip("/") or DEFAULT_URL)
        return "tickover login" if is_default else f"tickover login --url {self.url}"

    @property
    def environment_token(self) -> str:
        return os.environ.get("TICKOVER_TOKEN", "")

    @property
    def token(self) -> str:
        """The token for the current server, or an empty string."""
        return self.environment_token or self.profile.token

    @cached_property
    def credentials(self) -> "Credentials":
        from tickover.cli.credentials import Credentials, config_folder

        return Credentials(config_folder())

    @property
    def profile(self) -> "ServerProfile":
        """The stored profile of the current server."""
        return self.credentials.get(self.url)

    def now(self) -> datetime:
        """Return the real time. The command line reads it nowhere else."""
        return datetime.now(UTC)

    @contextmanager
    def signed_in_client(self, retries: int = 2) -> Iterator["Tickover"]:
        """Open a client with the user's token. Raise `CliError` if there is none."""
        token = self.token
        with self.client(token, retries) as client:
            if not token:
                raise CliError(
                    Exit.NOT_SIGNED_IN, f"You aren't signed in at {self.url}.", f"Sign in: {self.login_command} EMAIL"
                )
            yield client

    @contextmanager
    def client(self, token: str = "", retries: int = 2) -> Iterator["Tickover"]:
        """Open a client. Errors of its calls leave the block as `CliError`."""
        from tickover.cli import formatting
        from tickover.client import Tickover

        try:
            client = Tickover(self.url, token or None, retries=retries)
        except ValueError as error:
            raise CliError(Exit.WRONG_COMMAND, formatting.sentence(error)) from None
        with client, self.translate_errors():
            yield client

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Raise a `CliError` for every error of a call."""
        from tickover.api.errors import Reason, Rejection
        from tickover.cli.call_errors import from_client_error, from_rejection
        from tickover.client import ClientError

        try:
            yield
        except Rejection as rejection:
            error = from_rejection(rejection, self.profile.email, self.login_command)
            if rejection.reason in (Reason.UNAUTHENTICATED, Reason.FORBIDDEN) and self.environment_token:
                error.hint = "The token comes from TICKOVER_TOKEN. Unset the variable or change it."
            if rejection.reason in (Reason.CLOCK_NOT_FOUND, Reason.CLOCK_EXPIRED) and self.uses_last_clock:
                error.message = "The clock that you used last has been deleted or has expired."
                error.hint = "List your clocks: tickover clock list. Create one: tickover clock create salary-and-rent"
            raise error from None
        except ClientError as client_error:
            raise from_client_error(client_error, self.url) from None


def _environment_url() -> str:
    return os.environ.get("TICKOVER_URL", "")


pass_session = click.make_pass_decorator(Session)
