"""Background tasks: sweep, log of rejected calls and log of outages."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from tests.store.values import code
from tests.support.log_capture import LogCapture
from tests.support.raw import wait_for
from tests.support.world import NOW, World
from tickover.api.errors import Reason, unavailable
from tickover.api.timestamps import Instant
from tickover.server.background import Background
from tickover.server.sign_in.resend_limits import SendLimits

_LATER = NOW + timedelta(days=60)


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """SQLite, unless the test depends on what a sweep deletes."""
    url: str = request.getfixturevalue(f"{getattr(request, 'param', 'sqlite')}_url")
    return url


@pytest.fixture(autouse=True)
def _frequent_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickover.server.background._CHECK_SECONDS", 0.01)


both_databases = pytest.mark.parametrize("database_url", ["sqlite", "postgres"], indirect=True)


class FailingStore:
    """A store whose methods first raise `errors`, one per call."""

    def __init__(self, store: Any, **errors: list[BaseException]) -> None:
        self._store = store
        self.errors = errors

    def __getattr__(self, verb: str) -> Any:
        if self.errors.get(verb):
            error = self.errors[verb].pop(0)

            async def fail(*_: object) -> None:
                raise error

            return fail
        return getattr(self._store, verb)


@asynccontextmanager
async def running(
    store: Any, logged: LogCapture, now: Callable[[], Instant] = lambda: _LATER, **options: Any
) -> AsyncIterator[Background]:
    background = Background(store, b"fingerprint", now, logged.log, seconds=0.01, **options)
    async with background.running():
        yield background


async def leave_rows_of_every_kind(world: World) -> None:
    """Sign in, create a clock with an Idempotency-Key, and send one more code."""
    token = await world.sign_in()
    create = {"jsonrpc": "2.0", "id": 1, "method": "createTestClock"}
    await world.post(create, token, **{"Idempotency-Key": "one"})
    await world.send_code("ben@example.test")


async def is_swept(world: World) -> bool:
    """Return whether no expired row is left."""
    return await world.store.sweep(_LATER, 1) == 0


@both_databases
async def test_one_sweep_deletes_all_expired_rows_in_steps(world: World) -> None:
    """A step deletes 200 emails."""
    emails = [code(number, email=f"user-{number}@example.test") for number in range(401)]
    for first in range(0, len(emails), 50):
        group = emails[first : first + 50]
        await asyncio.gather(*(world.store.record_email(email, SendLimits()) for email in group))
    logged = LogCapture()
    async with running(world.store, logged):
        await wait_for(logged.events)
    assert logged.lines[0] == ("info", "swept", {"rows": 401})
    assert await is_swept(world)


@pytest.mark.parametrize(
    "error",
    [unavailable("The database is away."), RuntimeError("a bug"), TimeoutError()],
    ids=lambda error: type(error).__name__,
)
async def test_sweep_continues_after_a_failure(world: World, error: BaseException) -> None:
    logged = LogCapture()
    await leave_rows_of_every_kind(world)
    async with running(FailingStore(world.store, sweep=[error, error]), logged):
        await wait_for(lambda: "swept" in logged.events())
    assert await is_swept(world)
    assert logged.events().count("sweep failed") == 2


async def test_sweep_without_expired_rows_counts_as_one() -> None:
    """Otherwise a server without calls would raise the alert of failing sweeps."""
    sweeps: list[Instant] = []
    swept: list[int] = []

    class Empty:
        async def share_key(self, *_: object) -> bool:
            return True

        async def sweep(self, now: Instant, _: int) -> int:
            sweeps.append(now)
            return 0

    async with running(Empty(), LogCapture(), on_swept=swept.append):
        await wait_for(lambda: len(sweeps) > 2)
        assert swept[:2] == [0, 0]


async def test_secret_key_is_recorded_again_during_a_long_sweep() -> None:
    """Otherwise another server with another key could start during the sweep."""
    keys: list[Instant] = []
    sweeps: list[Instant] = []
    swept: list[int] = []
    seconds = count()

    class LongSweep:
        async def share_key(self, fingerprint: bytes, now: Instant) -> bool:
            assert fingerprint == b"fingerprint"
            keys.append(now)
            return True

        async def sweep(self, now: Instant, limit: int) -> int:
            sweeps.append(now)
            await wait_for(lambda: len(keys) > len(sweeps))
            return 200 if len(sweeps) < 3 else 0

    now = lambda: NOW + timedelta(seconds=next(seconds))  # noqa: E731 - shorter than a function
    async with running(LongSweep(), LogCapture(), now, on_swept=swept.append):
        await wait_for(lambda: swept)
    assert (keys, sweeps) == (sorted(set(keys)), sorted(set(sweeps))), "every step has its own time"
    assert swept[0] == 400


async def test_other_secret_key_is_logged(world: World) -> None:
    class Foreign(FailingStore):
        async def share_key(self, *_: object) -> bool:
            return False

    logged = LogCapture()
    async with running(Foreign(world.store), logged):
        await wait_for(logged.events)
    assert logged.lines[0][:2] == ("error", "another server uses this database with another secret key")


async def test_rejected_calls_are_logged_in_one_line(world: World) -> None:
    logged = LogCapture()
    async with running(world.store, logged) as background:
        for reason, number in {Reason.LOGIN_REFUSED: 3, Reason.UNAUTHENTICATED: 2, Reason.INVALID_PARAMS: 5}.items():
            for _ in range(number):
                background.count_rejection(reason)
        await wait_for(logged.events)
        background.count_rejection(Reason.RATE_LIMITED)
    assert logged.lines == [
        ("info", "calls rejected", {"invalid_params": 5, "login_refused": 3, "unauthenticated": 2}),
        ("info", "calls rejected", {"rate_limited": 1}),
    ]


@pytest.mark.parametrize("noticed_by", ["call", "readiness", "sweep"])
async def test_lost_database_is_logged_once_and_so_is_its_return(world: World, noticed_by: str) -> None:
    logged = LogCapture()
    away = unavailable("The database is away.")
    store = FailingStore(world.store, ping=[away] * 3)
    if noticed_by == "sweep":
        store.errors["sweep"] = [away]
    async with running(store, logged) as background:
        if noticed_by == "call":
            background.count_rejection(Reason.UNAVAILABLE)
        elif noticed_by == "readiness":
            with pytest.raises(type(away)):
                await background.ping()
        await wait_for(lambda: "database back" in logged.events())
    states = [(level, event) for level, event, _ in logged.lines if event.startswith("database")]
    assert states == [("warning", "database lost"), ("info", "database back")]


async def test_database_watch_continues_after_its_own_failure(world: World) -> None:
    logged = LogCapture()
    away = unavailable("The database is away.")
    store = FailingStore(world.store, ping=[away, RuntimeError("a bug"), away])
    async with running(store, logged) as background:
        background.count_rejection(Reason.UNAVAILABLE)
        await wait_for(lambda: "database back" in logged.events())
    assert "check of the database failed" in logged.events()
    assert logged.events().count("database lost") == 1


async def test_short_failure_is_not_logged_as_lost_database(world: World) -> None:
    logged = LogCapture()
    async with running(world.store, logged) as background:
        background.count_rejection(Reason.UNAVAILABLE)
        await wait_for(lambda: not background._suspects_database.is_set())
    assert logged.lines == [("info", "calls rejected", {"unavailable": 1})]
