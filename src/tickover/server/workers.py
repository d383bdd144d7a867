"""Several processes that serve one address, and the one that keeps them running.

Each is a whole server with its own connections. The kernel spreads callers over them, and they share nothing but the
database.
"""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Final, NoReturn

from msgspec.structs import replace
from structlog.stdlib import BoundLogger

from tickover.server.app import address_of, listen
from tickover.server.settings import SettingError, Settings
from tickover.server.storage import is_postgres

_AGAIN_AFTER_SECONDS: Final = 1.0
_STOP: Final = (signal.SIGINT, signal.SIGTERM)
_TERMINAL: Final = 0

Serve = Callable[[Settings, Callable[[], None], int], int]
"""Serve with these settings until told to stop or until this pipe ends, telling when it is ready; the exit code."""


def handle_hangup(stop: Callable[[], None]) -> None:
    """Let SIGHUP end nothing, except that whoever closes the terminal of a server ends the server too."""
    if os.isatty(_TERMINAL) and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None if os.isatty(_TERMINAL) else stop())
    else:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def run_workers(settings: Settings, log: BoundLogger, serve: Serve, when_ready: Callable[[str], None]) -> int:
    """Serve with as many processes as the settings say, until a signal to stop; the exit code."""
    if not is_postgres(settings.database_url):
        raise SettingError(
            f"TICKOVER_WORKERS must be 1 with SQLite, not {settings.workers}: only one process at a time can write to "
            "its file, so more would wait for each other. More need PostgreSQL, named by TICKOVER_DATABASE_URL."
        )
    # The port is held, though nobody listens here, so that no other program takes it while a worker is replaced.
    with closing(_reserve(settings)) as held:
        crew = _Crew(replace(settings, port=held.getsockname()[1]), log, serve)
        return crew.run(lambda: when_ready(address_of(settings.host, held)))


def _reserve(settings: Settings) -> socket.socket:
    # A shared port can be taken beside any program that shares it too; first see that there is none.
    listen(settings.host, settings.port, shared=False).close()
    return listen(settings.host, settings.port, shared=True)


class _Crew:
    def __init__(self, settings: Settings, log: BoundLogger, serve: Serve) -> None:
        self._settings = settings
        self._log = log
        self._serve = serve
        self._workers: set[int] = set()
        self._stopping = False
        # We alone keep its writing end: when we end, in whatever way, the workers read that it has ended.
        self._until, self._life = os.pipe()

    def run(self, when_ready: Callable[[], None]) -> int:
        for number in _STOP:
            signal.signal(number, lambda number, _: self._stop(number))
        handle_hangup(lambda: self._stop(signal.SIGINT))
        first_serves = _reads_a_byte(self._start())
        if not first_serves and not self._stopping:
            # It has said why, and others would do no better.
            return self._wait_for_one()
        for ready in [self._start() for _ in range(1, self._settings.workers)]:
            _reads_a_byte(ready)
        if not self._stopping:
            when_ready()
        while self._workers:
            self._replace(self._wait_for_one())
        return 0

    def _start(self) -> int:
        """Start a worker; a pipe that has a byte once it serves, and ends when it does."""
        ready, tell = os.pipe()
        # A signal must find every worker known, and none that has our handlers still.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOP)
        if not self._stopping:
            worker = os.fork()
            if not worker:
                self._work(tell)
            self._workers.add(worker)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP)
        os.close(tell)
        return ready

    def _work(self, tell: int) -> NoReturn:
        # We tell it when to stop. Ctrl-C, which reaches a whole group, would be a second time, and break it off.
        os.setpgid(0, 0)
        os.close(self._life)
        for number in _STOP:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP)
        sys.exit(self._serve(self._settings, lambda: _write_a_byte(tell), self._until))

    def _stop(self, number: int) -> None:
        self._stopping = True
        for worker in self._workers:
            # It may have ended just now.
            with suppress(ProcessLookupError):
                os.kill(worker, number)

    def _wait_for_one(self) -> int:
        """Wait until a worker has ended; its exit code, or minus the signal that ended it."""
        while True:
            # Children that are none of ours, such as those of a script that has become us, end too.
            worker, status = os.wait()
            if worker in self._workers:
                self._workers.discard(worker)
                return os.waitstatus_to_exitcode(status)

    def _replace(self, code: int) -> None:
        if self._stopping:
            return
        self._log.warning("a worker has ended; another takes its place", exit_code=code)
        # One that cannot start, because the database is away, is not tried many times a second.
        time.sleep(_AGAIN_AFTER_SECONDS)
        os.close(self._start())


def _write_a_byte(pipe: int) -> None:
    # Nobody reads it from one that took the place of another.
    with suppress(BrokenPipeError):
        os.write(pipe, b".")


def _reads_a_byte(pipe: int) -> bool:
    """Wait for it; false when the pipe ends without one."""
    with os.fdopen(pipe, "rb") as reading:
        return reading.read(1) == b"."
