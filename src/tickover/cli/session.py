"""What a command has at hand: the server it speaks to, what is kept for it, where output goes, and the real time."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final

import click

from tickover.cli.errors import Exit, Trouble, of_client, of_rejection
from tickover.cli.output import Output
from tickover.core.errors import Reason

if TYPE_CHECKING:
    from tickover.cli.credentials import Credentials, Kept
    from tickover.client import Tickover

DEFAULT_URL: Final = "http://127.0.0.1:8000"


class Session:
    """One run of the program."""

    def __init__(self) -> None:
        self.output = Output()
        self.chosen_url = ""

    @property
    def url(self) -> str:
        return (self.chosen_url or os.environ.get("TICKOVER_URL") or DEFAULT_URL).rstrip("/")

    @property
    def token_of_environment(self) -> str:
        return os.environ.get("TICKOVER_TOKEN", "")

    @cached_property
    def credentials(self) -> "Credentials":
        from tickover.cli.credentials import Credentials, folder

        return Credentials(folder())

    @property
    def kept(self) -> "Kept":
        return self.credentials.of(self.url)

    def now(self) -> datetime:
        """The one place where the command line asks for the real time."""
        return datetime.now(UTC)

    @contextmanager
    def signed_in(self, timeout: float = 15.0, retries: int = 2) -> Iterator["Tickover"]:
        """The server, with the token that is kept for it; Trouble when there is none."""
        token = self.token_of_environment or self.kept.token
        with self.server(token, timeout, retries) as server:
            if not token:
                there = f" --url {self.chosen_url}" if self.chosen_url else ""
                raise Trouble(
                    Exit.NOT_SIGNED_IN,
                    f"You are not signed in at {self.url}.",
                    f"Sign in with: tickover login EMAIL{there}",
                )
            yield server

    @contextmanager
    def server(self, token: str = "", timeout: float = 15.0, retries: int = 2) -> Iterator["Tickover"]:
        """The server; what it refuses, and that it is away, is a Trouble outside of this."""
        from tickover.client import Tickover

        try:
            server = Tickover(self.url, token or None, timeout=timeout, retries=retries)
        except ValueError as error:
            raise Trouble(Exit.WRONG_COMMAND, f"{_first_upper(str(error))}.") from None
        with server, self.telling():
            yield server

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Have what comes of a call that did not go well told as a Trouble."""
        from tickover.client import ClientError, Rejection

        try:
            yield
        except Rejection as rejection:
            trouble = of_rejection(rejection, self.kept.email)
            if rejection.reason == Reason.UNAUTHENTICATED and self.token_of_environment:
                trouble.hint = "It is the one in TICKOVER_TOKEN: unset that, or set it to another."
            raise trouble from None
        except ClientError as error:
            raise of_client(error, self.url) from None


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


pass_session = click.make_pass_decorator(Session)
