"""The synchronous client and its clocks.

Their methods are those of the asyncio classes. With blocking connections, a coroutine never waits for an event loop, so
one step runs it to its end.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, Final, Generic, ParamSpec, Self, TypeVar, get_args

from tickover.client.async_client import AsyncClient
from tickover.client.async_clock import AsyncClock
from tickover.client.base_client import DEFAULT_RETRIES, DEFAULT_TIMEOUT, DEFAULT_URL
from tickover.client.clock_view import ClockView

A_co = TypeVar("A_co", covariant=True)
P = ParamSpec("P")
T = TypeVar("T")


def run(awaitable: Awaitable[T]) -> T:
    """Run a coroutine that never suspends."""
    __tracebackhide__ = True
    try:
        next(awaitable.__await__())
    except StopIteration as stop:
        result: T = stop.value
        return result
    raise RuntimeError("the coroutine waits for an event loop")


class _Blocking(Generic[A_co]):
    """An object whose methods run those of an asyncio object."""

    _async: A_co


def _method(
    method: Callable[Concatenate[A_co, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[_Blocking[A_co], P], T]:
    @wraps(method)
    def blocking(self: _Blocking[A_co], /, *args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True
        return run(method(self._async, *args, **kwargs))

    return blocking


def _clock_method(
    method: Callable[Concatenate[A_co, P], Coroutine[Any, Any, AsyncClock]],
) -> Callable[Concatenate[_Blocking[A_co], P], "Clock"]:
    @wraps(method)
    def blocking(self: _Blocking[A_co], /, *args: P.args, **kwargs: P.kwargs) -> "Clock":
        __tracebackhide__ = True
        return Clock(run(method(self._async, *args, **kwargs)))

    _show_result(blocking, "Clock")
    return blocking


def _iterator(
    method: Callable[Concatenate[A_co, P], AsyncIterator[T]],
) -> Callable[Concatenate[_Blocking[A_co], P], Iterator[T]]:
    @wraps(method)
    def blocking(self: _Blocking[A_co], /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        iterator = method(self._async, *args, **kwargs)
        while True:
            try:
                item = run(anext(iterator))
            except StopAsyncIteration:
                return
            yield item

    _show_result(blocking, Iterator[get_args(signature(method).return_annotation)])  # type: ignore[misc]
    return blocking


def _show_result(blocking: Any, result: object) -> None:
    """Make `help` show this type of result, and not that of the asyncio method."""
    blocking.__signature__ = signature(blocking).replace(return_annotation=result)


class Clock(ClockView, _Blocking[AsyncClock]):
    """A clock. Its properties are from the last response; its methods call the server."""

    def __init__(self, clock: AsyncClock) -> None:
        super().__init__(clock._state)  # noqa: SLF001 - both are one clock
        self._async = clock

    advance = _method(AsyncClock.advance)
    advance_to_next = _method(AsyncClock.advance_to_next)
    preview = _method(AsyncClock.preview)
    refresh = _method(AsyncClock.refresh)
    fork = _clock_method(AsyncClock.fork)
    add = _method(AsyncClock.add)
    cancel = _method(AsyncClock.cancel)
    spend = _method(AsyncClock.spend)
    update = _method(AsyncClock.update)
    delete = _method(AsyncClock.delete)
    events = _iterator(AsyncClock.events)
    deliver = _method(AsyncClock.deliver)
    connect = _method(AsyncClock.connect)
    balance = _method(AsyncClock.balance)
    balances = _method(AsyncClock.balances)
    export = _method(AsyncClock.export)
    check = _method(AsyncClock.check)
    reconcile = _method(AsyncClock.reconcile)


class Tickover(_Blocking[AsyncClient]):
    """A client for one server. Use it in a `with` block or call `close()`. It is thread-safe."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        token: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        retries: int = DEFAULT_RETRIES,
    ) -> None:
        # Imported here because http.client takes long to import, and `tickover --help` doesn't need it.
        from tickover.client.http_pool import HttpPool  # noqa: PLC0415

        self._async = AsyncClient(url, token, HttpPool(url), timeout, retries)
        self.url: Final = self._async.url

    def __repr__(self) -> str:
        return f"Tickover({self.url!r}, {'not signed in' if self.token is None else 'signed in'})"

    @property
    def token(self) -> str | None:
        """The bearer token, or None if the client isn't signed in."""
        return self._async.token

    @token.setter
    def token(self, token: str | None) -> None:
        self._async.token = token

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    send_code = _method(AsyncClient.send_code)
    send_link = _method(AsyncClient.send_link)
    sign_in = _method(AsyncClient.sign_in)
    log_in = _method(AsyncClient.log_in)
    log_in_by_link = _method(AsyncClient.log_in_by_link)
    log_out = _method(AsyncClient.log_out)
    delete_current_user = _method(AsyncClient.delete_current_user)
    current_user = _method(AsyncClient.current_user)
    create_access_token = _method(AsyncClient.create_access_token)
    list_access_tokens = _method(AsyncClient.list_access_tokens)
    revoke_access_token = _method(AsyncClient.revoke_access_token)
    latest_email = _method(AsyncClient.latest_email)
    create_clock = _clock_method(AsyncClient.create_clock)
    create_clock_from_scenario = _clock_method(AsyncClient.create_clock_from_scenario)
    get_clock = _clock_method(AsyncClient.get_clock)
    advance_clock = _method(AsyncClient.advance_clock)
    fork_clock = _clock_method(AsyncClient.fork_clock)
    amend_clock = _clock_method(AsyncClient.amend_clock)
    update_clock = _clock_method(AsyncClient.update_clock)
    delete_clock = _method(AsyncClient.delete_clock)
    connect_clock = _method(AsyncClient.connect_clock)
    list_connections = _method(AsyncClient.list_connections)
    update_connection = _method(AsyncClient.update_connection)
    list_connection_calls = _method(AsyncClient.list_connection_calls)
    disconnect_clock = _method(AsyncClient.disconnect_clock)
    list_clocks = _iterator(AsyncClient.list_clocks)
    list_page = _method(AsyncClient.list_page)
    list_events = _iterator(AsyncClient.list_events)
    get_balances = _method(AsyncClient.get_balances)
    export_clock = _method(AsyncClient.export_clock)
    check_clock = _method(AsyncClient.check_clock)
    reconcile_clock = _method(AsyncClient.reconcile_clock)
    expand_scenario = _method(AsyncClient.expand_scenario)
    scenario_from_statement = _method(AsyncClient.scenario_from_statement)
    discover = _method(AsyncClient.discover)
    close = _method(AsyncClient.close)
