"""The gate: every call enters by it, of JSON-RPC, of a batch and of the bank.

It counts the calls in progress, gives turns, and measures, counts and logs each call. Whoever has used the least time
in the last seconds goes first. What is charged is what was measured.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable
from contextlib import asynccontextmanager
from math import inf
from time import monotonic
from typing import Any, Final, TypeVar

from tickover.api import ids
from tickover.api.errors import Reason, Rejection, unavailable
from tickover.server.logs import FailureLog, Log
from tickover.server.storage.store import DatabaseUnavailable

_SLICE_SECONDS: Final = 0.004
"""Calls run this long in one iteration of the event loop. The others wait for their turn in the next one."""
_SLICE_SECONDS_ALONE: Final = 0.05
"""The same while only one user is active."""
_STEP_SECONDS: Final = 0.002
"""A long call lets others run after this time."""
_MAX_REST_SECONDS: Final = 0.05
_HALF_LIFE_SECONDS: Final = 5.0
"""After this time, what a user has used counts half."""
_SECONDS_PER_BYTE: Final = 5e-9
"""What writing a byte to a client or to the database costs."""
_OTHERS_SECONDS: Final = 1.0
"""After a call of another user, a user has fewer calls running."""
_RUNNING_BESIDE_OTHERS: Final = 8
_TURNS: Final = 32
"""Calls that wake up in one iteration of the event loop."""
_REFUSING_SECONDS: Final = 1.0
_HEAVY_CALLS: Final = 4
"""Calls on large clocks, and calls that build an index. Each user has one at a time."""
_LARGE_BATCHES: Final = 8
_WAITING_LARGE_BATCHES: Final = 16
"""Batches that hold a large response while they wait."""
_WAITING_LARGE_BATCHES_OF_USER: Final = 4

User = bytes | str
"""The key of a user, or the network of a caller without a token."""
Observe = Callable[[str, Rejection | None, float], object]
"""Receives the name of a call that has ended, its rejection if it failed, and its duration in seconds."""
_T = TypeVar("_T")


class _Account:
    """What a user has used, and has in progress."""

    def __init__(self, user: User) -> None:
        self.user = user
        self.used = 0.0
        """Seconds."""
        self.calls: dict[Call, None] = {}
        """In order of arrival."""
        self.running = 0
        self.turns: deque[asyncio.Future[None]] = deque()
        """Calls that wait for their turn to begin. `Gate.resuming` has those that have begun."""
        self.rests_until = -inf


_NOBODY: Final = _Account("")


class _Meter:
    """What a request charges to, and since when."""

    __slots__ = ("account", "current", "since", "step_began")

    def __init__(self) -> None:
        self.account = _NOBODY
        self.current: tuple[Gate, Call] | None = None
        self.since = self.step_began = inf


class Call:
    """A call in progress. `name` is never text of the client."""

    __slots__ = (
        *("account", "has_left", "heavy", "is_running", "name", "request_id"),
        *("user", "waits_for", "writes"),
    )

    def __init__(
        self, name: str, user: User, request_id: str = "", has_left: Callable[[], bool] = lambda: False
    ) -> None:
        self.name = name
        self.user = user
        self.request_id = request_id
        self.has_left = has_left
        """Whether the client is gone. Then a call that has to wait ends, unless it writes."""
        self.writes = False
        self.account = _NOBODY
        self.waits_for: asyncio.Future[None] | None = None
        self.is_running = False
        self.heavy: _Account | None = None
        """Who has its place in the line of heavy calls, if this is one. The user can become known later."""


class Line:
    """Lets a few calls run at a time. Of those that wait, the user who has used the least goes first."""

    def __init__(self, size: int, size_of_user: int = 1) -> None:
        self._size = size
        self._size_of_user = size_of_user
        self._running: Counter[_Account] = Counter()
        self._waiting: dict[asyncio.Future[None], _Account] = {}

    async def enter(self, call: Call) -> _Account:
        """Wait for the call's turn. Return the account that has to leave."""
        account = call.account
        if not self._has_room(account):
            turn = asyncio.get_running_loop().create_future()
            self._waiting[turn] = account
            try:
                await _wait(call, turn)
            except BaseException:
                if self._waiting.pop(turn, None) is None:
                    self.leave(account)
                raise
        else:
            self._running[account] += 1
        return account

    def count_waiting(self, account: _Account) -> tuple[int, int]:
        """Return how many calls wait, and how many of them are of this account."""
        return len(self._waiting), sum(one is account for one in self._waiting.values())

    def leave(self, account: _Account) -> None:
        self._running[account] -= 1
        if not self._running[account]:
            del self._running[account]
        while self._waiting:
            turn = min(self._waiting, key=lambda one: (one.done(), self._full(one), self._waiting[one].used))
            if turn.done() or self._full(turn):
                return
            self._running[self._waiting.pop(turn)] += 1
            turn.set_result(None)

    def _full(self, turn: "asyncio.Future[None]") -> bool:
        return not self._has_room(self._waiting[turn])

    def _has_room(self, account: _Account) -> bool:
        return self._running.total() < self._size and self._running[account] < self._size_of_user


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
        self._log = log
        self._max = max_in_flight
        self._observe = observe
        self._count_rejection = count_rejection
        self._on_refusal = count_refusal
        self.now = now
        self._failures = FailureLog(log)
        self._last_call_at = inf
        self._refused_at = -inf
        self._accounts: dict[User, _Account] = {}
        self._active = 0
        """Accounts with calls in progress."""
        self._decayed_at = now()
        self._last_user: User | None = None
        self._others_until = -inf
        self._has_others = False
        self._slice_used = 0.0
        self.meter = self.no_meter = _Meter()
        """Of the request that runs."""
        self._is_scheduled = False
        self._waiting: set[_Account] = set()
        self._resuming: dict[asyncio.Future[None], _Account] = {}
        self.heavy = Line(_HEAVY_CALLS)
        self._large_batches = Line(_LARGE_BATCHES)

    @asynccontextmanager
    async def large_batch(self, user: User) -> AsyncIterator[None]:
        """Wait until a batch can hold a large response. It has entered with none of its calls.

        Raise UNAVAILABLE if too many wait, because they hold the responses so far.
        """
        call = Call("batch", user)
        call.account = self._account(user)
        waiting, own = self._large_batches.count_waiting(call.account)
        if waiting >= _WAITING_LARGE_BATCHES or own >= _WAITING_LARGE_BATCHES_OF_USER:
            raise unavailable("Too many batches with large responses are in progress. Try again.")
        account = await self._large_batches.enter(call)
        try:
            yield
        finally:
            self._large_batches.leave(account)

    def stop(self, seconds: float) -> None:
        """Reject calls that start more than `seconds` from now with UNAVAILABLE, also those of a running batch."""
        self._last_call_at = self.now() + seconds

    def is_refusing(self) -> bool:
        """Return whether a call was refused for want of a place in the last second."""
        return self.now() - self._refused_at < _REFUSING_SECONDS

    async def run(self, call: Call, work: Callable[[], Coroutine[Any, Any, _T]]) -> _T | Rejection:
        """Run a call at its turn. Return its result, or the rejection that ended it. A bug is logged."""
        began, rejection = self.lap(), None
        meter = self.meter
        meter.current = self, call
        try:
            if began >= self._last_call_at:
                raise unavailable("The server is shutting down.")
            if self._waiting:
                _check_client(call)
            self._take_place(call, began)
            try:
                if not self._begins_now(call, began):
                    await self._wait_for_turn(call)
                call.is_running = True
                return await work()
            finally:
                self._leave(call)
        except Rejection as error:
            rejection = error
        except Exception:
            rejection = self.report_bug(call.request_id)
        finally:
            meter.current = None
            self.observe(call, rejection, self.now() - began)
        return rejection

    def observe(self, call: Call, rejection: Rejection | None, seconds: float) -> None:
        """Count and log a call that has ended. The log has no text of the caller, and of people only user IDs."""
        if rejection is not None:
            self._count_rejection(rejection.reason)
            if isinstance(rejection, DatabaseUnavailable):
                self._failures.note(call.name, rejection.describe(), seconds, self.now(), call.request_id)
        self._observe(call.name, rejection, seconds)
        if self._log.is_debug:
            self._log.debug(
                "call",
                method=call.name,
                user=ids.write("user", call.user) if isinstance(call.user, bytes) else None,
                outcome=rejection.reason if rejection else "ok",
                request_id=call.request_id,
            )

    def report_bug(self, request_id: str) -> Rejection:
        """Log the exception that is being handled, and return an INTERNAL error."""
        self._log.exception("internal error", request_id=request_id)
        message = "The server failed because of a bug. Report the request ID to its operator."
        return Rejection(Reason.INTERNAL, message, {"requestId": request_id})

    def is_full(self) -> bool:
        return self.in_flight >= self._max

    def refuses(self, user: User) -> bool:
        """Return whether a call of the user has no place: all are taken, and the user has an equal share of them."""
        if not self.is_full():
            return False
        account = self._accounts.get(user)
        return account is not None and len(account.calls) * self._active >= self.in_flight

    def count_refusal(self, reason: Reason) -> None:
        """Count a request that was refused before it was a call."""
        if reason is Reason.UNAVAILABLE:
            self._refused_at = self.now()
        self._count_rejection(reason)
        self._on_refusal()

    # Places

    def _take_place(self, call: Call, now: float) -> None:
        """Count the call. If there are too many, turn away one of the user who has the most."""
        self.meter.account = mine = self._account(call.user)
        if self.is_full():
            self._refused_at = now
            self._on_refusal()
            if self.refuses(call.user) or not self._turn_away(mine):
                raise unavailable("The server has too many calls in progress. Try again.")
        if call.user != self._last_user:
            self._others_until = -inf if self._last_user is None else now + _OTHERS_SECONDS
            self._last_user = call.user
        self._has_others = now < self._others_until
        self.in_flight += 1
        call.account = mine
        self._add(call)

    def _turn_away(self, newcomer: _Account) -> bool:
        """End the newest waiting call of a user with more calls than the newcomer's. Return whether there is room."""
        most = [one for one in self._accounts.values() if len(one.calls) > len(newcomer.calls) + 1]
        for account in sorted(most, key=lambda one: -len(one.calls)):
            for call in reversed(account.calls):
                if call.waits_for is not None and not call.waits_for.done():
                    call.waits_for.set_exception(unavailable("You have the most calls in progress. Try again."))
                    return True
        # Calls that wait for the database can't end. They must not keep others out.
        return not newcomer.calls and self.in_flight < self._max + self._max // 8

    def _leave(self, call: Call) -> None:
        account = call.account
        if call.heavy is not None:
            self.heavy.leave(call.heavy)
        if call.is_running:
            account.running -= 1
        self._remove(call)
        self.in_flight -= 1
        if self._waiting:
            self._schedule()

    def _account(self, user: User) -> _Account:
        account = self._accounts.get(user)
        if account is None:
            account = self._accounts[user] = _Account(user)
        return account

    def _add(self, call: Call) -> None:
        self._active += not call.account.calls
        call.account.calls[call] = None

    def _remove(self, call: Call) -> None:
        del call.account.calls[call]
        self._active -= not call.account.calls

    def move(self, call: Call, user: User) -> None:
        """Count the call for another user, once the caller is known."""
        old, new = call.account, self._account(user)
        call.user, self.meter.account = user, new
        if new is not old:
            self._remove(call)
            call.account = new
            self._add(call)
            old.running -= 1
            new.running += 1

    # Turns

    def _begins_now(self, call: Call, now: float) -> bool:
        """Begin the call, or return False if it has to wait for its turn."""
        account = call.account
        if self._waiting or self._is_slice_used() or not self._may_run(account, now):
            return False
        account.running += 1
        return True

    def _is_slice_used(self) -> bool:
        return self._slice_used >= (_SLICE_SECONDS if self._has_others else _SLICE_SECONDS_ALONE)

    async def _wait_for_turn(self, call: Call) -> None:
        account, turn = call.account, asyncio.get_running_loop().create_future()
        account.turns.append(turn)
        while True:
            self._waiting.add(account)
            self._schedule()
            try:
                await _wait(call, turn)
            except BaseException:
                if turn.done() and not turn.cancelled() and turn.exception() is None:
                    account.running -= 1
                raise
            if not self._is_slice_used():
                return
            # Another call that woke up in this iteration took the time.
            account.running -= 1
            turn = asyncio.get_running_loop().create_future()
            account.turns.appendleft(turn)

    async def pause(self, call: Call) -> None:
        """Let others run, if this call has run for a while. Beside calls of others, rest as it ran."""
        if self.now() - self.meter.step_began < _STEP_SECONDS:
            return
        turn = asyncio.get_running_loop().create_future()
        self._resuming[turn] = call.account
        self._schedule()
        try:
            await _wait(call, turn)
        finally:
            self._resuming.pop(turn, None)

    def _may_run(self, account: _Account, now: float) -> bool:
        limit = _RUNNING_BESIDE_OTHERS if self._has_others else self._max // 4
        return account.running < max(limit, 1) and self._rest(account, now) <= 0

    def measured(self, work: Coroutine[Any, Any, _T]) -> Awaitable[_T]:
        """Charge the time of a request to the user of its call."""
        return _Measured(self, work)

    def lap(self) -> float:
        """Charge the time of the step so far, and return the time."""
        now, meter = self.now(), self.meter
        if meter is self.no_meter:
            return now
        seconds = now - meter.since
        meter.since = now
        meter.account.used += seconds
        self._slice_used += seconds
        if now - self._decayed_at > _HALF_LIFE_SECONDS:
            self._decay(now)
        return now

    def end_step(self) -> None:
        """Charge the time of the step. After a long one, its user rests as it took."""
        now, meter = self.lap(), self.meter
        ran = now - meter.step_began
        if ran >= _STEP_SECONDS:
            meter.account.rests_until = now + min(ran, _MAX_REST_SECONDS)

    def _decay(self, now: float) -> None:
        factor = 0.5 ** ((now - self._decayed_at) / _HALF_LIFE_SECONDS)
        self._decayed_at = now
        for user, account in list(self._accounts.items()):
            account.used *= factor
            if not account.calls and account.used < _STEP_SECONDS:
                del self._accounts[user]

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._give_turns)

    def _give_turns(self) -> None:
        """Begin an iteration of the event loop: wake calls of those who have used the least."""
        self._is_scheduled, self._slice_used = False, 0.0
        if not self._waiting and not self._resuming:
            return
        now = self.now()
        resumed = self._next_to_resume(now)
        begun = self._begin_turns(now, inf if resumed is None else self._resuming[resumed].used)
        self._schedule_after_rest([*self._waiting, *self._resuming.values()], now)
        if resumed is not None and not begun:
            resumed.set_result(None)
        if begun or resumed is not None:
            # The others.
            self._schedule()

    def _schedule_after_rest(self, accounts: Iterable[_Account], now: float) -> None:
        """Give turns again when the first of these users has rested."""
        rests = [rest for rest in (self._rest(account, now) for account in accounts) if rest > 0]
        if rests:
            asyncio.get_running_loop().call_later(max(min(rests), 0.001), self._schedule)

    def _begin_turns(self, now: float, max_used: float) -> int:
        """Begin calls that wait, of users who have used at most `max_used`. Return their number."""
        begun = 0
        for account in sorted(self._waiting, key=lambda one: one.used):
            if account.used > max_used:
                break
            while begun < _TURNS and account.turns and (account.turns[0].done() or self._may_run(account, now)):
                turn = account.turns.popleft()
                if not turn.done():
                    account.running += 1
                    turn.set_result(None)
                    begun += 1
            if not account.turns:
                self._waiting.discard(account)
        return begun

    def _next_to_resume(self, now: float) -> "asyncio.Future[None] | None":
        """Return the call to continue, of the user who has used the least, unless all of them rest."""
        ready = [turn for turn, one in self._resuming.items() if not turn.done() and self._rest(one, now) <= 0]
        return min(ready, key=lambda turn: self._resuming[turn].used, default=None)

    def _rest(self, account: _Account, now: float) -> float:
        """Return how long a user still rests, in seconds. Nobody rests alone."""
        return account.rests_until - now if self.in_flight > len(account.calls) else 0.0


