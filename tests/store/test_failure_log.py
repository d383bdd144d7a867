"""The log of calls that fail because of the database."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from tests.support.world import World


def _lines(log: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in log.records if record.levelno == logging.WARNING]


@pytest.fixture
def database_url(database_url: str) -> str:
    """A call waits only briefly for a lock."""
    return database_url if database_url.startswith("sqlite") else f"{database_url}?lock_timeout=50ms"


@pytest.fixture
async def failing(world: World, token: str, database_url: str) -> AsyncIterator[str]:
    """Make the database reject writes. Return its error message."""
    if database_url.startswith("sqlite"):
        file = Path(database_url.removeprefix("sqlite:///"))
        away = await asyncio.to_thread(file.rename, file.with_suffix(".away"))
        yield "the database file was deleted or replaced"
        await asyncio.to_thread(away.rename, file)
    else:
        other = await asyncpg.connect(database_url)
        async with other.transaction():
            await other.execute("lock table clocks, tokens in share mode")
            yield "canceling statement due to lock timeout"
        await other.close()


async def test_failed_write_is_logged_with_method_duration_and_cause(
    world: World, token: str, failing: str, caplog: pytest.LogCaptureFixture
) -> None:
    error = await world.error("createTestClock", {}, token)
    assert error["data"]["reason"] == "UNAVAILABLE"
    (line,) = _lines(caplog)
    for part in ("'createTestClock'", failing, "'cause'", "'milliseconds'", "'req_", "UNAVAILABLE"):
        assert part in line
    assert token not in line


@pytest.mark.usefixtures("failing")
async def test_failures_of_one_kind_share_a_line(world: World, token: str, caplog: pytest.LogCaptureFixture) -> None:
    calls = [world.call("createTestClock", {}, token) for _ in range(20)]
    responses = await asyncio.gather(*calls, *(world.call("logout", {}, token) for _ in range(5)))
    assert {response.status for response in responses} == {503}
    lines = _lines(caplog)
    assert len(lines) == 2
    assert sum("'createTestClock'" in line for line in lines) == 1
    assert sum("'logout'" in line for line in lines) == 1
