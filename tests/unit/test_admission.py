"""Calls run together up to a total cost, of one user and of the process. Others wait in order."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tickover.api.errors import Rejection
from tickover.api.limits import MAX_WAITING_CALLS
from tickover.server.rpc.admission import Admission

TOTAL, PER_USER = 30, 10


async def settle() -> None:
    """Let all tasks run that don't wait for others."""
    for _ in range(5):
        await asyncio.sleep(0)


class Calls:
    """Starts calls, and remembers the order in which they were admitted."""

    def __init__(self) -> None:
        self.now = 0.0
        self.admission = Admission(TOTAL, PER_USER, lambda: self.now)
        self.admitted: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def start(self, name: str, cost: int) -> "asyncio.Task[None]":
        """Start a call of the user whose name is the first character."""
        task = asyncio.create_task(self._enter(name, cost))
        self.tasks.append(task)
        await settle()
        return task

    async def _enter(self, name: str, cost: int) -> None:
        if not self.admission.try_enter(name[0], cost):
            await self.admission.wait(name[0], cost)
        self.admitted.append(name)

    async def end(self, name: str, cost: int) -> None:
        self.admission.leave(name[0], cost)
        await settle()


@pytest.fixture
async def calls() -> AsyncIterator[Calls]:
    calls = Calls()
    yield calls
    for task in calls.tasks:
        task.cancel()
    await settle()


async def test_expensive_calls_of_a_user_run_one_after_another_in_order(calls: Calls) -> None:
    for name, cost in [("a1", 11), ("a2", 11), ("a3", 1)]:
        await calls.start(name, cost)
    assert calls.admitted == ["a1"], "a call that costs more than the limit runs alone"
    await calls.end("a1", 11)
    assert calls.admitted == ["a1", "a2"], "a small call doesn't overtake"
    await calls.end("a2", 11)
    assert calls.admitted == ["a1", "a2", "a3"]


async def test_users_take_turns_while_the_process_is_full(calls: Calls) -> None:
    for name in ("a1", "b1", "c1", "a2", "a3", "d1"):
        await calls.start(name, 10)
    await calls.end("a1", 10)
    await calls.end("a2", 10)
    assert calls.admitted == ["a1", "b1", "c1", "a2", "d1"]


async def test_expensive_call_is_followed_by_a_pause_while_others_have_calls(calls: Calls) -> None:
    await calls.start("a1", 10)
    waiting = await calls.start("a2", 10)
    await calls.start("b1", 1)
    # Long enough for a busy machine to see the pause.
    calls.now += 0.2
    await calls.end("a1", 10)
    assert calls.admitted == ["a1", "b1"]
    await waiting


async def test_user_alone_has_no_pause(calls: Calls) -> None:
    for name in ("a1", "a2"):
        await calls.start(name, 10)
    calls.now += 60
    await calls.end("a1", 10)
    assert calls.admitted == ["a1", "a2"]


@pytest.mark.parametrize("is_cheap", [True, False])
async def test_calls_that_wait_for_nothing_do_not_all_run_in_one_iteration(is_cheap: bool) -> None:
    limit, cost = 64, 2 if is_cheap else 33
    admission = Admission(limit, limit)
    assert admission.try_enter("a", cost)
    admission.leave("a", cost)
    assert admission.try_enter("a", limit) == is_cheap
    await settle()
    assert admission.try_enter("a", limit) != is_cheap


async def test_cheap_call_is_not_followed_by_a_pause(calls: Calls) -> None:
    for name, cost in [("a1", 5), ("a2", 5), ("a3", 5), ("b1", 1)]:
        await calls.start(name, cost)
    calls.now += 60
    await calls.end("a1", 5)
    assert calls.admitted == ["a1", "a2", "b1", "a3"]


async def test_too_many_waiting_calls_of_a_user_are_rejected(calls: Calls) -> None:
    for _ in range(MAX_WAITING_CALLS + 1):
        await calls.start("a", 10)
    with pytest.raises(Rejection, match="too many calls in progress") as rejected:
        await calls.admission.wait("a", 10)
    assert rejected.value.reason == "UNAVAILABLE"
    assert calls.admission.try_enter("b", 10)


@pytest.mark.parametrize("is_admitted", [False, True])
async def test_cancelled_call_leaves_its_place_to_others(calls: Calls, is_admitted: bool) -> None:
    await calls.start("a1", 10)
    waiting = await calls.start("a2", 10)
    await calls.start("a3", 10)
    if is_admitted:
        # Its turn begins in the next iteration, and it is cancelled before it continues.
        calls.admission.leave("a", 10)
        await asyncio.sleep(0)
        waiting.cancel()
        await settle()
    else:
        waiting.cancel()
        await calls.end("a1", 10)
    assert calls.admitted == ["a1", "a3"]


async def test_call_cancelled_while_the_process_is_full_leaves_its_place_to_others(calls: Calls) -> None:
    for name in ("a1", "b1", "c1"):
        await calls.start(name, 10)
    (await calls.start("d1", 10)).cancel()
    await calls.start("d2", 10)
    await calls.end("a1", 10)
    assert calls.admitted == ["a1", "b1", "c1", "d2"]


async def test_nothing_is_kept_of_finished_calls(calls: Calls) -> None:
    for name in ("a1", "b1"):
        await calls.start(name, 10)
        await calls.end(name, 10)
    assert not calls.admission._running
    assert not calls.admission._waiting
    assert not calls.admission._began
    assert calls.admission._total == 0


async def test_user_has_a_smaller_share_while_others_are_active() -> None:
    now, limit = 0.0, 64
    admission = Admission(limit, limit, lambda: now)
    assert [admission.try_enter("a", 1) for _ in range(limit)] == [True] * limit
    for _ in range(limit):
        admission.leave("a", 1)
    assert admission.try_enter("b", 1)
    share = limit // 16
    assert [admission.try_enter("a", 1) for _ in range(share + 1)] == [True] * share + [False]
    admission.leave("a", 1)
    assert not admission.try_enter("a", 1), "the cost is free in the next iteration"
    await settle()
    assert admission.try_enter("a", 1)
    now = 2.0
    assert admission.try_enter("a", 1), "the others have made no call for a while"
