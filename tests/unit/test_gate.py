"""The gate: two users, one of them busy, and the other is served."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.support.log_capture import LogCapture
from tickover.api.errors import Reason, Rejection
from tickover.server import gate as gates
from tickover.server.gate import Gate, Line, User

LONG = 0.1
"""Seconds. More than a slice and a step."""


async def settle() -> None:
    """Let all tasks run that don't wait for others."""
    for _ in range(50):
        await asyncio.sleep(0)


class Calls:
    """Starts calls in a time of its own, and remembers what they do."""

    def __init__(self, max_in_flight: int = 512) -> None:
        self.now = 1000.0
        self.refusals = 0
        self.observed: list[tuple[str, Reason | None]] = []
        self.gate = Gate(
            LogCapture().log, max_in_flight, self._observe, count_refusal=self._count_refusal, now=lambda: self.now
        )
        self.events: list[str] = []
        self.released = asyncio.Event()
        self.tasks: list[asyncio.Future[Any]] = []

    def _count_refusal(self) -> None:
        self.refusals += 1

    def _observe(self, name: str, rejection: Rejection | None, seconds: float) -> None:
        self.observed.append((name, None if rejection is None else rejection.reason))

    def start(
        self,
        user: User,
        name: str,
        work: Callable[[str], Any] | None = None,
        has_left: Callable[[], bool] = lambda: False,
        *,
        writes: bool = False,
    ) -> "asyncio.Future[Any]":
        place = self.gate.enter(user, has_left=has_left)
        if place is None:
            task: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            task.set_result(gates.too_many_calls())
        else:
            call = self.gate.call(name, partial(work or self.hold, name), writes=writes)
            task = asyncio.ensure_future(self.gate.run(place, call))
        self.tasks.append(task)
        return task

    async def hold(self, name: str) -> None:
        """Wait, as for the database."""
        self.events.append(name)
        await self.released.wait()

    async def compute(self, name: str, steps: int = 1, seconds: float = LONG) -> None:
        """Use time on the event loop. Let others run after each step."""
        for step in range(steps):
            self.events.append(f"{name}.{step}" if steps > 1 else name)
            self.now += seconds
            await gates.pause()

    async def wait_for_event(self, name: str) -> None:
        await self._iterate_until(lambda: name in self.events)

    async def finish(self) -> list[Any]:
        self.released.set()
        await self._iterate_until(lambda: all(task.done() for task in self.tasks), LONG)
        return [task.result() for task in self.tasks]

    async def _iterate_until(self, condition: Callable[[], bool], seconds: float = 0) -> None:
        """Run iterations of the event loop. Rests end only with time, so each takes some simulated seconds."""
        for _ in range(10_000):
            if condition():
                return
            self.now += seconds
            await asyncio.sleep(0)
        raise AssertionError("the calls don't end")


def reasons(results: list[Any]) -> list[Reason | None]:
    return [result.reason if isinstance(result, Rejection) else None for result in results]


async def test_user_who_has_used_less_goes_first() -> None:
    calls = Calls()
    calls.start("busy", "busy 0", calls.compute)
    for number in range(1, 4):
        calls.start("busy", f"busy {number}", calls.compute)
    calls.start("quiet", "quiet", calls.compute)
    await calls.finish()
    assert calls.events.index("quiet") == 1, calls.events


async def test_long_call_lets_a_quiet_user_in_between_its_steps() -> None:
    calls = Calls()
    calls.start("busy", "busy", partial(calls.compute, steps=20))
    await calls.wait_for_event("busy.1")
    calls.start("quiet", "quiet", calls.compute)
    await calls.finish()
    assert calls.events.index("quiet") <= 3, calls.events
    assert calls.events.count("busy.19") == 1, "it ends"


async def test_few_calls_run_in_one_iteration_of_the_event_loop() -> None:
    calls = Calls()
    for number in range(5):
        calls.start(str(number), "call", calls.compute)
    while calls.events.count("call") < 5:
        calls.events.append("iteration")
        await asyncio.sleep(0)
    assert ("call", "call") not in zip(calls.events, calls.events[1:], strict=False), calls.events
    await calls.finish()


async def test_running_calls_keep_nobody_from_beginning() -> None:
    calls = Calls()

    async def read_rows(name: str) -> None:
        for _ in range(100):
            calls.now += LONG
            await asyncio.sleep(0)
        calls.events.append(name)

    calls.start("busy", "busy", read_rows)
    for _ in range(5):
        await asyncio.sleep(0)
    calls.start("quiet", "quiet", calls.compute)
    await calls.finish()
    assert calls.events == ["quiet", "busy"]