class _Measured(Awaitable[_T]):
    """Runs a coroutine step by step, and charges the time of each step."""

    def __init__(self, gate: Gate, work: Coroutine[Any, Any, _T]) -> None:
        self._gate = gate
        self._work = work

    def __await__(self) -> Generator[Any, Any, _T]:
        gate, work, meter = self._gate, self._work, _Meter()
        error: BaseException | None = None
        while True:
            gate.meter = _running[0] = meter
            meter.since = meter.step_began = gate.now()
            try:
                awaited = work.send(None) if error is None else work.throw(error)
            except StopIteration as stop:
                result: _T = stop.value
                return result
            finally:
                gate.end_step()
                gate.meter = _running[0] = gate.no_meter
            error = None
            try:
                yield awaited
            except BaseException as thrown:
                error = thrown


async def _wait(call: Call, turn: "asyncio.Future[None]") -> None:
    call.waits_for = turn
    try:
        await turn
    finally:
        call.waits_for = None
    _check_client(call)


def _check_client(call: Call) -> None:
    """End a call that has to wait if its client is gone, unless it writes."""
    if not call.writes and call.has_left():
        raise unavailable("The client has left.")


async def pause() -> None:
    """Let others run, if the current call has run for a few milliseconds."""
    if (current := _running[0].current) is not None:
        gate, call = current
        await gate.pause(call)


async def become_heavy() -> None:
    """Wait until the current call can work on something large, and let no other heavy call of its user run."""
    if (current := _running[0].current) is not None:
        gate, call = current
        if call.heavy is None:
            call.heavy = await gate.heavy.enter(call)


@asynccontextmanager
async def turn_in(line: Line) -> AsyncIterator[None]:
    """Wait for the turn of the current call in a line."""
    if (current := _running[0].current) is None:
        yield
        return
    _, call = current
    account = await line.enter(call)
    try:
        yield
    finally:
        line.leave(account)


def charge(seconds: float) -> None:
    """Charge time that another process has used to the current call."""
    if (current := _running[0].current) is not None:
        current[1].account.used += seconds


def charge_bytes(size: int) -> None:
    """Charge bytes that the current call writes to the client or to the database."""
    charge(size * _SECONDS_PER_BYTE)


def identify(user: User) -> None:
    """Count the current call for this user, who is known now."""
    if (current := _running[0].current) is not None:
        gate, call = current
        if user != call.user:
            gate.move(call, user)


_running: Final = [_Meter()]
"""The meter of the request that runs. Between the steps of requests, a meter without a call."""
