"""The gate: every request of JSON-RPC and of the bank enters by it.

It limits the requests in progress, gives them turns, measures their time, and counts and logs their calls. Whoever has
used the least time in the last seconds goes first.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from heapq import nsmallest
from math import inf
from time import monotonic
from types import coroutine
from typing import Any, Final, TypeVar

from tickover.api import ids
from tickover.api.errors import Reason, Rejection, unavailable
from tickover.server.logs import FailureLog, Log
from tickover.server.storage.store import DatabaseUnavailable

_SLICE_SECONDS: Final = 0.004
"""Requests begin and continue for this long in one iteration of the event loop. The others wait for the next one."""
_STEP_SECONDS: Final = 0.002
"""A long call lets others run after this time."""
_MAX_REST_SECONDS: Final = 0.05
_TIMER_SECONDS: Final = 0.001
"""The precision of timers."""
_HALF_LIFE_SECONDS: Final = 5.0
"""After this time, what a user has used counts half."""
_SECONDS_PER_BYTE: Final = 5e-9
"""What writing a byte to a client or to the database costs."""
_MAX_RUNNING: Final = 8
"""Requests of a user that have begun, while there are other users. More would fill the batches of the database."""
_SHARED_SECONDS: Final = 1.0
"""How long a user counts as there after a request."""
_MAX_WOKEN: Final = 32
"""Requests that wake up in one iteration of the event loop."""
_REFUSING_SECONDS: Final = 1.0
_HEAVY_CALLS: Final = 4
"""Calls on large clocks, and calls that build an index."""

User = bytes | str
"""The key of a user, or the network of a caller who is not known."""
Observe = Callable[[str, Rejection | None, float], object]
"""Receives the name of a call that has ended, its rejection if it failed, and its duration in seconds."""
_T = TypeVar("_T")


class _Account:
    """What a user has used, and has in progress."""

    def __init__(self, user: User) -> None:
        self.user = user
        self.used = 0.0
        """Seconds."""
        self.places = 0
        self.running = 0
        self.rests_until = -inf


class Place:
    """The place of a request in progress, which is a call, or a batch of calls that run one after another."""

    def __init__(self, gate: "Gate", account: _Account, request_id: str, has_left: Callable[[], bool]) -> None:
        self.gate = gate
        self.entered_as = self.account = account
        """The second one changes once the caller is known. Time is charged to both."""
        self.request_id = request_id
        self.has_left = has_left
        """Whether the client is gone."""
        self.is_reading = False
        """Whether a call runs that writes nothing. It ends when the client has left."""
        self.call_began = self.step_began = gate.now()
        """The first call begins with the request."""
        self.is_running = self.is_heavy = False

    def charge(self, seconds: float) -> None:
        self.account.used += seconds
        if self.entered_as is not self.account:
            self.entered_as.used += seconds

    def check_client(self) -> None:
        if self.is_reading and self.has_left():
            raise unavailable("The client has left.")


class Line:
    """Lets a few calls run at a time, one of each user. Of those that wait, who has used the least goes first."""

    def __init__(self, size: int, max_waiting: float = inf) -> None:
        self._size = size
        self._max_waiting = max_waiting
        self._running: dict[Place, _Account] = {}
        self._waiting: dict[Place, asyncio.Future[None]] = {}

    async def enter(self, place: Place) -> None:
        """Wait for a turn. Raise UNAVAILABLE if more calls of the user wait than could still be added."""
        if self._may_run(place):
            self._running[place] = place.account
            return
        if sum(one.account is place.account for one in self._waiting) >= self._max_waiting - len(self._waiting):
            raise unavailable("Too many calls with large responses are in progress. Try again.")
        turn = self._waiting[place] = asyncio.get_running_loop().create_future()
        try:
            await turn
            place.check_client()
        except BaseException:
            self.leave(place)
            raise

    def leave(self, place: Place) -> None:
        self._waiting.pop(place, None)
        self._running.pop(place, None)
        while ready := [one for one in self._waiting if self._may_run(one)]:
            first = min(ready, key=_used)
            self._running[first] = first.account
            self._waiting.pop(first).set_result(None)

    def _may_run(self, place: Place) -> bool:
        return len(self._running) < self._size and place.account not in self._running.values()


class Gate:
    def __init__(
        self,
        log: Log,
        max_in_flight: int = 512,
        observe: Observe = lambda *_: None,
        count_rejection: Callable[[Reason], object] = lambda _: None,
        count_refusal: Callable[[], object] = lambda: None,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self.in_flight = 0
        self.heavy = Line(_HEAVY_CALLS)
        self.now = now
        self._log = log
        self._max = max_in_flight
        self._observe = observe
        self._count_rejection = count_rejection
        self._on_refusal = count_refusal
        self._failures = FailureLog(log)
        self._last_call_at = inf
        self._refused_at = -inf
        self._accounts: dict[User, _Account] = {}
        self._decayed_at = self._shared_until = now()
        self._last_account: _Account | None = None
        self._waiting: dict[Place, asyncio.Future[bool]] = {}
        """Requests that wait for a turn to begin or to continue, in order of arrival. The first one has its turn."""
        self._slice_used = 0.0
        self._is_scheduled = False

    def stop(self, seconds: float) -> None:
        """Reject calls that start more than `seconds` from now with UNAVAILABLE, also those of a running batch."""
        self._last_call_at = self.now() + seconds

    # Places

    def enter(self, user: User, request_id: str = "", has_left: Callable[[], bool] = lambda: False) -> Place | None:
        """Take a place. Return None if the user has as many places as are free."""
        account = self._account(user)
        if account.places >= self._max - self.in_flight:
            self.count_refusal()
            return None
        if self._last_account not in (None, account):
            self._shared_until = self.now() + _SHARED_SECONDS
        self._last_account = account
        self.in_flight += 1
        account.places += 1
        return Place(self, account, request_id, has_left)

    def leave(self, place: Place) -> None:
        self.in_flight -= 1
        place.entered_as.places -= 1
        place.entered_as.running -= place.is_running

    def count_refusal(self) -> None:
        """Count a request that is refused before it is read."""
        self._refused_at = self.now()
        self._count_rejection(Reason.UNAVAILABLE)
        self._on_refusal()

    def is_refusing(self) -> bool:
        """Return whether a request was refused in the last second."""
        return self.now() - self._refused_at < _REFUSING_SECONDS

    def _account(self, user: User) -> _Account:
        account = self._accounts.get(user)
        if account is None:
            account = self._accounts[user] = _Account(user)
        return account

    def identify(self, place: Place, user: User) -> None:
        """Charge a request to another user too, once the caller is known."""
        place.account = self._account(user)

    # Time

    @coroutine
    def run(self, place: Place, work: Coroutine[Any, Any, _T]) -> Generator[Any, Any, _T]:
        """Run a request at its turn, step by step. Charge the time of each step to its user."""
        _current.set(place)
        error: BaseException | None = None
        try:
            yield from self.take_turn(place).__await__()
            place.is_running = True
            place.entered_as.running += 1
            while True:
                place.step_began = self.now()
                try:
                    awaited = work.send(None) if error is None else work.throw(error)
                except StopIteration as stop:
                    result: _T = stop.value
                    return result
                finally:
                    self._end_step(place)
                error = None
                try:
                    yield awaited
                except BaseException as thrown:
                    error = thrown
        finally:
            work.close()
            self.leave(place)

    def _end_step(self, place: Place) -> None:
        """Charge the time of a step. After a long one, its user rests as long as it took."""
        now = self.now()
        seconds = now - place.step_began
        place.charge(seconds)
        self._slice_used += seconds
        if seconds >= _STEP_SECONDS:
            place.account.rests_until = place.entered_as.rests_until = now + min(seconds, _MAX_REST_SECONDS)
        if now - self._decayed_at > _HALF_LIFE_SECONDS:
            self._decay(now)
        self._schedule_turns()

    def _decay(self, now: float) -> None:
        factor = 0.5 ** ((now - self._decayed_at) / _HALF_LIFE_SECONDS)
        self._decayed_at = now
        for user, account in list(self._accounts.items()):
            account.used *= factor
            if not account.places and account.used < _STEP_SECONDS:
                del self._accounts[user]

    # Turns

    async def pause(self, place: Place) -> None:
        """Let others run, if the step has taken long."""
        if self.now() - place.step_began >= _STEP_SECONDS:
            await self._wait_for_turn(place)
            place.check_client()

    async def take_turn(self, place: Place) -> None:
        """Wait for a turn, unless there is time left in this iteration of the event loop."""
        if not self._has_turn(place):
            await self._wait_for_turn(place)

    async def _wait_for_turn(self, place: Place) -> None:
        try:
            while True:
                turn = self._waiting[place] = asyncio.get_running_loop().create_future()
                self._schedule_turns()
                is_first = await turn
                # Others may have taken the time of this iteration.
                if is_first or self._has_turn(place):
                    return
        finally:
            del self._waiting[place]

    def _has_turn(self, place: Place) -> bool:
        return self._slice_used < _SLICE_SECONDS and not self._is_blocked(place, self.now())

    def _is_blocked(self, place: Place, now: float) -> bool:
        """Return whether a user, who isn't the only one, has enough requests running, or rests."""
        if now >= self._shared_until:
            return False
        return now < place.account.rests_until or (not place.is_running and place.entered_as.running >= _MAX_RUNNING)

    def _schedule_turns(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._give_turns)

    def _give_turns(self) -> None:
        """Begin an iteration of the event loop: wake those who have used the least."""
        self._is_scheduled, self._slice_used = False, 0.0
        if not self._waiting:
            return
        now = self.now()
        ready = [place for place in self._waiting if not self._is_blocked(place, now)]
        woken = nsmallest(_MAX_WOKEN, ready, key=_used)
        for place in woken:
            if not self._waiting[place].done():
                self._waiting[place].set_result(place is woken[0])
        if ready:
            self._schedule_turns()
        elif rests := [rest for place in self._waiting if (rest := place.account.rests_until - now) > 0]:
            # If the timer is early, they still rest, and the next one wakes them.
            asyncio.get_running_loop().call_later(min(rests) + _TIMER_SECONDS, self._schedule_turns)

    # Calls

    async def call(self, name: str, work: Callable[[], Awaitable[_T]], *, writes: bool = False) -> _T | Rejection:
        """Run a call of the current request. Return its result, or the rejection that ended it. A bug is logged.

        `name` is never text of the client.
        """
        place, rejection = current(), None
        try:
            if self.now() >= self._last_call_at:
                raise unavailable("The server is shutting down.")
            place.is_reading = not writes
            place.check_client()
            return await work()
        except Rejection as error:
            rejection = error
        except Exception:
            rejection = self.report_bug(place.request_id)
        finally:
            place.is_reading = False
            self.end_call(name, place, rejection)
        return rejection

    def end_call(self, name: str, place: Place, rejection: Rejection | None) -> None:
        """Count and log a call that has ended. The log has no text of the caller, and of people only user IDs."""
        if place.is_heavy:
            place.is_heavy = False
            self.heavy.leave(place)
        now = self.now()
        seconds, place.call_began = now - place.call_began, now
        if rejection is not None:
            self._count_rejection(rejection.reason)
            if isinstance(rejection, DatabaseUnavailable):
                self._failures.note(name, rejection.describe(), seconds, now, place.request_id)
        self._observe(name, rejection, seconds)
        if self._log.is_debug:
            user = place.account.user
            self._log.debug(
                "call",
                method=name,
                user=ids.write("user", user) if isinstance(user, bytes) else None,
                outcome=rejection.reason if rejection else "ok",
                request_id=place.request_id,
            )

    def report_bug(self, request_id: str) -> Rejection:
        """Log the exception that is being handled, and return an INTERNAL error."""
        self._log.exception("internal error", request_id=request_id)
        message = "The server failed because of a bug. Report the request ID to its operator."
        return Rejection(Reason.INTERNAL, message, {"requestId": request_id})


