"""What clients and their clocks share: the server, the token, and the retries."""

import re
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import Final, TypeVar

from msgspec import Struct, json

from tickover import __version__
from tickover.api.clocks import AdvancedClock, ClockPage, Event, EventPage
from tickover.api.command_arguments import Amount, InstantLike
from tickover.api.errors import Reason, Rejection
from tickover.client import calls
from tickover.client.calls import Call
from tickover.client.client_errors import InvalidResponse, NothingLeft, Unreachable
from tickover.client.rpc_messages import Deadline, Request, Transport

T = TypeVar("T")
PageT = TypeVar("PageT", ClockPage, EventPage)

DEFAULT_URL: Final = "http://127.0.0.1:8000"
DEFAULT_TIMEOUT: Final = 15.0
DEFAULT_RETRIES: Final = 2
_FIRST_DELAY: Final = 0.1
_MAX_DELAY: Final = 3.0
_TOKEN: Final = re.compile("[!-~]+")


class _Info(Struct):
    version: str


class _Document(Struct):
    """The OpenRPC document."""

    info: _Info


class BaseClient:
    """Sends calls to one server, with the token of one user."""

    def __init__(self, url: str, token: str | None, transport: Transport, timeout: float, retries: int) -> None:
        if not timeout > 0:
            raise ValueError("timeout must be a number of seconds greater than 0")
        if retries < 0:
            raise ValueError("retries must be 0 or more")
        self.url: Final = url.rstrip("/")
        self._transport = transport
        self.token = token
        self.is_blocking: Final = transport.is_blocking
        self._timeout = timeout
        self._retries = retries

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r}, {'not signed in' if self.token is None else 'signed in'})"

    @property
    def token(self) -> str | None:
        """The bearer token, or None if the client isn't signed in."""
        return self._transport.token

    @token.setter
    def token(self, token: str | None) -> None:
        if token is not None and not _TOKEN.fullmatch(token):
            raise ValueError("a token must consist of printable ASCII characters without spaces")
        self._transport.token = token

    async def send(self, call: Call[T]) -> T:
        """Return the result of the call. Retry it if that is safe, and raise the error of the last attempt.

        All attempts together have the time of one timeout. If the client and the server don't understand each other
        because their versions differ, the error says so.
        """
        try:
            return await self._send(call)
        except InvalidResponse:
            await self._check_version()
            raise
        except Rejection as rejection:
            if rejection.reason is Reason.METHOD_NOT_FOUND:
                await self._check_version()
            raise

    async def _check_version(self) -> None:
        """Raise InvalidResponse if the server has another version."""
        try:
            response = await self._transport.send(Request("GET", "/openrpc.json"), Deadline(self._timeout))
            version = json.decode(response.content, type=_Document).info.version
        except (Unreachable, InvalidResponse, ValueError, RecursionError):
            return
        if version != __version__:
            message = f"This client is Tickover {__version__}, and {self.url} is Tickover {version}. Use one version."
            raise InvalidResponse(message) from None

    async def _send(self, call: Call[T]) -> T:
        retries, deadline = 0, Deadline(self._timeout)
        may_be_done = False
        """Whether the server may have completed an earlier attempt."""
        while True:
            try:
                return call.decode(await self._transport.send(call.request, deadline))
            except Unreachable as error:
                if error.may_have_arrived and not call.idempotent:
                    raise Unreachable(f"{error} The server may or may not have processed the call.") from None
                delay = self._next_delay(retries, deadline)
                if delay is None:
                    raise
                may_have_arrived = error.may_have_arrived
            except Rejection as rejection:
                if may_be_done and rejection.reason in call.already_done:
                    return call.already_done[rejection.reason]
                delay = self._next_delay(retries, deadline, _requested_delay(rejection))
                if rejection.reason is not Reason.UNAVAILABLE or not call.idempotent or delay is None:
                    raise
                may_have_arrived = True
            await self._transport.sleep(delay)
            retries += 1
            may_be_done = may_be_done or may_have_arrived

    def _next_delay(self, retries: int, deadline: Deadline, requested: float = 0) -> float | None:
        """Return the seconds before the next attempt, or None if there is none."""
        delay = min(requested or _FIRST_DELAY * 2**retries, _MAX_DELAY)
        return delay if retries < self._retries and delay < deadline.seconds_left else None

    async def _pages(self, call: Callable[[str | None], Call[PageT]]) -> AsyncIterator[PageT]:
        """Request one page after the other. `call` gets the cursor of a page, which is None for the first."""
        cursor: str | None = None
        requested: set[str | None] = set()
        while cursor not in requested:
            requested.add(cursor)
            page = await self.send(call(cursor))
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return
        raise InvalidResponse(
            f"{self.url} returned the cursor of an earlier page, so the pages would never end. Check for a faulty proxy"
            " in front of the server."
        )

    async def advance_clock(
        self, id: str, to: InstantLike | None = None, *, by: str | None = None, next: bool = False
    ) -> AdvancedClock:
        """Advance a clock to an instant, by a duration such as `1mo`, or to its next item, and return what happened.

        Raise NothingLeft if there is no next item.
        """
        try:
            return await self.send(calls.advance_clock(id, to, by, next))
        except Rejection as rejection:
            if [fault.path for fault in rejection.faults] != ["next"]:
                raise
            raise NothingLeft(f"Nothing is pending or upcoming on {id}.") from None

    async def list_events(
        self,
        id: str,
        *,
        after: InstantLike | None = None,
        until: InstantLike | None = None,
        opening_balances: Mapping[str, Amount] | None = None,
    ) -> AsyncIterator[Event]:
        """Iterate over a clock's events after `after` and until `until`, which is the frozen time by default."""
        async for page in self._pages(partial(calls.list_events, id, after, until, opening_balances)):
            for event in page.events:
                yield event

    async def close(self) -> None:
        """Close all connections. The client can't be used afterwards."""
        await self._transport.close()


def _requested_delay(rejection: Rejection) -> float:
    """Return the delay that the server asks for, or 0."""
    seconds = rejection.details.get("retryAfterSeconds")
    return max(seconds, 0) if isinstance(seconds, int | float) else 0
