"""Admits calls by their estimated cost, so that no user keeps others waiting.

A cost is the approximate number of bytes that a call reads, computes and writes.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from math import inf
from time import monotonic
from typing import Final

from tickover.api.errors import unavailable
from tickover.api.limits import MAX_RUNNING_COST, MAX_RUNNING_COST_PER_USER, MAX_WAITING_CALLS

_MAX_PAUSE_SECONDS: Final = 0.05
_CHEAP_CALLS: Final = 32
"""A call is cheap if a user can run as many like it at the same time."""
_SHARES: Final = 16
"""The parts of a user's limit. While others are active, a user has only one, so that their calls get in between."""
_ACTIVE_SECONDS: Final = 1.0
"""Time after the call of a user in which the user counts as active."""

User = bytes | str
"""The key of a user, or the network of a caller without a token."""


class Admission:
    """Runs calls together up to a total cost, of each user and of the process, or one alone. Others wait in order."""

    def __init__(
        self,
        limit: int = MAX_RUNNING_COST,
        limit_per_user: int = MAX_RUNNING_COST_PER_USER,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._limit = limit
        self._limit_per_user = limit_per_user
        self._now = now
        self._last_user: User | None = None
        self._changed_at = -inf
        """When the last call came from another user than the call before."""
        self._running: dict[User, int] = {}
        """The cost of the running calls of each user."""
        self._total = 0
        self._waiting: dict[User, deque[tuple[int, asyncio.Future[None]]]] = {}
        self._is_full = False
        """Whether a call waits for other users."""
        self._began: dict[User, float] = {}
        """When the expensive call of each user began. Two of them exceed the limit, so that a user has at most one."""

    def try_enter(self, user: User, cost: int) -> bool:
        """Begin a call, or return False if it has to wait."""
        if user != self._last_user:
            self._changed_at = -inf if self._last_user is None else self._now()
            self._last_user = user
        if self._waiting and (self._is_full or user in self._waiting):
            return False
        used = self._running.get(user, 0) + cost
        if (used > self._user_limit() and used != cost) or (self._total + cost > self._limit and self._total):
            return False
        self._begin(user, used, cost)
        return True

    async def wait(self, user: User, cost: int) -> None:
        """Wait until the call can begin. Raise UNAVAILABLE if too many calls of the user wait."""
        waiting = self._waiting.setdefault(user, deque())
        if len(waiting) >= MAX_WAITING_CALLS:
            raise unavailable("You have too many calls in progress. Try again.")
        turn = asyncio.get_running_loop().create_future()
        waiting.append((cost, turn))
        self._admit_waiting()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.leave(user, cost)
            raise

    @asynccontextmanager
    async def turn(self, user: User, cost: int) -> AsyncIterator[None]:
        """Wait until a call can begin, and end it at the end of the block."""
        if not self.try_enter(user, cost):
            await self.wait(user, cost)
        try:
            yield
        finally:
            self.leave(user, cost)

    def leave(self, user: User, cost: int) -> None:
        """End a call. Its cost is free in the next iteration of the event loop, or now if it is cheap and others idle.

        Many calls never wait for anything, and would otherwise all run in one iteration. While other users have calls
        in progress, an expensive call is followed by a pause of the same length. Calls of others need several
        iterations, and would otherwise wait for an expensive call in each.
        """
        self._total -= cost
        if cost * _CHEAP_CALLS <= self._limit_per_user and not self._has_others():
            self._release(user, cost)
            return
        pause = 0.0
        if 2 * cost > self._limit_per_user:
            pause = min(self._now() - self._began.pop(user), _MAX_PAUSE_SECONDS)
        loop = asyncio.get_running_loop()
        if pause and len(self._running) > 1:
            loop.call_later(pause, self._release, user, cost)
        else:
            loop.call_soon(self._release, user, cost)

    def _has_others(self) -> bool:
        """Return whether several users are active."""
        return self._now() - self._changed_at < _ACTIVE_SECONDS

    def _user_limit(self) -> int:
        return self._limit_per_user // _SHARES if self._has_others() else self._limit_per_user

    def _begin(self, user: User, used: int, cost: int) -> None:
        self._running[user] = used
        self._total += cost
        if 2 * cost > self._limit_per_user:
            self._began[user] = self._now()

    def _release(self, user: User, cost: int) -> None:
        used = self._running[user] - cost
        if used:
            self._running[user] = used
        else:
            del self._running[user]
        if self._waiting:
            self._admit_waiting()

    def _admit_waiting(self) -> None:
        """Admit the waiting calls for which there is room."""
        self._is_full = False
        for user, waiting in list(self._waiting.items()):
            while waiting:
                cost, turn = waiting[0]
                # A call that was cancelled is done.
                if not turn.done():
                    used = self._running.get(user, 0) + cost
                    if used > self._user_limit() and used != cost:
                        break
                    if self._total + cost > self._limit and self._total:
                        # Nobody overtakes, or a call with a high cost could wait forever.
                        self._is_full = True
                        return
                    self._begin(user, used, cost)
                    turn.set_result(None)
                    # The next call of this user comes after those of all others.
                    self._waiting[user] = self._waiting.pop(user)
                waiting.popleft()
            if not waiting:
                del self._waiting[user]
