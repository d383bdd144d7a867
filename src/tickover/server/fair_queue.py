"""A queue in which no user keeps others waiting: who has used the least CPU time goes first."""

import asyncio
from asyncio import Future
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from msgspec import Struct

from tickover.api.errors import Reason, Rejection, unavailable

MAX_CALLS_PER_USER: Final = 4
"""Calls of one user at the same time."""
MAX_WAITING: Final = 64
"""Calls of all users that wait. They are a small part of the calls that a server accepts."""

_HALF_LIFE: Final = 60.0
"""CPU seconds of all users, after which earlier seconds count half."""
_FORGOTTEN: Final = 0.01


class _Call(Struct, eq=False):
    user: bytes
    turn: Future[None]


class FairQueue:
    """Lets one call run at a time."""

    def __init__(self) -> None:
        self.used: Counter[bytes] = Counter()
        """CPU seconds of each user."""
        self._total = 0.0
        self._running: _Call | None = None
        self.waiting: list[_Call] = []
        """In order of arrival."""

    @asynccontextmanager
    async def turn(self, user: bytes) -> AsyncIterator[None]:
        """Wait until no other call runs. Raise RATE_LIMITED if the user has too many calls in progress.

        Raise UNAVAILABLE if too many calls wait, and this user has used the most. A refused call costs nothing.
        """
        call = _Call(user, asyncio.get_running_loop().create_future())
        if self._running is None:
            self._running = call
        else:
            self._admit(call)
        try:
            if self._running is not call:
                await call.turn
            yield
        finally:
            if self._running is call:
                self._start_next()

    def charge(self, seconds: float) -> None:
        """Charge CPU time to the user whose turn it is."""
        assert self._running is not None
        self.used[self._running.user] += seconds  # type: ignore[assignment] # the counts are not integers
        self._total += seconds
        if self._total >= _HALF_LIFE:
            self._total = 0.0
            self.used = Counter({user: used / 2 for user, used in self.used.items() if used > _FORGOTTEN})

    def _admit(self, call: _Call) -> None:
        """Let the call wait. If too many wait, refuse one of the user who has used the most or has the most waiting."""
        self._forget_cancelled()
        users = [self._running.user if self._running else None, *(one.user for one in self.waiting)]
        if users.count(call.user) >= MAX_CALLS_PER_USER:
            message = f"You have {MAX_CALLS_PER_USER} calls of this kind in progress. Try again in 1 s."
            raise Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": 1})
        self.waiting.append(call)
        if len(self.waiting) > MAX_WAITING:
            most = max(reversed(self.waiting), key=lambda one: (self.used[one.user], users.count(one.user)))
            self.waiting.remove(most)
            most.turn.set_exception(unavailable("The server expands or exports too much at the moment. Try again."))

    def _start_next(self) -> None:
        self._forget_cancelled()
        self._running = min(self.waiting, key=lambda one: self.used[one.user], default=None)
        if self._running:
            self.waiting.remove(self._running)
            self._running.turn.set_result(None)

    def _forget_cancelled(self) -> None:
        self.waiting = [one for one in self.waiting if not one.turn.done()]
