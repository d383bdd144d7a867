"""The state of one command: server address, credentials, output and the current time."""

import os
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final

from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.output import Output

if TYPE_CHECKING:
    from tickover.cli.credentials import Credentials, ServerProfile
    from tickover.client import Tickover

DEFAULT_URL: Final = "http://127.0.0.1:8000"


class CliRun:
    """One run of the program. It imports slow modules on first use, so that help is fast."""

    def __init__(self) -> None:
        self.output = Output()
        self.url_option = ""
        self.uses_last_clock = False
        """Whether the command has no ID and uses the last clock."""
        self.inputs: dict[str, str] = {}
        """What the user typed for paths of the API. Options of the command that have a path's name need no entry."""
        self.email = ""
        """The address that the user signs in with."""

    def now(self) -> datetime:
        """Return the real time. The command line reads it nowhere else."""
        return datetime.now(UTC)

    @property
    def url(self) -> str:
        """The server's address: given by the user, that of the last sign-in, or the default."""
        # The token in the environment may belong to another server than the last sign-in.
        if self._given_url or self.environment_token:
            return self.login_url
        return self.credentials.last_server or DEFAULT_URL

    @property
    def login_url(self) -> str:
        """The server that `tickover login` selects. It doesn't depend on the last sign-in."""
        return self._given_url or DEFAULT_URL

    @property
    def _given_url(self) -> str:
        return (self.url_option or os.environ.get("TICKOVER_URL", "")).rstrip("/")

    @property
    def login_command(self) -> str:
        """The command that signs in at the current server, without the email address."""
        is_default = self.url == os.environ.get("TICKOVER_URL", DEFAULT_URL).rstrip("/")
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

    def signed_in_client(self, retries: int = 2) -> "Tickover":
        """Return a client with the user's token. Raise `CliError` if there is none."""
        token = self.token
        client = self.client(token, retries)
        if not token:
            message = f"You aren't signed in at {self.url}."
            raise CliError(Exit.NOT_SIGNED_IN, message, f"Sign in: {self.login_command} EMAIL")
        return client

    def client(self, token: str = "", retries: int = 2) -> "Tickover":
        from tickover.cli import formatting
        from tickover.client import Tickover

        try:
            return Tickover(self.url, token or None, retries=retries)
        except ValueError as error:
            raise CliError(Exit.WRONG_COMMAND, formatting.sentence(error)) from None
