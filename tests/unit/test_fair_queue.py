"""The queue of the isolated process: who has used the least goes first, and a refused call costs nothing."""

import asyncio

import pytest

from tickover.api.errors import Reason, Rejection
from tickover.server.fair_queue import MAX_CALLS_PER_USER, MAX_WAITING, FairQueue


class Calls:
    """Calls of users. None ends before `finish`."""

    def __init__(self) -> None:
        self.queue = FairQueue()
        self.ended: list[str] = []
        self.refused: list[tuple[str, Reason]] = []
        self._may_end = asyncio.Event()

    def start(self, user: str, seconds: float = 2) -> asyncio.Task[None]:
        return asyncio.ensure_future(self._call(user, seconds))

    async def finish(self, *calls: asyncio.Task[None]) -> None:
        self._may_end.set()
        await asyncio.gather(*calls, return_exceptions=True)
        self._may_end.clear()

    async def _call(self, user: str, seconds: float) -> None:
        try:
            async with self.queue.turn(user.encode()):
                await self._may_end.wait()
                self.queue.charge(seconds)
                self.ended.append(user)
        except Rejection as rejection:
            self.refused.append((user, rejection.reason))


async def _settle() -> None:
    """Let all calls take their places."""
    for _ in range(3):
        await asyncio.sleep(0)


async def test_busy_users_do_not_block_another() -> None:
    """Seven users keep four calls each in progress. The eighth makes one call after the other, and none is refused."""
    calls = Calls()
    busy = [calls.start(f"busy{number % 7}") for number in range(7 * MAX_CALLS_PER_USER)]
    await _settle()
    light = calls.start("light", 0.01)
    await calls.finish(*busy, light)
    # Each of the seven had used nothing when the eighth came, so it waits for one call of each at most.
    assert calls.ended.index("light") <= 7
    for _ in range(20):
        busy = [calls.start(f"busy{number % 7}") for number in range(7 * MAX_CALLS_PER_USER)]
        await _settle()
        light = calls.start("light", 0.01)
        calls.ended.clear()
        await calls.finish(*busy, light)
        assert calls.ended.index("light") == 1
    assert not calls.refused


async def test_calls_of_one_user_run_in_order_of_arrival() -> None:
    calls = Calls()
    order = []

    async def call(number: int) -> None:
        async with calls.queue.turn(b"ana"):
            order.append(number)

    await asyncio.gather(*(call(number) for number in range(MAX_CALLS_PER_USER)))
    assert order == [0, 1, 2, 3]


async def test_user_with_too_many_calls_is_refused_at_no_cost() -> None:
    calls = Calls()
    started = [calls.start("ana", 0) for _ in range(MAX_CALLS_PER_USER + 3)]
    await _settle()
    assert calls.refused == [("ana", Reason.RATE_LIMITED)] * 3
    await calls.finish(*started)
    # The refused calls were not charged, so "ana" has used as little as a user who never called.
    started = [calls.start("holder"), calls.start("ana"), calls.start("ben")]
    calls.ended.clear()
    await calls.finish(*started)
    assert calls.ended == ["holder", "ana", "ben"]


async def test_full_queue_refuses_the_user_who_has_used_the_most() -> None:
    calls = Calls()
    await calls.finish(calls.start("heavy", 5))
    others = [calls.start(f"user{number}") for number in range(MAX_WAITING)]
    heavy = calls.start("heavy")
    await _settle()
    assert not calls.refused
    light = calls.start("light")
    await _settle()
    assert calls.refused == [("heavy", Reason.UNAVAILABLE)]
    again = calls.start("heavy")
    await _settle()
    assert calls.refused == [("heavy", Reason.UNAVAILABLE)] * 2
    await calls.finish(*others, heavy, light, again)
    assert sorted(calls.ended) == sorted(["heavy", "light", *(f"user{number}" for number in range(MAX_WAITING))])


async def test_full_queue_refuses_the_user_with_the_most_calls_among_equals() -> None:
    calls = Calls()
    accounts = MAX_WAITING // MAX_CALLS_PER_USER
    holder = calls.start("holder")
    many = [calls.start(f"user{number % accounts}") for number in range(MAX_WAITING)]
    await _settle()
    light = calls.start("light")
    await _settle()
    assert [reason for _, reason in calls.refused] == [Reason.UNAVAILABLE]
    assert calls.refused[0][0] != "light"
    await calls.finish(holder, *many, light)
    assert "light" in calls.ended


@pytest.mark.parametrize("moment", ["waits", "turn begins"])
async def test_cancelled_call_passes_its_turn_on(moment: str) -> None:
    calls = Calls()
    holder, cancelled, last = calls.start("ana"), calls.start("ben"), calls.start("eve")
    await _settle()
    if moment == "turn begins":
        calls._may_end.set()
        # The turn of `cancelled` begins in the step in which `holder` ends.
        while not calls.ended:  # noqa: ASYNC110 - it must be cancelled in this step
            await asyncio.sleep(0)
    cancelled.cancel()
    await calls.finish(holder, cancelled, last)
    assert calls.ended == ["ana", "eve"]


async def test_old_use_is_forgotten() -> None:
    """A user who used much is equal to a new one after others have used a lot more."""
    calls = Calls()
    await calls.finish(calls.start("early", 1))
    for number in range(10):
        await calls.finish(calls.start(f"user{number}", 60))
    assert calls.queue.used[b"early"] == 0
