"""The log of calls that fail because of the database."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.support.log_capture import LogCapture
from tests.support.world import World
from tickover.api.errors import Reason, Rejection, unavailable
from tickover.server.rpc.failure_log import FailureLog


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


class _Clock:
    """A failure log with the test's own time."""

    def __init__(self) -> None:
        self._logged = LogCapture()
        self._log = FailureLog(self._logged.log)

    def fail(self, at: float, cause: Exception, method: str = "logout") -> list[dict[str, Any]]:
        """Return the lines that this failure adds."""
        before = len(self._logged.lines)
        rejection = unavailable("The database doesn't respond.")
        rejection.__cause__ = cause
        self._log.note(method, rejection, at - 0.25, at, "req_1")
        return [fields for _, _, fields in self._logged.lines[before:]]


def test_line_after_ten_seconds_counts_suppressed_failures() -> None:
    clock = _Clock()
    (first,) = clock.fail(100, OSError("no route"))
    assert (first["suppressed"], first["milliseconds"], first["error"]) == (0, 250, "no route")
    assert [clock.fail(at, OSError("no route")) for at in (100.1, 105, 109.9)] == [[], [], []]
    (next_line,) = clock.fail(110, OSError("no route"))
    assert next_line["suppressed"] == 3
    (after_that,) = clock.fail(200, OSError("no route"))
    assert after_that["suppressed"] == 0


def test_only_the_first_line_of_a_database_error_is_logged() -> None:
    """Further lines of PostgreSQL, such as DETAIL, may contain values."""
    failure = OSError("could not extend file\nDETAIL:  ana@example.test")
    assert _Clock().fail(100, failure)[0]["error"] == "could not extend file"


def test_mail_server_message_is_not_logged() -> None:
    logged = LogCapture()
    rejection = Rejection(Reason.MAIL_NOT_SENT, "The email was not sent.")
    rejection.__cause__ = OSError("550 ana@example.test unknown")
    FailureLog(logged.log).note("sendLoginCodeEmail", rejection, 0, 1, "req_1")
    assert "ana@example.test" not in str(logged.lines)