async def test_what_was_used_is_forgotten() -> None:
    calls = Calls()
    calls.start("early", "early", partial(calls.compute, steps=2))
    await calls.finish()
    calls.now += 60
    calls.start("late", "late", calls.compute)
    await calls.finish()
    assert set(calls.gate._accounts) == {"late"}, "users who are gone take no memory"


async def test_user_has_few_calls_running_beside_others() -> None:
    """They would fill the batches of the database."""
    calls = Calls()
    calls.start("quiet", "first")
    for number in range(100):
        calls.start("busy", f"busy {number}")
    await settle()
    assert len([event for event in calls.events if event.startswith("busy")]) == 8
    calls.start("quiet", "second")
    await settle()
    assert calls.events[-1] == "second"
    await calls.finish()
    assert len(calls.events) == 102


async def test_all_calls_of_a_single_user_run() -> None:
    calls = Calls()
    calls.start("other", "other")
    await calls.finish()
    calls.released.clear()
    calls.now += 2
    for number in range(200):
        calls.start("only", str(number))
        calls.now += 0.01
    await settle()
    assert len(calls.events) == 201
    await calls.finish()


async def test_user_has_at_most_as_many_places_as_are_free() -> None:
    calls = Calls(max_in_flight=16)
    for user, places in (("first", 8), ("second", 4), ("third", 2), ("fourth", 1), ("fifth", 1), ("sixth", 0)):
        for _ in range(20):
            calls.start(user, user)
        assert calls.gate._accounts[user].places == places
    assert calls.gate.in_flight == 16
    assert calls.refusals == 104
    assert calls.gate.is_refusing()
    results = reasons(await calls.finish())
    assert results.count(None) == 16
    assert results.count(Reason.UNAVAILABLE) == 104
    assert calls.gate.in_flight == 0
    calls.now += 2
    assert not calls.gate.is_refusing()


async def test_two_users_fill_all_places_and_a_third_is_served() -> None:
    calls = Calls(max_in_flight=64)
    for number in range(200):
        calls.start(f"busy {number % 2}", str(number), calls.compute)
    quiet = [calls.start("quiet", "quiet", calls.compute) for _ in range(10)]
    await calls.finish()
    assert reasons([task.result() for task in quiet]) == [None] * 10
    assert calls.events.index("quiet") < 4, calls.events


@pytest.mark.parametrize("writes", [True, False])
async def test_waiting_call_ends_when_its_client_has_left_unless_it_writes(writes: bool) -> None:
    calls, has_left = Calls(), False
    for user in ("other", *["busy"] * 8):
        calls.start(user, user)
    task = calls.start("busy", "second", has_left=lambda: has_left, writes=writes)
    await settle()
    assert "second" not in calls.events
    has_left = True
    await calls.finish()
    assert reasons([task.result()]) == [None if writes else Reason.UNAVAILABLE]
    assert ("second" in calls.events) is writes


async def test_heavy_calls_of_a_user_run_one_after_another_and_few_of_all_users() -> None:
    calls = Calls()
    running: list[str] = []
    most: list[int] = []

    async def work(name: str) -> None:
        await gates.become_heavy()
        await gates.become_heavy()
        running.append(name)
        assert len(set(running)) == len(running), "one of each user"
        most.append(len(running))
        for _ in range(9):
            await asyncio.sleep(0)
        running.remove(name)

    for _ in range(5):
        for user in range(9):
            calls.start(str(user), str(user), work)
    await calls.finish()
    assert (len(most), max(most)) == (45, 4)


@pytest.mark.parametrize("writes", [True, False])
async def test_running_call_ends_when_its_client_has_left_unless_it_writes(writes: bool) -> None:
    calls, has_left = Calls(), False

    async def compute(name: str) -> None:
        nonlocal has_left
        await calls.compute(name)
        has_left = True
        await calls.compute("more")
        calls.events.append("end")

    task = calls.start("user", "begin", compute, has_left=lambda: has_left, writes=writes)
    await calls.finish()
    assert reasons([task.result()]) == [None if writes else Reason.UNAVAILABLE]
    assert ("end" in calls.events) is writes


async def test_user_who_has_used_less_goes_first_in_a_line() -> None:
    calls, line = Calls(), Line(1)

    async def stay(name: str) -> None:
        async with gates.turn_in(line):
            gates.charge(1.0)
            await calls.hold(name)

    for user in ("busy", "busy", "busy", "quiet"):
        calls.start(user, user, stay)
        await settle()
    await calls.finish()
    assert calls.events == ["busy", "quiet", "busy", "busy"]


