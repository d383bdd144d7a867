"""The mail that a server has sent to its development mailbox, as tests wait for it."""

import time
from collections.abc import Callable
from typing import Final
from uuid import uuid4

from tickover.client import Email

_PAUSE_SECONDS: Final = 0.05


class Mailbox:
    """All letters of one server, by address. It lives as long as the session."""

    def __init__(self, latest: Callable[[str], Email | None], check: Callable[[], None]) -> None:
        self._latest = latest
        self._check = check
        self._returned: dict[str, str] = {}

    def address(self) -> str:
        """An e-mail address that nobody has used before."""
        return f"user-{uuid4().hex}@example.test"

    def wait_for(self, address: str, timeout: float = 5.0) -> Email:
        """The newest letter to the address, newer than the one returned before; TimeoutError when none comes."""
        __tracebackhide__ = True
        self._check()
        deadline = time.monotonic() + timeout
        while True:
            letter = self._latest(address)
            if letter and self._returned.get(letter.to) != letter.id:
                self._returned[letter.to] = letter.id
                return letter
            if time.monotonic() >= deadline:
                newer = "newer " if letter else ""
                raise TimeoutError(f"No {newer}letter to {address} has come within {timeout:g} seconds.")
            time.sleep(_PAUSE_SECONDS)
