"""Runs calls that need much CPU time in a separate process, so that they can't slow down other calls."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import AbstractAsyncContextManager, suppress
from signal import SIGVTALRM
from typing import Final

from msgspec import json

from tickover.api.errors import unavailable
from tickover.server import gate
from tickover.server.isolated_calls import MAX_CPU_SECONDS, MAX_EXPORT, IsolatedRequest, IsolatedResult

_MAX_LINE: Final = MAX_EXPORT + 1024
_MAX_SECONDS: Final = 30
"""Of real time, on an overloaded machine."""
_MIN_CPU_SECONDS: Final = 0.001
"""Charged for a call. Some kernels count CPU time in steps of 10 ms."""
_MAX_TRACEBACK: Final = 8_000
_VARIABLES: Final = ("PYTHON", "LD_", "DYLD_")
"""Starts of the environment variables that find Python, its modules and its libraries."""
_TOO_SLOW: Final = IsolatedResult(
    errors=[(f"takes more than {MAX_CPU_SECONDS} seconds of CPU time; use fewer items or a shorter period", None)],
    seconds=MAX_CPU_SECONDS,
)


class IsolatedProcess:
    """A process that runs one call at a time. It starts with the first call."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._line = gate.Line(1)

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Wait until no other call runs. Of those that wait, the user who has used the least time goes first."""
        return gate.turn_in(self._line)

    async def run(self, request: IsolatedRequest) -> IsolatedResult:
        """Return the result of a call, and charge its CPU time to the user. Use it in a `turn`."""
        seconds: float = MAX_CPU_SECONDS
        is_complete = False
        try:
            async with asyncio.timeout(_MAX_SECONDS):
                response = await self._exchange(json.encode(request) + b"\n")
            is_complete, seconds = True, max(response.seconds, _MIN_CPU_SECONDS)
        except TimeoutError:
            raise unavailable("The server is too busy for this call. Try again.") from None
        finally:
            gate.charge(seconds)
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
        _, errors = await process.communicate()
        if process.returncode == -SIGVTALRM:
            return _TOO_SLOW
        # The log has one line for it, with the traceback in a field.
        traceback = errors.decode(errors="replace")[-_MAX_TRACEBACK:]
        raise RuntimeError(f"the process for isolated calls ended with {process.returncode}\n{traceback}")

    async def _start(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            await self.close()
            # -P: modules in the current folder are not imported. A session of its own: Ctrl-C in a terminal must not
            # end it before the server has finished its calls. It ends with its input. It needs none of the settings.
            self._process = await asyncio.create_subprocess_exec(
                *[sys.executable, "-P", "-m", "tickover.server.isolated_calls"],
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                env={name: value for name, value in os.environ.items() if name.startswith(_VARIABLES)},
                limit=_MAX_LINE,
                start_new_session=True,
            )
        return self._process
