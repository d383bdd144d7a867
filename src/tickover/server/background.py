"""Background tasks: sweep expired rows, log rejected calls, and log outages of the database."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from structlog.stdlib import BoundLogger

from tickover.api.errors import Reason, Rejection
from tickover.api.timestamps import Instant
from tickover.server.failure_log import describe_cause
from tickover.server.rejections import RejectionCounter
from tickover.server.storage.store import Store

_SWEEP_ROWS: Final = 200
_CHECK_SECONDS: Final = 1.0


class Background:
    """The background tasks of one server."""

    def __init__(
        self,
        store: Store,
        fingerprint: bytes,
        now: Callable[[], Instant],
        log: BoundLogger,
        seconds: float = 60.0,
        on_swept: Callable[[int], object] = lambda _: None,
    ) -> None:
        self._store = store
        self._fingerprint = fingerprint
        self._now = now
        self._log = log
        self._seconds = seconds
        self._on_swept = on_swept
        self._watch = DatabaseWatch(store, log)
        self._rejections = RejectionCounter(log)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the tasks. On exit, stop them and log the last rejected calls."""
        repeated = [
            repeat(self._seconds, "sweep", self._sweep, self._log),
            repeat(self._seconds, "report of rejected calls", self._report, self._log),
            repeat(_CHECK_SECONDS, "check of the database", self._watch.check, self._log),
        ]
        tasks = [asyncio.create_task(work) for work in repeated]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._report()

    def count_rejection(self, reason: Reason) -> None:
        """Count a rejected call."""
        self._rejections.count(reason)
        if reason is Reason.UNAVAILABLE:
            self._watch.request_check()

    async def ping(self) -> None:
        """Raise UNAVAILABLE if the database doesn't respond."""
        try:
            await self._store.ping()
        except Rejection:
            self._watch.request_check()
            raise

    async def _sweep(self) -> None:
        try:
            if not await self._share_key():
                self._log.error("another server uses this database with another secret key")
            # A sweep can take long, and the key must be recorded every minute.
            swept = await sweep(self._store, self._now, between=self._share_key)
        except Rejection:
            self._watch.request_check()
            raise
        self._on_swept(swept)
        if swept:
            self._log.info("swept", rows=swept)

    async def _share_key(self) -> bool:
        return await self._store.share_key(self._fingerprint, self._now())

    async def _report(self) -> None:
        self._rejections.report()


async def repeat(seconds: float, name: str, work: Callable[[], Awaitable[object]], log: BoundLogger) -> None:
    """Do the work repeatedly until cancelled, with a pause of `seconds`. Failures are logged."""
    while True:
        try:
            await work()
        except Rejection as rejection:
            log.warning(f"{name} failed", reason=rejection.reason, **describe_cause(rejection))
        except Exception:
            log.exception(f"{name} failed")
        await asyncio.sleep(seconds)


async def _do_nothing() -> None:
    pass


async def sweep(
    store: Store, now: Callable[[], Instant], between: Callable[[], Awaitable[object]] = _do_nothing
) -> int:
    """Delete all expired rows, and return their number.

    It deletes a few rows at a time, so that calls don't wait long. `between` is awaited after each step.
    """
    swept = 0
    while found := await store.sweep(now(), _SWEEP_ROWS):
        swept += found
        await between()
    return swept


class DatabaseWatch:
    """Logs when the database is lost and when it is back.

    It pings only after a failed call, until a ping succeeds.
    """

    def __init__(self, store: Store, log: BoundLogger) -> None:
        self._store = store
        self._log = log
        self._suspected = asyncio.Event()
        self._lost_at: float | None = None

    def request_check(self) -> None:
        """Request a check, because a call failed."""
        self._suspected.set()

    async def check(self) -> None:
        """Wait for a failed call, ping once, and log a change. Call it repeatedly."""
        if self._lost_at is None:
            await self._suspected.wait()
        self._suspected.clear()
        failure = await self._failure()
        now = asyncio.get_running_loop().time()
        if failure is not None and self._lost_at is None:
            self._lost_at = now
            self._log.warning("database lost", **describe_cause(failure))
        elif failure is None and self._lost_at is not None:
            self._log.info("database back", after_seconds=round(now - self._lost_at, 1))
            self._lost_at = None

    async def _failure(self) -> Rejection | None:
        try:
            await self._store.ping()
        except Rejection as rejection:
            return rejection
        return None
