"""The batcher alone: waiting calls run in one batch, and each gets its own result."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest
from asyncpg import PostgresError
from hypothesis import given, settings
from hypothesis import strategies as st

from tickover.api.errors import Reason, Rejection, unavailable
from tickover.server.storage.postgres.batcher import Batcher


class _Call(NamedTuple):
    number: int
    kind: int = 0
    name: int = 0
    fate: str = "done"


class _CallError(PostgresError):
    """An error of one call."""


def _result(call: _Call) -> str:
    return f"{call.number} is done"


class _Database:
    """Runs a batch completely or not at all. It runs until `may_finish` is set."""

    def __init__(self) -> None:
        self.batches: list[list[_Call]] = []
        self.running = 0
        self.max_running = 0
        self.may_finish = asyncio.Event()
        self.may_finish.set()
        self.turns = 1

    async def run(self, batch: Sequence[_Call]) -> list[str]:
        self.batches.append([*batch])
        self.running += 1
        self.max_running = max(self.max_running, self.running)
        await _iterate_loop(self.turns)
        await self.may_finish.wait()
        self.running -= 1
        fates = {call.fate for call in batch}
        if "unavailable" in fates:
            raise unavailable("The database is not responding.")
        if "fault" in fates:
            raise _CallError
        if "lost" in fates:
            raise LookupError
        return [_result(call) for call in batch]


_Tasks = list["asyncio.Task[str]"]
_Calls = Batcher[_Call, str]


@pytest.fixture
def database() -> _Database:
    return _Database()


@pytest.fixture
def calls(database: _Database) -> _Calls:
    return Batcher(database.run, group_key=lambda call: call.kind, max_concurrent=2)


async def _iterate_loop(count: int = 20) -> None:
    """Let all tasks run as far as they can without the database."""
    for _ in range(count):
        await asyncio.sleep(0)


async def _submit(calls: _Calls, submitted: Iterable[_Call]) -> _Tasks:
    tasks = [asyncio.create_task(calls.submit(call)) for call in submitted]
    await _iterate_loop()
    return tasks


async def _wait_for(tasks: Iterable["asyncio.Task[Any]"]) -> None:
    """Wait for the tasks. They need no time, so a task that isn't done after many iterations would never end."""
    for _ in range(2000):
        if all(task.done() for task in tasks):
            return
        await asyncio.sleep(0)
    raise AssertionError("a task never ended")


async def _outcomes(tasks: _Tasks) -> list[Any]:
    """Return the result or the exception of each call."""
    await _wait_for(tasks)
    return await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def _busy(calls: _Calls, database: _Database) -> AsyncIterator[None]:
    """Keep the database busy with as many batches as allowed, so that submitted calls wait."""
    database.may_finish.clear()
    busy = [*await _submit(calls, [_Call(-1)]), *await _submit(calls, [_Call(-2, name=1)])]
    database.batches.clear()
    yield
    assert database.batches == [], "too many batches run"
    database.may_finish.set()
    await _outcomes(busy)


async def test_batch_has_at_most_256_calls(calls: _Calls, database: _Database) -> None:
    submitted = [_Call(number) for number in range(1000)]
    async with _busy(calls, database):
        tasks = await _submit(calls, submitted)
    assert await _outcomes(tasks) == [_result(call) for call in submitted]
    assert [len(batch) for batch in database.batches] == [256, 256, 256, 232]
    assert [call for batch in database.batches for call in batch] == submitted


# Cancelled calls


@pytest.mark.parametrize("fate", ["done", "fault", "unavailable"])
async def test_cancellation_during_a_batch_affects_no_other_call(calls: _Calls, database: _Database, fate: str) -> None:
    database.may_finish.clear()
    tasks = await _submit(calls, [_Call(0), _Call(1, fate=fate), _Call(2)])
    for task in tasks[:2]:
        task.cancel()
    await _iterate_loop()
    database.may_finish.set()
    outcome = (await _outcomes(tasks))[2]
    assert isinstance(outcome, Rejection) if fate == "unavailable" else outcome == "2 is done"
    assert await calls.submit(_Call(3)) == "3 is done"


# Overload


async def test_too_many_waiting_calls_are_rejected_until_some_finish(calls: _Calls, database: _Database) -> None:
    async with _busy(calls, database):
        tasks = await _submit(calls, [_Call(number) for number in range(4096)])
        for number in range(3):
            with pytest.raises(Rejection) as error:
                await calls.submit(_Call(5000 + number))
            assert error.value.reason is Reason.UNAVAILABLE
            assert error.value.details == {"retryAfterSeconds": 1}
    assert await _outcomes(tasks) == [f"{number} is done" for number in range(4096)]
    assert await calls.submit(_Call(1)) == "1 is done"