def too_many_calls() -> Rejection:
    return unavailable("The server has too many calls in progress. Try again.")


def _used(place: Place) -> float:
    return place.account.used


def current() -> Place:
    """Return the place of the current request."""
    place = _current.get()
    assert place is not None, "a request is in progress"
    return place


# What the current request does. Without one, as in a test of an operation, nothing is done.


async def pause() -> None:
    """Let others run, if the current request has run for a few milliseconds. End its call if the client has left."""
    if place := _current.get():
        await place.gate.pause(place)


async def become_heavy() -> None:
    """Wait until the current call can work on something large, and let no other heavy call of its user run."""
    if (place := _current.get()) and not place.is_heavy:
        await place.gate.heavy.enter(place)
        place.is_heavy = True
        await place.gate.take_turn(place)


@asynccontextmanager
async def turn_in(line: Line) -> AsyncIterator[None]:
    """Wait for the turn of the current request in a line."""
    place = _current.get()
    if place:
        await line.enter(place)
    try:
        yield
    finally:
        if place:
            line.leave(place)


def charge(seconds: float) -> None:
    """Charge time that another process has used to the user of the current request."""
    if place := _current.get():
        place.charge(seconds)


def charge_bytes(size: int) -> None:
    """Charge bytes that the current request writes to the client or to the database."""
    charge(size * _SECONDS_PER_BYTE)


def identify(user: User) -> None:
    """Count the current request for this user, who is known now."""
    if (place := _current.get()) and user != place.account.user:
        place.gate.identify(place, user)


_current: Final[ContextVar[Place | None]] = ContextVar("current", default=None)
