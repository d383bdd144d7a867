"""The asyncio client."""

import re
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar, get_args

from tickover.api.arguments import Amount, InstantLike
from tickover.api.clocks import Event, Snapshot, Summary
from tickover.api.errors import Reason, Rejection
from tickover.api.limits import MAX_PAGE
from tickover.api.tokens import SignedIn
from tickover.client import calls
from tickover.client.async_clock import AsyncClock
from tickover.client.calls import Call
from tickover.client.errors import NoCode, Unreachable
from tickover.client.messages import Transport

P = ParamSpec("P")
T = TypeVar("T")

DEFAULT_URL: Final = "http://127.0.0.1:8000"
DEFAULT_TIMEOUT: Final = 15.0
DEFAULT_RETRIES: Final = 2
_FIRST_DELAY: Final = 0.1
_MAX_DELAY: Final = 3.0
_TOKEN: Final = re.compile("[!-~]+")


def _method(call: Callable[P, Call[T]]) -> Callable[Concatenate["AsyncClient", P], Coroutine[Any, Any, T]]:
    """Return a method that sends this call."""

    @wraps(call)
    async def send(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._send(call(*args, **kwargs))

    _show_signature(send, call)
    return send


def _clock_method(
    call: Callable[P, Call[Snapshot]],
) -> Callable[Concatenate["AsyncClient", P], Coroutine[Any, Any, AsyncClock]]:
    @wraps(call)
    async def send(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> AsyncClock:
        snapshot = await self._send(call(*args, **kwargs))
        return AsyncClock(self, snapshot)

    _show_signature(send, call, AsyncClock)
    return send


def _show_signature(method: Any, call: Callable[..., object], result: object = None) -> None:
    """Make `help` show the parameters of the call after `self`, and its result, or this type of result."""
    shown = signature(call)
    parameters = [Parameter("self", Parameter.POSITIONAL_ONLY), *shown.parameters.values()]
    [call_result] = get_args(shown.return_annotation)
    method.__signature__ = shown.replace(parameters=parameters, return_annotation=result or call_result)


class AsyncClient:
    """The methods of `AsyncTickover`. They send calls to one server, with the token of one user."""

    def __init__(self, url: str, token: str | None, transport: Transport, retries: int) -> None:
        if retries < 0:
            raise ValueError("retries must be 0 or more")
        self.url: Final = url.rstrip("/")
        self.token = token
        self._transport = transport
        self._retries = retries

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r}, {'not signed in' if self.token is None else 'signed in'})"

    @property
    def token(self) -> str | None:
        """The bearer token, or None if the client isn't signed in."""
        return self._token

    @token.setter
    def token(self, token: str | None) -> None:
        if token is not None and not _TOKEN.fullmatch(token):
            raise ValueError("a token must consist of printable ASCII characters without spaces")
        self._token = token

    send_code = _method(calls.send_code)
    send_link = _method(calls.send_link)
    current_user = _method(calls.current_user)
    create_access_token = _method(calls.create_access_token)
    list_access_tokens = _method(calls.list_access_tokens)
    revoke_access_token = _method(calls.revoke_access_token)
    latest_email = _method(calls.latest_email)
    create_clock = _clock_method(calls.create_clock)
    create_clock_from_scenario = _clock_method(calls.create_clock_from_scenario)
    get_clock = _clock_method(calls.get_clock)
    advance_clock = _clock_method(calls.advance_clock)
    fork_clock = _clock_method(calls.fork_clock)
    amend_clock = _clock_method(calls.amend_clock)
    update_clock = _clock_method(calls.update_clock)
    delete_clock = _method(calls.delete_clock)
    connect_clock = _method(calls.connect_clock)
    list_connections = _method(calls.list_connections)
    disconnect_clock = _method(calls.disconnect_clock)
    list_page = _method(calls.list_page)
    get_balances = _method(calls.get_balances)
    check_clock = _method(calls.check_clock)
    reconcile_clock = _method(calls.reconcile_clock)
    expand_scenario = _method(calls.expand_scenario)
    scenario_from_statement = _method(calls.scenario_from_statement)
    discover = _method(calls.discover)

    async def sign_in(self, email: str) -> SignedIn:
        """Send a code and sign in with it. The code is read from the development mailbox.

        If it is too soon for another code, use the last one, unless it was used already.
        """
        too_soon = None
        try:
            await self.send_code(email)
        except Rejection as rejection:
            if rejection.reason is not Reason.RESEND_TOO_SOON:
                raise
            too_soon = rejection
        message = await self.latest_email(email)
        if message is None or message.code is None:
            raise too_soon or NoCode(email)
        try:
            return await self.log_in(email, message.code)
        except Rejection as rejection:
            if too_soon and rejection.reason is Reason.LOGIN_REFUSED:
                raise too_soon from None
            raise

    async def log_in(self, email: str, code: str) -> SignedIn:
        """Sign in with a code. The client sends the token with later calls."""
        return await self._log_in(calls.log_in(email, code))

    async def log_in_by_link(self, link_or_secret: str) -> SignedIn:
        """Sign in with a login link, or with the part after `#token=`. The client sends the token with later calls."""
        return await self._log_in(calls.log_in_by_link(link_or_secret))

    async def _log_in(self, call: Call[SignedIn]) -> SignedIn:
        signed_in = await self._send(call)
        self.token = signed_in.token
        return signed_in

    async def log_out(self) -> None:
        """Revoke the token and remove it from the client."""
        await self._send(calls.log_out())
        self.token = None

    async def list_clocks(self, labels: Mapping[str, str] | None = None) -> AsyncIterator[Summary]:
        """Iterate over your clocks with these labels, or over all, newest first. Pages are requested when needed."""
        cursor = None
        while True:
            page = await self.list_page(MAX_PAGE, cursor, labels)
            for clock in page.clocks:
                yield clock
            cursor = page.next_cursor
            if cursor is None:
                return

    async def list_events(
        self,
        id: str,
        *,
        after: InstantLike | None = None,
        until: InstantLike | None = None,
        opening_balances: Mapping[str, Amount] | None = None,
    ) -> AsyncIterator[Event]:
        """Iterate over a clock's events after `after` and until `until`, which is the frozen time by default."""
        cursor = None
        while True:
            page = await self._send(calls.list_events(id, after, until, opening_balances, cursor))
            for event in page.events:
                yield event
            cursor = page.next_cursor
            if cursor is None:
                return

    async def close(self) -> None:
        """Close all connections. The client can't be used afterwards."""
        await self._transport.close()

    async def _send(self, call: Call[T]) -> T:
        """Return the result of the call. Retry it if that is safe, and raise the error of the last attempt."""
        retries = 0
        may_be_done = False
        """Whether the server may have completed an earlier attempt."""
        while True:
            try:
                return call.decode(await self._transport.send(call.request, self._token))
            except Unreachable as error:
                if error.may_have_arrived and not call.idempotent:
                    raise Unreachable(f"{error} The server may or may not have processed the call.") from None
                if retries == self._retries:
                    raise
                may_have_arrived, delay = error.may_have_arrived, 0.0
            except Rejection as rejection:
                if may_be_done and rejection.reason in call.already_done:
                    return call.already_done[rejection.reason]
                if rejection.reason is not Reason.UNAVAILABLE or not call.idempotent or retries == self._retries:
                    raise
                may_have_arrived, delay = True, _requested_delay(rejection)
            await self._transport.sleep(min(delay or _FIRST_DELAY * 2**retries, _MAX_DELAY))
            retries += 1
            may_be_done = may_be_done or may_have_arrived


def _requested_delay(rejection: Rejection) -> float:
    """Return the delay that the server asks for, or 0."""
    seconds = rejection.details.get("retryAfterSeconds")
    return max(seconds, 0) if isinstance(seconds, int | float) else 0


class AsyncTickover(AsyncClient):
    """A client for one server. Inside `async with` it reuses connections.

    Outside of `async with` every call opens its own connection. Nothing is then bound to an event loop: you can use
    one client from several loops in turn, and there is nothing to close.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        token: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        retries: int = DEFAULT_RETRIES,
    ) -> None:
        # Imported here because httpx2 takes long to import, and `Tickover` doesn't need it.
        from tickover.client.async_connections import AsyncConnections  # noqa: PLC0415

        self._connections = AsyncConnections(url, timeout)
        super().__init__(url, token, self._connections, retries)

    async def __aenter__(self) -> Self:
        self._connections.reuse()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
