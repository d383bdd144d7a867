"""Expands scenarios in a separate process, so that a hostile one can't slow down other calls."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections import defaultdict
from contextlib import suppress
from signal import SIGVTALRM
from typing import Final

from msgspec import json

from tickover.api.errors import Reason, Rejection, unavailable
from tickover.scenarios.expander import MAX_CPU_SECONDS, ExpandRequest, ExpandResponse

MAX_WAITING: Final = 7
"""Users that wait for the process. The last one gets a response within the 15 seconds that the Python client waits."""
MAX_CALLS_PER_USER: Final = 4
"""Calls of one user at the same time. They run one after the other, so that a user waits only once for the process."""

_MAX_LINE: Final = 4 * 1024 * 1024
_MAX_SECONDS: Final = 30
"""Of real time, on an overloaded machine."""
_TOO_SLOW: Final = ExpandResponse(
    message=f"the scenario takes longer than {MAX_CPU_SECONDS} seconds to expand; use fewer items or a shorter length."
)


class _UserCalls:
    """The calls of one user that are in progress."""

    def __init__(self) -> None:
        self.count = 0
        self.lock = asyncio.Lock()


class ScenarioProcess:
    """A process that expands one scenario at a time. It starts with the first call."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._process: Process | None = None
        self._waiting = 0
        self._users: defaultdict[bytes, _UserCalls] = defaultdict(_UserCalls)

    async def expand(self, request: ExpandRequest, user: bytes) -> ExpandResponse:
        """Return the response of the process. Raise RATE_LIMITED if the user has too many calls in progress."""
        calls = self._users[user]
        if calls.count >= MAX_CALLS_PER_USER:
            message = f"You are expanding {MAX_CALLS_PER_USER} scenarios at the same time. Try again in 1 s."
            raise Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": 1})
        calls.count += 1
        try:
            async with calls.lock:
                return await self._wait_and_expand(request)
        finally:
            calls.count -= 1
            if not calls.count:
                del self._users[user]

    async def _wait_and_expand(self, request: ExpandRequest) -> ExpandResponse:
        """Return the response of the process. Raise UNAVAILABLE if it is too busy."""
        if self._waiting >= MAX_WAITING:
            raise unavailable("The server expands too many scenarios. Try again.")
        self._waiting += 1
        try:
            async with self._lock:
                return await self._exchange(json.encode(request) + b"\n")
        finally:
            self._waiting -= 1

    async def close(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.communicate()
            self._process = None

    async def _exchange(self, request: bytes) -> ExpandResponse:
        is_complete = False
        try:
            async with asyncio.timeout(_MAX_SECONDS):
                response = await self._send(request)
            is_complete = True
        except TimeoutError:
            raise unavailable("The server is too busy to expand a scenario. Try again.") from None
        finally:
            if not is_complete:
                # The next call must not read the response to this one.
                await self.close()
        return response

    async def _send(self, request: bytes) -> ExpandResponse:
        process = await self._start()
        assert process.stdin
        assert process.stdout
        process.stdin.write(request)
        line = await process.stdout.readline()
        if line:
            return json.decode(line, type=ExpandResponse)
        code = await process.wait()
        await self.close()
        if code != -SIGVTALRM:
            raise RuntimeError(f"the process that expands scenarios ended with {code}")
        return _TOO_SLOW

    async def _start(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            await self.close()
            # -P: modules in the current folder are not imported. A session of its own: Ctrl-C in a terminal must not
            # end it before the server has finished its calls. It ends with its input.
            command = [sys.executable, "-P", "-m", "tickover.scenarios.expander"]
            self._process = await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, limit=_MAX_LINE, start_new_session=True
            )
        return self._process