async def test_call_that_waits_in_a_line_ends_when_its_client_has_left() -> None:
    calls, line, has_left = Calls(), Line(1), False

    async def stay(name: str) -> None:
        async with gates.turn_in(line):
            await calls.hold(name)

    calls.start("a", "first", stay)
    second = calls.start("b", "second", stay, has_left=lambda: has_left)
    third = calls.start("c", "third", stay)
    await settle()
    has_left = True
    await calls.finish()
    assert reasons([second.result(), third.result()]) == [Reason.UNAVAILABLE, None]
    assert calls.events == ["first", "third"]


async def test_calls_that_would_wait_in_a_line_are_refused_if_many_wait() -> None:
    calls, line = Calls(), Line(1, max_waiting=4)

    async def stay(name: str) -> None:
        async with gates.turn_in(line):
            await calls.hold(name)

    for user in ("a", "a", "a", "a", "b", "b"):
        calls.start(user, user, stay)
    await settle()
    results = reasons(await calls.finish())
    assert results == [None, None, None, Reason.UNAVAILABLE, None, Reason.UNAVAILABLE]


async def test_line_is_left_by_calls_that_fail_or_are_cancelled() -> None:
    calls, line = Calls(), Line(1)

    async def fail(name: str) -> None:
        async with gates.turn_in(line):
            raise Rejection(Reason.LOGIN_REFUSED, "No.")

    async def stay(name: str) -> None:
        async with gates.turn_in(line):
            await calls.hold(name)

    first = calls.start("a", "first", stay)
    second = calls.start("b", "second", stay)
    await settle()
    calls.start("c", "third", fail)
    second.cancel()
    await settle()
    first.cancel()
    await settle()
    fourth = calls.start("d", "fourth", stay)
    await settle()
    assert calls.events == ["first", "fourth"]
    calls.released.set()
    assert await fourth is None
    assert calls.gate.in_flight == 0


async def test_line_is_left_by_calls_whose_user_becomes_known_in_it() -> None:
    calls = Calls()

    async def work(name: str) -> None:
        await gates.become_heavy()
        gates.identify(b"user")
        calls.events.append(name)

    for name in ("first", "second"):
        calls.start("network", name, work)
        await settle()
    assert calls.events == ["first", "second"]
    await calls.finish()


async def test_cpu_time_of_another_process_is_charged() -> None:
    calls = Calls()

    async def work(name: str) -> None:
        gates.charge(2.0)

    calls.start("busy", "first", work)
    await settle()
    for user in ("other", "busy", "quiet"):
        calls.start(user, user, calls.compute)
    await calls.finish()
    assert calls.events == ["other", "quiet", "busy"]


async def test_time_is_charged_to_the_network_too_once_the_user_is_known() -> None:
    """Otherwise the network would always have used the least, whatever its users do."""
    calls = Calls()

    async def work(name: str) -> None:
        gates.identify(b"busy")
        await calls.compute(name)

    calls.start("network", "first", work)
    await settle()
    for user in ("other", "network", b"busy", "quiet"):
        calls.start(user, str(user), calls.compute)
    await calls.finish()
    assert calls.events[:3] == ["first", "other", "quiet"]
    assert calls.gate.in_flight == 0
    assert {account.running for account in calls.gate._accounts.values()} == {0}


async def test_every_call_is_observed() -> None:
    calls = Calls()

    async def fail(name: str) -> None:
        raise RuntimeError("a bug")

    async def reject(name: str) -> None:
        raise Rejection(Reason.CLOCK_NOT_FOUND, "No.")

    calls.start("a", "works", calls.compute)
    calls.start("a", "fails", fail)
    calls.start("a", "is rejected", reject)
    await calls.finish()
    calls.gate.stop(0)
    calls.start("a", "is late", calls.compute)
    await calls.finish()
    assert sorted(calls.observed) == [
        ("fails", Reason.INTERNAL),
        ("is late", Reason.UNAVAILABLE),
        ("is rejected", Reason.CLOCK_NOT_FOUND),
        ("works", None),
    ]


async def test_user_that_rests_goes_on_although_a_timer_is_early() -> None:
    calls = Calls()
    held = calls.start("other", "held")
    await settle()
    resting = calls.start("busy", "busy", partial(calls.compute, steps=2))
    await settle()
    # The timer ends here, and the user still rests.
    await asyncio.sleep(0.1)
    assert "busy.1" not in calls.events
    async with asyncio.timeout(5):
        while not resting.done():
            calls.now += LONG
            await asyncio.sleep(0.01)
    calls.released.set()
    await held
