"""What a command was given: the server, the token, and the names of its inputs."""

import os
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tickover.cli.credentials import Credentials, ServerProfile

DEFAULT_URL: Final = "http://127.0.0.1:8000"


class CommandContext:
    """What the user typed. With the environment and the last sign-in, it selects the server and the token."""

    def __init__(self) -> None:
        self.url_option = ""
        self.uses_last_clock = False
        """Whether the command has no ID and uses the last clock."""
        self.inputs: dict[str, str] = {}
        """What the user typed for paths of the API. Options of the command that have a path's name need no entry."""
        self.email = ""
        """The address that the user signs in with."""

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
