"""The asyncio client."""

from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, get_args

from tickover.api.access_tokens import SignedIn
from tickover.api.clocks import Snapshot, Summary
from tickover.api.errors import Reason, Rejection
from tickover.api.limits import MAX_PAGE
from tickover.client import calls
from tickover.client.async_clock import AsyncClock
from tickover.client.base_client import DEFAULT_RETRIES, DEFAULT_TIMEOUT, DEFAULT_URL, BaseClient
from tickover.client.calls import Call
from tickover.client.client_errors import NoCode

P = ParamSpec("P")
T = TypeVar("T")


def _method(call: Callable[P, Call[T]]) -> Callable[Concatenate["AsyncClient", P], Coroutine[Any, Any, T]]:
    """Return a method that sends this call."""

    @wraps(call)
    async def send(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.send(call(*args, **kwargs))

    _show_signature(send, call)
    return send


def _clock_method(
    call: Callable[P, Call[Snapshot]],
) -> Callable[Concatenate["AsyncClient", P], Coroutine[Any, Any, AsyncClock]]:
    @wraps(call)
    async def send(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> AsyncClock:
        snapshot = await self.send(call(*args, **kwargs))
        return AsyncClock(self, snapshot)

    _show_signature(send, call, AsyncClock)
    return send


def _show_signature(method: Any, call: Callable[..., object], result: object = None) -> None:
    """Make `help` show the parameters of the call after `self`, and its result, or this type of result."""
    shown = signature(call)
    parameters = [Parameter("self", Parameter.POSITIONAL_ONLY), *shown.parameters.values()]
    [call_result] = get_args(shown.return_annotation)
    method.__signature__ = shown.replace(parameters=parameters, return_annotation=result or call_result)


class AsyncClient(BaseClient):
    """The methods of `AsyncTickover`."""

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
    fork_clock = _clock_method(calls.fork_clock)
    amend_clock = _clock_method(calls.amend_clock)
    update_clock = _clock_method(calls.update_clock)
    delete_clock = _method(calls.delete_clock)
    connect_clock = _method(calls.connect_clock)
    list_connections = _method(calls.list_connections)
    update_connection = _method(calls.update_connection)
    list_connection_calls = _method(calls.list_connection_calls)
    disconnect_clock = _method(calls.disconnect_clock)
    list_page = _method(calls.list_page)
    get_balances = _method(calls.get_balances)
    export_clock = _method(calls.export_clock)
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
        signed_in = await self.send(call)
        self.token = signed_in.token
        return signed_in

    async def log_out(self, *, everywhere: bool = False) -> None:
        """Revoke the token, or the tokens of all your sign-ins, and remove it from the client."""
        await self.send(calls.log_out(everywhere))
        self.token = None

    async def delete_current_user(self) -> None:
        """Delete your user with all clocks, connections and tokens, permanently."""
        await self.send(calls.delete_current_user())
        self.token = None

    async def list_clocks(
        self, labels: Mapping[str, str] | None = None, *, name: str | None = None
    ) -> AsyncIterator[Summary]:
        """Iterate over your clocks, newest first: all, or those with these labels and this name.

        Pages are requested when needed.
        """
        async for page in self._pages(lambda cursor: calls.list_page(MAX_PAGE, cursor, labels, name)):
            for clock in page.clocks:
                yield clock


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
        from tickover.client.async_http_pool import AsyncHttpPool  # noqa: PLC0415

        self._pool = AsyncHttpPool(url)
        super().__init__(url, token, self._pool, timeout, retries)

    async def __aenter__(self) -> Self:
        self._pool.reuse()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
