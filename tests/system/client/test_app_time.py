"""`freeze` sets the time of the process to that of the clock."""

import asyncio
import time
from datetime import UTC, datetime
from importlib.util import find_spec

import freezegun
import pytest

from tests.support.program import Program
from tickover.client import AsyncTickover, Tickover, clock_view

START = datetime(2027, 1, 1, tzinfo=UTC)
LATER = datetime(2027, 3, 1, tzinfo=UTC)
NOT_STARTED = datetime.now(UTC)

# freezegun reads all attributes of all modules. One of testcontainers connects to Docker and leaves an open socket.
freezegun.configure(extend_ignore_list=["testcontainers"])


def only(monkeypatch: pytest.MonkeyPatch, *libraries: str) -> None:
    """Hide the libraries that aren't listed."""
    monkeypatch.setattr(clock_view, "find_spec", lambda name: find_spec(name) if name in libraries else None)


@pytest.fixture(params=["time_machine", "freezegun"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    only(monkeypatch, request.param)
    return str(request.param)


@pytest.mark.usefixtures("library")
def test_time_moves_with_the_clock_and_returns_afterwards(client: Tickover) -> None:
    clock = client.create_clock(frozen_time=START)
    with clock.freeze():
        assert datetime.now(UTC) == START
        assert time.time() == START.timestamp()
        clock.advance(to=LATER)
        assert datetime.now(UTC) == LATER
        fork = clock.fork(START)
        fork.advance(days=1)
        assert datetime.now(UTC) == LATER
    assert datetime.now(UTC) >= NOT_STARTED
    clock.advance(days=1)
    assert datetime.now(UTC) < LATER


@pytest.mark.usefixtures("library")
async def test_event_loop_runs_while_time_is_frozen(program: Program, client: Tickover) -> None:
    async with AsyncTickover(program.url, client.token) as tickover:
        clock = await tickover.create_clock(frozen_time=START)
        with clock.freeze():
            await asyncio.sleep(0.01)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), 0.01)
            await clock.advance(to=LATER)
            assert datetime.now(UTC) == LATER


@pytest.mark.usefixtures("library")
def test_time_returns_after_an_error(client: Tickover) -> None:
    clock = client.create_clock(frozen_time=START)
    with pytest.raises(ZeroDivisionError), clock.freeze():
        raise ZeroDivisionError
    assert NOT_STARTED <= datetime.now(UTC) < START


def test_missing_libraries_are_an_error(client: Tickover, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch)
    clock = client.create_clock(frozen_time=START)
    with pytest.raises(ModuleNotFoundError, match="time-machine or freezegun"), clock.freeze():
        pass
