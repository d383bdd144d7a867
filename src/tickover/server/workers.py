"""Worker processes that share one port, and their supervisor.

Each worker is a complete server. The kernel distributes connections, and workers share only the database.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Final, NoReturn

from msgspec.structs import replace

from tickover.server.listeners import Listeners, open_listeners, server_url
from tickover.server.logs import Log
from tickover.server.metrics.numbers import Recorder, SharedNumbers
from tickover.server.settings import SettingError, Settings
from tickover.server.storage.urls import is_postgres

_RESTART_SECONDS: Final = 1.0
_STOP: Final = (signal.SIGINT, signal.SIGTERM)
_TERMINAL: Final = 0

Serve = Callable[[Settings, Recorder, Callable[[], None], int], int]
"""Serves until a signal or the end of the pipe, calls back when ready, and returns the exit code."""


def handle_hangup(stop: Callable[[], None]) -> None:
    """Ignore SIGHUP, unless the terminal of the server was closed."""
    if os.isatty(_TERMINAL) and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None if os.isatty(_TERMINAL) else stop())
    else:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def check_workers(settings: Settings) -> None:
    """Raise SettingError if the database doesn't allow several workers."""
    if settings.workers > 1 and not is_postgres(settings.database_url):
        raise SettingError(
            f"TICKOVER_WORKERS must be 1 with SQLite, not {settings.workers}: only one process at a time can write to "
            "the file. For more workers, use PostgreSQL and set TICKOVER_DATABASE_URL."
        )


def run_workers(settings: Settings, log: Log, serve: Serve, when_ready: Callable[[str], None]) -> int:
    """Run the workers until a signal, and return the exit code."""
    check_workers(settings)
    # The supervisor keeps the ports bound, so that no other program can take them while a worker restarts.
    with closing(_reserve(settings)) as reserved:
        metrics_port = reserved.metrics and reserved.metrics.getsockname()[1]
        settings = replace(settings, port=reserved.calls.getsockname()[1], metrics_port=metrics_port)
        supervisor = _Supervisor(settings, log, serve)
        return supervisor.run(lambda: when_ready(server_url(settings.host, reserved.calls)))


def _reserve(settings: Settings) -> Listeners:
    # A shared port can be bound beside another program that shares it. Check first that no program uses it.
    open_listeners(settings, shared=False).close()
    return open_listeners(settings, shared=True)


class _Supervisor:
    def __init__(self, settings: Settings, log: Log, serve: Serve) -> None:
        self._settings = settings
        self._log = log
        self._serve = serve
        self._workers: dict[int, int] = {}
        """The numbers of the workers by process ID."""
        # The supervisor has the last row.
        self._numbers = SharedNumbers(settings.workers + 1)
        self._stopping = False
        # Only the supervisor has the write end. If the supervisor dies, the workers read the end of the pipe.
        self._supervisor_ended, self._supervisor_runs = os.pipe()

    def run(self, when_ready: Callable[[], None]) -> int:
        for number in _STOP:
            signal.signal(number, lambda number, _: self._stop(number))
        handle_hangup(lambda: self._stop(signal.SIGINT))
        is_first_ready = _wait_until_ready(self._start())
        if not is_first_ready and not self._stopping:
            # The worker has printed the reason. Others would fail too.
            return self._wait_for_worker()
        for ready in [self._start() for _ in range(1, self._settings.workers)]:
            _wait_until_ready(ready)
        if not self._stopping:
            when_ready()
        while self._workers:
            self._restart(self._wait_for_worker())
        return 0

    def _start(self) -> int:
        """Start a worker. Return a pipe that receives a byte when the worker serves, and ends with the worker."""
        ready, ready_writer = os.pipe()
        # Block signals until the worker is registered and has its own handlers.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOP)
        if not self._stopping:
            number = min(set(range(self._settings.workers)) - set(self._workers.values()))
            worker = os.fork()
            if not worker:
                self._work(self._numbers.recorder(number), ready_writer)
            self._workers[worker] = number
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP)
        os.close(ready_writer)
        return ready

    def _work(self, recorder: Recorder, ready_writer: int) -> NoReturn:
        # The supervisor forwards signals. In its group, a worker would get Ctrl-C twice and stop without waiting.
        os.setpgid(0, 0)
        os.close(self._supervisor_runs)
        for number in _STOP:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP)
        sys.exit(self._serve(self._settings, recorder, lambda: _notify_ready(ready_writer), self._supervisor_ended))

    def _stop(self, number: int) -> None:
        self._stopping = True
        for worker in self._workers:
            # The worker may have just ended.
            with suppress(ProcessLookupError):
                os.kill(worker, number)

    def _wait_for_worker(self) -> int:
        """Wait until a worker ends. Return its exit code, or the negative signal number."""
        while True:
            # Other children may end too, for example those of a script that called exec.
            worker, status = os.wait()
            if worker in self._workers:
                self._numbers.recorder(self._workers.pop(worker)).clear_gauges()
                return os.waitstatus_to_exitcode(status)

    def _restart(self, code: int) -> None:
        if self._stopping:
            return
        self._log.warning("a worker has ended; a new one starts", exit_code=code)
        self._numbers.recorder(self._settings.workers).add("worker_restarts_total")
        # Wait, because a worker without a database would fail many times a second.
        time.sleep(_RESTART_SECONDS)
        os.close(self._start())


def _notify_ready(pipe: int) -> None:
    # The pipe of a restarted worker has no reader.
    with suppress(BrokenPipeError):
        os.write(pipe, b".")


def _wait_until_ready(pipe: int) -> bool:
    """Wait for the byte. Return False if the pipe ends without one."""
    with os.fdopen(pipe, "rb") as reader:
        return reader.read(1) == b"."
