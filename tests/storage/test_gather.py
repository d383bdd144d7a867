"""The gatherer alone: what waits together goes together, and everyone gets an answer of their own."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tickover.api.errors import Reason, Rejection, unavailable
from tickover.server.storage.postgres.batcher import Batcher


class _Call(NamedTuple):
    number: int
    kind: int = 0
    name: int = 0
    fate: str = "done"


class _OurFault(Exception):
    """What a call raises that is wrong in itself."""


def _result(call: _Call) -> str:
    return f"{call.number} is done"


class _Database:
    """Runs all of a batch or nothing; it takes a while, and `answers` may hold it up for longer."""

    def __init__(self) -> None:
        self.batches: list[list[_Call]] = []
        self.at_once = 0
        self.most_at_once = 0
        self.answers = asyncio.Event()
        self.answers.set()
        self.turns = 1

    async def run(self, batch: Sequence[_Call]) -> list[str]:
        self.batches.append([*batch])
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await _turns(self.turns)
        await self.answers.wait()
        self.at_once -= 1
        fates = {call.fate for call in batch}
        if "unavailable" in fates:
            raise unavailable("The database is not responding.")
        if "fault" in fates:
            raise _OurFault
        return [_result(call) for call in batch]


_Tasks = list["asyncio.Task[str]"]
_Calls = Batcher[_Call, str]


@pytest.fixture
def database() -> _Database:
    return _Database()


@pytest.fixture
def calls(database: _Database) -> _Calls:
    return Batcher(database.run, group_key=lambda call: call.kind, max_concurrent=2)


@pytest.fixture
def single_calls(database: _Database) -> _Calls:
    return Batcher(
        database.run, group_key=lambda call: call.kind, conflict_key=lambda call: call.name, max_concurrent=2
    )


async def _turns(count: int = 20) -> None:
    """Let everyone do what can be done without the database."""
    for _ in range(count):
        await asyncio.sleep(0)


async def _submit(calls: _Calls, given: Iterable[_Call]) -> _Tasks:
    tasks = [asyncio.create_task(calls.submit(call)) for call in given]
    await _turns()
    return tasks


async def _ended(tasks: Iterable["asyncio.Task[Any]"]) -> None:
    """Wait for them. Nothing here takes time, so whoever has not ended after many turns would wait for ever."""
    for _ in range(2000):
        if all(task.done() for task in tasks):
            return
        await asyncio.sleep(0)
    raise AssertionError("somebody waits for nothing")


async def _outcomes(tasks: _Tasks) -> list[Any]:
    """What each call gave or raised."""
    await _ended(tasks)
    return await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def _held_up(calls: _Calls, database: _Database) -> AsyncIterator[None]:
    """While inside, the database is busy with as many batches as it is given, and whatever is submitted waits."""
    database.answers.clear()
    busy = [*await _submit(calls, [_Call(-1)]), *await _submit(calls, [_Call(-2, name=1)])]
    assert database.batches == [[_Call(-1)], [_Call(-2, name=1)]]
    database.batches.clear()
    yield
    database.answers.set()
    await _outcomes(busy)


# Together


async def test_a_call_alone_is_run_at_once(calls: _Calls, database: _Database) -> None:
    assert await calls.submit(_Call(1)) == "1 is done"
    assert database.batches == [[_Call(1)]]


async def test_what_waits_goes_together_and_each_gets_its_own(calls: _Calls, database: _Database) -> None:
    given = [_Call(number) for number in range(100)]
    async with _held_up(calls, database):
        tasks = await _submit(calls, given)
        assert database.batches == [], "more was begun than may be on its way"
    assert await _outcomes(tasks) == [_result(call) for call in given]
    assert database.batches == [given]


async def test_a_batch_is_no_larger_than_256(calls: _Calls, database: _Database) -> None:
    given = [_Call(number) for number in range(1000)]
    async with _held_up(calls, database):
        tasks = await _submit(calls, given)
    assert await _outcomes(tasks) == [_result(call) for call in given]
    assert [len(batch) for batch in database.batches] == [256, 256, 256, 232]
    assert [call for batch in database.batches for call in batch] == given


async def test_two_batches_are_on_their_way_at_once_and_no_more(calls: _Calls, database: _Database) -> None:
    async with _held_up(calls, database):
        tasks = await _submit(calls, [_Call(number) for number in range(2000)])
    await _outcomes(tasks)
    assert database.most_at_once == 2


async def test_only_what_is_alike_goes_together_and_the_others_keep_their_places(
    calls: _Calls, database: _Database
) -> None:
    given = [_Call(number, kind=number % 3) for number in range(9)]
    async with _held_up(calls, database):
        tasks = await _submit(calls, given)
    assert await _outcomes(tasks) == [_result(call) for call in given]
    assert [[call.number for call in batch] for batch in database.batches] == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]


async def test_what_is_single_never_goes_twice_in_one_batch(single_calls: _Calls, database: _Database) -> None:
    given = [_Call(number, name=number // 3) for number in range(9)]
    async with _held_up(single_calls, database):
        tasks = await _submit(single_calls, given)
    assert await _outcomes(tasks) == [_result(call) for call in given]
    assert [[call.number for call in batch] for batch in database.batches] == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]


async def test_equal_calls_are_calls_of_their_own(calls: _Calls, database: _Database) -> None:
    async with _held_up(calls, database):
        tasks = await _submit(calls, [_Call(1), _Call(1), _Call(1)])
    assert await _outcomes(tasks) == ["1 is done"] * 3
    assert database.batches == [[_Call(1)] * 3]


# One after the other


async def test_whoever_has_an_answer_may_call_again_at_once(calls: _Calls, database: _Database) -> None:
    """Both batches end in the same turn here, and nobody else comes to set the gatherer going."""

    async def call_twice() -> str:
        await calls.submit(_Call(1))
        return await calls.submit(_Call(3))

    database.answers.clear()
    twice = asyncio.create_task(call_twice())
    await _turns()
    once = await _submit(calls, [_Call(2)])
    database.answers.set()
    assert await _outcomes([twice, *once]) == ["3 is done", "2 is done"]
    assert database.batches == [[_Call(1)], [_Call(2)], [_Call(3)]]


# Faults


async def test_one_faulty_call_does_not_hurt_the_others(calls: _Calls, database: _Database) -> None:
    given = [_Call(number, fate="fault" if number == 3 else "done") for number in range(6)]
    async with _held_up(calls, database):
        tasks = await _submit(calls, given)
    outcomes = await _outcomes(tasks)
    assert isinstance(outcomes.pop(3), _OurFault)
    assert outcomes == [f"{number} is done" for number in (0, 1, 2, 4, 5)]
    assert database.batches == [given, *([call] for call in given)]


async def test_a_faulty_call_alone_is_not_repeated(calls: _Calls, database: _Database) -> None:
    with pytest.raises(_OurFault):
        await calls.submit(_Call(1, fate="fault"))
    assert len(database.batches) == 1


async def test_that_the_database_is_away_is_told_to_all_and_nothing_is_repeated(
    calls: _Calls, database: _Database
) -> None:
    given = [_Call(number, fate="unavailable" if number == 3 else "done") for number in range(6)]
    async with _held_up(calls, database):
        tasks = await _submit(calls, given)
    assert [outcome.reason for outcome in await _outcomes(tasks)] == [Reason.UNAVAILABLE] * 6
    assert database.batches == [given]


async def test_after_a_fault_all_is_well_again(calls: _Calls) -> None:
    for fate in ("fault", "unavailable"):
        await _outcomes(await _submit(calls, [_Call(number, fate=fate) for number in range(3)]))
        assert await calls.submit(_Call(1)) == "1 is done"


# Those who no longer wait


async def test_what_nobody_waits_for_any_more_is_not_run(calls: _Calls, database: _Database) -> None:
    async with _held_up(calls, database):
        tasks = await _submit(calls, [_Call(number) for number in range(6)])
        for task in tasks[::2]:
            task.cancel()
        await _turns()
    assert (await _outcomes(tasks))[1::2] == [f"{number} is done" for number in (1, 3, 5)]
    assert database.batches == [[_Call(1), _Call(3), _Call(5)]]


async def test_nothing_is_run_if_nobody_waits(calls: _Calls, database: _Database) -> None:
    async with _held_up(calls, database):
        tasks = await _submit(calls, [_Call(0), _Call(1, kind=1), _Call(2), _Call(3, kind=2)])
        for task in tasks[:3]:
            task.cancel()
        await _turns()
    assert (await _outcomes(tasks))[3] == "3 is done"
    assert database.batches == [[_Call(3, kind=2)]]


@pytest.mark.parametrize("fate", ["done", "fault", "unavailable"])
async def test_whoever_goes_while_the_batch_is_on_its_way_hurts_nobody(
    calls: _Calls, database: _Database, fate: str
) -> None:
    database.answers.clear()
    tasks = await _submit(calls, [_Call(0), _Call(1, fate=fate), _Call(2)])
    for task in tasks[:2]:
        task.cancel()
    await _turns()
    database.answers.set()
    outcome = (await _outcomes(tasks))[2]
    assert isinstance(outcome, Rejection) if fate == "unavailable" else outcome == "2 is done"
    assert await calls.submit(_Call(3)) == "3 is done"


# Too many


async def test_too_many_that_wait_are_turned_away_until_there_is_room_again(calls: _Calls, database: _Database) -> None:
    async with _held_up(calls, database):
        tasks = await _submit(calls, [_Call(number) for number in range(4096)])
        for number in range(3):
            with pytest.raises(Rejection) as refused:
                await calls.submit(_Call(5000 + number))
            assert refused.value.reason is Reason.UNAVAILABLE
            assert refused.value.details == {"retryAfterSeconds": 1}
    assert await _outcomes(tasks) == [f"{number} is done" for number in range(4096)]
    assert await calls.submit(_Call(1)) == "1 is done"


async def test_those_who_no_longer_wait_take_no_room(calls: _Calls, database: _Database) -> None:
    async with _held_up(calls, database):
        for task in await _submit(calls, [_Call(number) for number in range(4096)]):
            task.cancel()
        await _turns()
    async with _held_up(calls, database):
        tasks = await _submit(calls, [_Call(number) for number in range(4096)])
    assert await _outcomes(tasks) == [f"{number} is done" for number in range(4096)]


# Closing


async def test_closing_finishes_what_was_accepted(calls: _Calls, database: _Database) -> None:
    async with _held_up(calls, database):
        fates = {7: "fault", 599: "unavailable"}
        tasks = await _submit(calls, [_Call(number, fate=fates.get(number, "done")) for number in range(600)])
        closing = asyncio.create_task(calls.close())
        await _turns()
        assert not closing.done()
    await _ended([closing])
    assert all(task.done() for task in tasks)
    outcomes = await _outcomes(tasks)
    assert outcomes[:7] == [f"{number} is done" for number in range(7)]
    assert isinstance(outcomes[7], _OurFault)
    assert isinstance(outcomes[599], Rejection)


async def test_close_right_after_the_last_result_ends(calls: _Calls) -> None:
    """The task that ran the call is done then, and the event loop has not run its callbacks yet."""

    def fail(*_: object) -> None:
        raise AssertionError("close never yields to the event loop")

    # A loop that never yields can only be stopped from outside of the event loop.
    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(20)
    try:
        await calls.submit(_Call(1))
        await calls.close()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


async def test_closing_without_anything_to_do_ends_at_once(calls: _Calls) -> None:
    await asyncio.gather(calls.close(), calls.close())
    assert await calls.submit(_Call(1)) == "1 is done"
    await calls.close()


# Whatever comes

_some_calls = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.sampled_from(["done"] * 8 + ["fault", "unavailable"])),
    min_size=1,
    max_size=6,
)


@settings(deadline=None, max_examples=150)
@given(callers=st.lists(_some_calls, max_size=12), turns=st.integers(0, 3), pauses=st.integers(0, 3))
async def test_everyone_gets_an_answer_of_their_own_whatever_comes(
    callers: list[list[tuple[int, int, str]]], turns: int, pauses: int
) -> None:
    """Callers who each make one call after the other, some of them faulty."""
    database = _Database()
    database.turns = turns
    calls = Batcher(
        database.run, group_key=lambda call: call.kind, conflict_key=lambda call: call.name, max_concurrent=2
    )
    outcomes: dict[_Call, Any] = {}

    async def call_on(caller: int, given: list[tuple[int, int, str]]) -> None:
        for place, (kind, name, fate) in enumerate(given):
            call = _Call(100 * caller + place, kind, name, fate)
            (outcomes[call],) = await asyncio.gather(calls.submit(call), return_exceptions=True)
            await _turns(pauses if caller % 2 else 0)

    await _ended([asyncio.create_task(call_on(caller, given)) for caller, given in enumerate(callers)])
    await calls.close()

    for batch in database.batches:
        assert 1 <= len(batch) <= 256
        assert len({call.kind for call in batch}) == 1
        assert len({call.name for call in batch}) == len(batch)
    assert database.most_at_once <= 2
    assert set(outcomes) == {call for batch in database.batches for call in batch}
    runs = Counter(call for batch in database.batches for call in batch)
    for call, outcome in outcomes.items():
        together = next(batch for batch in database.batches if call in batch)
        fates = {other.fate for other in together}
        if "unavailable" in fates:
            assert isinstance(outcome, Rejection)
            assert runs[call] == 1
        else:
            assert isinstance(outcome, _OurFault) if call.fate == "fault" else outcome == _result(call)
            assert runs[call] == (2 if "fault" in fates and len(together) > 1 else 1)


async def test_large_calls_travel_in_small_batches(database: _Database) -> None:
    """One that is larger than a batch may be goes alone."""
    million = 2**20
    calls: _Calls = Batcher(
        database.run, group_key=lambda call: call.kind, size=lambda call: call.name * million, max_concurrent=1
    )
    async with _held_up_by_one(calls, database):
        tasks = await _submit(calls, [_Call(number, name=size) for number, size in enumerate([1, 2, 1, 1, 5, 4])])
    assert await _outcomes(tasks) == [f"{number} is done" for number in range(6)]
    assert [[call.number for call in batch] for batch in database.batches] == [[0, 1, 2], [3], [4], [5]]


async def test_too_many_bytes_are_refused(database: _Database) -> None:
    calls: _Calls = Batcher(database.run, group_key=lambda call: call.kind, size=lambda _: 2**25, max_concurrent=1)
    async with _held_up_by_one(calls, database):
        tasks = await _submit(calls, [_Call(number) for number in range(4)])
    outcomes = await _outcomes(tasks)
    assert [isinstance(outcome, Rejection) for outcome in outcomes] == [False, False, False, True]


async def test_what_may_have_happened_is_not_run_again(database: _Database) -> None:
    calls: _Calls = Batcher(
        database.run, group_key=lambda call: call.kind, rolled_back_on=LookupError, max_concurrent=1
    )
    async with _held_up_by_one(calls, database):
        tasks = await _submit(calls, [_Call(0), _Call(1, fate="fault"), _Call(2)])
    assert all(isinstance(outcome, _OurFault) for outcome in await _outcomes(tasks))
    assert len(database.batches) == 1


@asynccontextmanager
async def _held_up_by_one(calls: _Calls, database: _Database) -> AsyncIterator[None]:
    database.answers.clear()
    busy = await _submit(calls, [_Call(-1)])
    database.batches.clear()
    yield
    database.answers.set()
    await _outcomes(busy)
