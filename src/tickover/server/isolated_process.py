"""Runs calls that need much CPU time in a separate process, so that they can't slow down other calls."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from signal import SIGVTALRM
from typing import Final

from msgspec import json

from tickover.api.errors import Reason, Rejection, unavailable
from tickover.api.limits import ISOLATED_BURST, ISOLATED_REFILL
from tickover.api.timestamps import Instant
from tickover.server.domain.rate_limits import Buckets
from tickover.server.domain.response_sizes import MAX_EXPORT_RESULT
from tickover.server.isolated_calls import MAX_CPU_SECONDS, ExpandRequest, ExportRequest, IsolatedResult

MAX_USERS: Final = 7
"""Users with calls in progress. The last one gets a response within the 15 seconds that the Python client waits."""
MAX_CALLS_PER_USER: Final = 4
"""Calls of one user at the same time. They run one after the other, so that a user waits only once for the process."""

_MAX_LINE: Final = MAX_EXPORT_RESULT + 1024
_MAX_SECONDS: Final = 30
"""Of real time, on an overloaded machine."""
_TOO_SLOW: Final = IsolatedResult(
    message=f"takes more than {MAX_CPU_SECONDS} seconds of CPU time; use fewer items or a shorter length"
)


class _UserCalls:
    """The calls of one user that are in progress."""

    def __init__(self) -> None:
        self.count = 0
        self.lock = asyncio.Lock()


class IsolatedProcess:
    """A process that runs one call at a time. It starts with the first call."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._process: Process | None = None
        self._users: defaultdict[bytes, _UserCalls] = defaultdict(_UserCalls)
        self._limiter = Buckets(ISOLATED_BURST, ISOLATED_REFILL)

    def take_from_limit(self, user: bytes, now: Instant) -> None:
        """Raise RATE_LIMITED if the user has made too many calls."""
        wait = self._limiter.take(user.hex(), now)
        if wait:
            message = f"You have expanded scenarios or exported clocks too often. Try again in {wait} s."
            raise Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})

    @asynccontextmanager
    async def turn(self, user: bytes) -> AsyncIterator[None]:
        """Wait until no other call uses the process. Raise RATE_LIMITED if the user has too many calls in progress.

        Raise UNAVAILABLE if too many other users have calls in progress.
        """
        if user not in self._users and len(self._users) >= MAX_USERS:
            raise unavailable("The server expands or exports too much at the moment. Try again.")
        calls = self._users[user]
        if calls.count >= MAX_CALLS_PER_USER:
            message = f"You have {MAX_CALLS_PER_USER} calls of this kind in progress. Try again in 1 s."
            raise Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": 1})
        calls.count += 1
        try:
            async with calls.lock, self._lock:
                yield
        finally:
            calls.count -= 1
            if not calls.count:
                del self._users[user]

    async def run(self, request: ExpandRequest | ExportRequest) -> IsolatedResult:
        """Return the result of a call. Use it in a `turn`."""
        is_complete = False
        try:
            async with asyncio.timeout(_MAX_SECONDS):
                response = await self._exchange(json.encode(request) + b"\n")
            is_complete = True
        except TimeoutError:
            raise unavailable("The server is too busy for this call. Try again.") from None
        finally:
            if not is_complete:
                # The next call must not read the response to this one.
                await self.close()
        return response

    async def close(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.communicate()
            self._process = None

    async def _exchange(self, request: bytes) -> IsolatedResult:
        process = await self._start()
        assert process.stdin
        assert process.stdout
        process.stdin.write(request)
        line = await process.stdout.readline()
        if line:
            return json.decode(line, type=IsolatedResult)
        code = await process.wait()
        await self.close()
        if code != -SIGVTALRM:
            raise RuntimeError(f"the process for isolated calls ended with {code}")
        return _TOO_SLOW

    async def _start(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            await self.close()
            # -P: modules in the current folder are not imported. A session of its own: Ctrl-C in a terminal must not
            # end it before the server has finished its calls. It ends with its input.
            command = [sys.executable, "-P", "-m", "tickover.server.isolated_calls"]
            self._process = await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, limit=_MAX_LINE, start_new_session=True
            )
        return self._process
