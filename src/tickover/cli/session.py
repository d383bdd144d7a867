"""The state of one command: server address, credentials, output and the current time."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tickover.cli.command_context import CommandContext
from tickover.cli.errors import CliError, Exit
from tickover.cli.output import Output

if TYPE_CHECKING:
    from tickover.client import Tickover


class Session(CommandContext):
    """One run of the program. It imports slow modules on first use, so that help is fast."""

    def __init__(self) -> None:
        super().__init__()
        self.output = Output()

    def now(self) -> datetime:
        """Return the real time. The command line reads it nowhere else."""
        return datetime.now(UTC)

    @contextmanager
    def signed_in_client(self, retries: int = 2) -> Iterator["Tickover"]:
        """Open a client with the user's token. Raise `CliError` if there is none."""
        token = self.token
        with self.client(token, retries) as client:
            if not token:
                message = f"You aren't signed in at {self.url}."
                raise CliError(Exit.NOT_SIGNED_IN, message, f"Sign in: {self.login_command} EMAIL")
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
        from tickover.client import ClientError, Rejection

        try:
            yield
        except (ClientError, Rejection) as error:
            from tickover.cli.call_errors import to_cli_error

            raise to_cli_error(error, self) from None
