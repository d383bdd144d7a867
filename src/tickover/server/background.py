"""Background tasks: sweep expired rows, log rejected calls, and log outages of the database."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from tickover.api.errors import Reason, Rejection
from tickover.api.timestamps import Instant
from tickover.server.logs import Log
from tickover.server.rpc.failure_log import describe_cause
from tickover.server.storage.store import Store

_SWEEP_ROWS: Final = 200
_CHECK_SECONDS: Final = 1.0
_REPORTED: Final = frozenset(
    {
        Reason.LOGIN_REFUSED,
        Reason.UNAUTHENTICATED,
        Reason.RESEND_TOO_SOON,
        Reason.RATE_LIMITED,
        Reason.MAIL_NOT_SENT,
        Reason.UNAVAILABLE,
    }
)
"""Reasons that may indicate guessing, flooding or an outage. Other reasons are mistakes of callers."""


class Background:
    """The background tasks of one server."""

    def __init__(
        self,
        store: Store,
        fingerprint: bytes,
        now: Callable[[], Instant],
        log: Log,
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
        self._rejected: Counter[Reason] = Counter()

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
        """Count a rejected call for one log line a minute, which has no data of callers."""
        if reason in _REPORTED:
            self._rejected[reason] += 1
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
            swept = 0
            async for found in sweep(self._store, self._now):
                swept += found
                # A sweep can take long, and the key must be recorded every minute.
                await self._share_key()
        except Rejection:
            self._watch.request_check()
            raise
        self._on_swept(swept)
        if swept:
            self._log.info("swept", rows=swept)

    async def _share_key(self) -> bool:
        return await self._store.share_key(self._fingerprint, self._now())

    async def _report(self) -> None:
        if self._rejected:
            counts, self._rejected = self._rejected, Counter()
            self._log.info("calls rejected", **{reason.lower(): number for reason, number in sorted(counts.items())})


async def repeat(seconds: float, name: str, work: Callable[[], Awaitable[object]], log: Log) -> None:
    """Do the work repeatedly until cancelled, with a pause of `seconds`. Failures are logged."""
    while True:
        try:
            await work()
        except Rejection as rejection:
            log.warning(f"{name} failed", reason=rejection.reason, **describe_cause(rejection))
        except Exception:
            log.exception(f"{name} failed")
        await asyncio.sleep(seconds)


async def sweep(store: Store, now: Callable[[], Instant]) -> AsyncIterator[int]:
    """Delete all expired rows in steps, so that calls don't wait long. Yield the number of rows of each step."""
    while found := await store.sweep(now(), _SWEEP_ROWS):
        yield found


class DatabaseWatch:
    """Logs when the database is lost and when it is back.

    It pings only after a failed call, until a ping succeeds.
    """

    def __init__(self, store: Store, log: Log) -> None:
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
        failure: Rejection | None = None
        try:
            await self._store.ping()
        except Rejection as rejection:
            failure = rejection
        now = asyncio.get_running_loop().time()
        if failure is not None and self._lost_at is None:
            self._lost_at = now
            self._log.warning("database lost", **describe_cause(failure))
        elif failure is None and self._lost_at is not None:
            self._log.info("database back", after_seconds=round(now - self._lost_at, 1))
            self._lost_at = None
