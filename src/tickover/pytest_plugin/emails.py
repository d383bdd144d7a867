"""Waits for emails in a server's development mailbox."""

import time
from collections.abc import Callable
from typing import Final
from uuid import uuid4

from tickover.client import Email

_POLL_SECONDS: Final = 0.05


class Mailbox:
    """The emails of one server, for the whole session."""

    def __init__(self, latest: Callable[[str], Email | None], check_server: Callable[[], None]) -> None:
        self._latest = latest
        self._check_server = check_server
        self._returned: dict[str, str] = {}
        """The ID of the last email returned, by address."""

    def address(self) -> str:
        """Return a new email address."""
        return f"user-{uuid4().hex}@example.test"

    def skip(self, address: str) -> None:
        """Never return the newest email to the address."""
        if email := self._latest(address):
            self._returned[email.to] = email.id

    def wait_for(self, address: str, timeout: float = 5.0) -> Email:
        """Return the newest email to the address, once. Raise TimeoutError if no new one arrives in time."""
        __tracebackhide__ = True
        self._check_server()
        deadline = time.monotonic() + timeout
        while True:
            email = self._latest(address)
            if email and self._returned.get(email.to) != email.id:
                self._returned[email.to] = email.id
                return email
            if time.monotonic() >= deadline:
                new = "new " if email else ""
                raise TimeoutError(f"No {new}email to {address} arrived within {timeout:g} seconds.")
            time.sleep(_POLL_SECONDS)