async def test_cancelled_calls_do_not_count_as_waiting(calls: _Calls, database: _Database) -> None:
    async with _busy(calls, database):
        for task in await _submit(calls, [_Call(number) for number in range(4096)]):
            task.cancel()
        await _iterate_loop()
    async with _busy(calls, database):
        tasks = await _submit(calls, [_Call(number) for number in range(4096)])
    assert await _outcomes(tasks) == [f"{number} is done" for number in range(4096)]


# Closing


async def test_close_finishes_accepted_calls(calls: _Calls, database: _Database) -> None:
    async with _busy(calls, database):
        fates = {7: "fault", 599: "unavailable"}
        tasks = await _submit(calls, [_Call(number, fate=fates.get(number, "done")) for number in range(600)])
        closing = asyncio.create_task(calls.close())
        await _iterate_loop()
        assert not closing.done()
    await _wait_for([closing])
    assert all(task.done() for task in tasks)
    outcomes = await _outcomes(tasks)
    assert outcomes[:7] == [f"{number} is done" for number in range(7)]
    assert isinstance(outcomes[7], _CallError)
    assert isinstance(outcomes[599], Rejection)


async def test_close_right_after_the_last_result_returns(calls: _Calls) -> None:
    """The task of the call is done, and the event loop has not run its callbacks yet."""

    def fail(*_: object) -> None:
        raise AssertionError("close never yields to the event loop")

    # Only another thread can stop a loop that never yields.
    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(20)
    try:
        await calls.submit(_Call(1))
        await calls.close()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# Random calls

_some_calls = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.sampled_from(["done"] * 8 + ["fault", "unavailable"])),
    min_size=1,
    max_size=6,
)


@settings(deadline=None, max_examples=30)
@given(callers=st.lists(_some_calls, max_size=12), turns=st.integers(0, 3), pauses=st.integers(0, 3))
async def test_each_call_gets_its_own_result(
    callers: list[list[tuple[int, int, str]]], turns: int, pauses: int
) -> None:
    """Callers make sequential calls, and some of them fail."""
    database = _Database()
    database.turns = turns
    calls = Batcher(
        database.run, group_key=lambda call: call.kind, conflict_key=lambda call: call.name, max_concurrent=2
    )
    outcomes: dict[_Call, Any] = {}

    async def call_repeatedly(caller: int, submitted: list[tuple[int, int, str]]) -> None:
        for index, (kind, name, fate) in enumerate(submitted):
            call = _Call(100 * caller + index, kind, name, fate)
            (outcomes[call],) = await asyncio.gather(calls.submit(call), return_exceptions=True)
            await _iterate_loop(pauses if caller % 2 else 0)

    await _wait_for(
        [asyncio.create_task(call_repeatedly(caller, submitted)) for caller, submitted in enumerate(callers)]
    )
    await calls.close()

    for batch in database.batches:
        assert 1 <= len(batch) <= 256
        assert len({call.kind for call in batch}) == 1
        assert len({call.name for call in batch}) == len(batch)
    assert database.max_running <= 2
    assert set(outcomes) == {call for batch in database.batches for call in batch}
    runs = Counter(call for batch in database.batches for call in batch)
    for call, outcome in outcomes.items():
        together = next(batch for batch in database.batches if call in batch)
        fates = {other.fate for other in together}
        if "unavailable" in fates:
            assert isinstance(outcome, Rejection)
            assert runs[call] == 1
        else:
            assert isinstance(outcome, _CallError) if call.fate == "fault" else outcome == _result(call)
            assert runs[call] == (2 if "fault" in fates and len(together) > 1 else 1)


async def test_large_calls_run_in_small_batches(database: _Database) -> None:
    """A call larger than a batch runs alone."""
    million = 2**20
    calls: _Calls = Batcher(
        database.run, group_key=lambda call: call.kind, size=lambda call: call.name * million, max_concurrent=2
    )
    async with _busy(calls, database):
        tasks = await _submit(calls, [_Call(number, name=size) for number, size in enumerate([1, 2, 1, 1, 5, 4])])
    assert await _outcomes(tasks) == [f"{number} is done" for number in range(6)]
    assert [[call.number for call in batch] for batch in database.batches] == [[0, 1, 2], [3], [4], [5]]


async def test_too_many_waiting_bytes_are_rejected(database: _Database) -> None:
    calls: _Calls = Batcher(database.run, group_key=lambda call: call.kind, size=lambda _: 2**25, max_concurrent=2)
    async with _busy(calls, database):
        tasks = await _submit(calls, [_Call(number) for number in range(4)])
    outcomes = await _outcomes(tasks)
    assert [isinstance(outcome, Rejection) for outcome in outcomes] == [False, False, False, True]


async def test_batch_that_may_have_run_is_not_retried(calls: _Calls, database: _Database) -> None:
    async with _busy(calls, database):
        tasks = await _submit(calls, [_Call(0), _Call(1, fate="lost"), _Call(2)])
    assert all(isinstance(outcome, LookupError) for outcome in await _outcomes(tasks))
    assert len(database.batches) == 1
