"""What the sync and the async client share: a session with one server, and its public properties."""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Final, TypeVar

from tickover.api.arguments import Amount, InstantLike
from tickover.api.clocks import Event
from tickover.client import calls
from tickover.client.calls import Call
from tickover.client.retries import Transport, send_with_retries

T = TypeVar("T")

DEFAULT_URL: Final = "http://127.0.0.1:8000"
DEFAULT_TIMEOUT: Final = 15.0
DEFAULT_RETRIES: Final = 2
_TOKEN: Final = re.compile("[!-~]+")


class Session:
    """Sends calls to one server, with the token of one user."""

    def __init__(self, url: str, token: str | None, transport: Transport, retries: int) -> None:
        if retries < 0:
            raise ValueError("retries must be 0 or more")
        self.url = url.rstrip("/")
        self.token = token
        self._transport = transport
        self._retries = retries

    @property
    def token(self) -> str | None:
        return self._token

    @token.setter
    def token(self, token: str | None) -> None:
        if token is not None and not _TOKEN.fullmatch(token):
            raise ValueError("a token must consist of printable ASCII characters without spaces")
        self._token = token

    async def send(self, call: Call[T]) -> T:
        return await send_with_retries(call, self._token if call.needs_token else None, self._transport, self._retries)

    async def list_events(
        self,
        id: str,
        after: InstantLike | None,
        until: InstantLike | None,
        opening: Mapping[str, Amount] | None,
    ) -> AsyncIterator[Event]:
        """Iterate over the events of all pages."""
        cursor = None
        while True:
            page = await self.send(calls.list_events(id, after, until, opening, cursor))
            for event in page.events:
                yield event
            cursor = page.next_cursor
            if cursor is None:
                return


class BaseClient:
    """The properties of both clients."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r}, {'not signed in' if self.token is None else 'signed in'})"

    @property
    def url(self) -> str:
        """The server's URL without a trailing slash."""
        return self._session.url

    @property
    def token(self) -> str | None:
        """The bearer token, or None if the client isn't signed in."""
        return self._session.token

    @token.setter
    def token(self, token: str | None) -> None:
        self._session.token = token
