"""Background tasks: sweep expired rows, log rejected calls, and log outages of the database."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from tickover.api.errors import Reason, Rejection
from tickover.api.timestamps import Instant
from tickover.server.logs import Log
from tickover.server.storage.store import DatabaseUnavailable, Store

_SWEEP_ROWS: Final = 200
_CHECK_SECONDS: Final = 1.0


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
        self._rejected: Counter[Reason] = Counter()
        self._suspects_database = asyncio.Event()
        self._database_lost_at: float | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the tasks. On exit, stop them and log the last rejected calls."""
        async with (
            repeating(self._seconds, "sweep", self._sweep, self._log),
            repeating(self._seconds, "check of the secret key", self._share_key, self._log),
            repeating(self._seconds, "report of rejected calls", self._report, self._log),
            repeating(_CHECK_SECONDS, "check of the database", self._check_database, self._log),
        ):
            try:
                yield
            finally:
                await self._report()

    def count_rejection(self, reason: Reason) -> None:
        """Count a rejected call for one log line a minute, which has no data of callers."""
        self._rejected[reason] += 1
        if reason is Reason.UNAVAILABLE:
            self._suspects_database.set()

    async def ping(self) -> None:
        """Raise UNAVAILABLE if the database doesn't respond."""
        try:
            await self._store.ping()
        except Rejection:
            self._suspects_database.set()
            raise

    async def _sweep(self) -> None:
        """Delete all expired rows in steps, so that calls don't wait long."""
        swept = 0
        try:
            while found := await self._store.sweep(self._now(), _SWEEP_ROWS):
                swept += found
        except Rejection:
            self._suspects_database.set()
            raise
        self._on_swept(swept)
        if swept:
            self._log.info("swept", rows=swept)

    async def _share_key(self) -> None:
        """Record the key, so that no server with another key starts in the next minutes."""
        if not await self._store.share_key(self._fingerprint, self._now()):
            self._log.error("another server uses this database with another secret key")

    async def _report(self) -> None:
        if self._rejected:
            counts, self._rejected = self._rejected, Counter()
            self._log.info("calls rejected", **{reason.lower(): number for reason, number in sorted(counts.items())})

    async def _check_database(self) -> None:
        """Wait for a failed call, ping, and log when the database is lost. Then ping until it is back, and log that."""
        if self._database_lost_at is None:
            await self._suspects_database.wait()
        self._suspects_database.clear()
        time = asyncio.get_running_loop().time
        try:
            await self._store.ping()
        except Rejection as failure:
            if self._database_lost_at is None:
                self._database_lost_at = time()
                self._log.warning("database lost", **_describe(failure))
        else:
            if self._database_lost_at is not None:
                self._log.info("database back", after_seconds=round(time() - self._database_lost_at, 1))
                self._database_lost_at = None


def _describe(rejection: Rejection) -> dict[str, str]:
    return rejection.describe() if isinstance(rejection, DatabaseUnavailable) else {}


@asynccontextmanager
async def repeating(seconds: float, name: str, work: Callable[[], Awaitable[object]], log: Log) -> AsyncIterator[None]:
    """Do the work repeatedly in a task, with a pause of `seconds`. Failures are logged."""

    async def repeat() -> None:
        while True:
            try:
                await work()
            except Rejection as rejection:
                log.warning(f"{name} failed", reason=rejection.reason, **_describe(rejection))
            except Exception:
                log.exception(f"{name} failed")
            await asyncio.sleep(seconds)

    task = asyncio.create_task(repeat())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
