"""Fifty concurrent callers on one clock: it is complete or deleted, and never created twice.

The tests run on SQLite, and on PostgreSQL with two processes.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.connections import Connection, open_connections
from tests.support.crowds import CROWD, outcomes, written
from tests.support.program import Program, wait_until
from tests.support.world import HttpResponse

_ROUNDS = 8
_START = datetime(2027, 1, 1, tzinfo=UTC)
_SCHEDULE = {
    "frozenTime": written(_START),
    "transactions": [
        {"at": written(_START + timedelta(days=day)), "name": f"Day {day}", "amount": day, "currency": "EUR",
         "type": "INCOME"}
        for day in range(1, CROWD + 1)
    ],
}  # fmt: skip


class Call(NamedTuple):
    method: str
    params: dict[str, Any]
    key: str = ""


@pytest.fixture(params=["sqlite", "postgres"])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Program]:
    shared: dict[str, str] = {}
    if request.param == "postgres":
        shared = {"TICKOVER_DATABASE_URL": request.getfixturevalue("postgres_url"), "TICKOVER_WORKERS": "2"}
    with Program(tmp_path, **shared) as started:
        if shared:
            wait_until(lambda: len({_process(started.request("GET", "/healthz")) for _ in range(16)}) == 2)
        yield started


def _process(answer: HttpResponse) -> str:
    """Return the prefix of a request id, which is unique to a process."""
    return answer.headers["x-request-id"][:16]


@pytest.fixture
def token(program: Program) -> str:
    return program.sign_in()


@pytest.fixture
async def crowd(program: Program, token: str) -> AsyncIterator[list[Connection]]:
    async with open_connections(program.url, CROWD, token) as connections:
        yield connections


async def at_once(crowd: list[Connection], calls: list[Call]) -> list[HttpResponse]:
    """Send one call on each connection before the first response is read."""
    for connection, call in zip(crowd, calls, strict=True):
        connection.send(call.method, call.params, key=call.key)
    return await asyncio.gather(*(connection.receive() for connection in crowd))


def by_turns(first: list[Call], second: list[Call]) -> list[Call]:
    return [call for pair in zip(first, second, strict=True) for call in pair]


def clocks_in(answers: list[HttpResponse]) -> list[Any]:
    return [answer.json["result"]["clock"] for answer in answers if "clock" in answer.json.get("result", {})]


def living(program: Program, token: str) -> set[str]:
    page = program.result("listTestClocks", {"limit": 100}, token)
    assert "nextCursor" not in page
    return {clock["id"] for clock in page["clocks"]}


async def test_clock_deleted_during_advances_stays_deleted(
    program: Program, token: str, crowd: list[Connection]
) -> None:
    for _ in range(_ROUNDS):
        clock = program.result("createTestClock", _SCHEDULE, token)["clock"]
        days = [written(_START + timedelta(days=day)) for day in range(1, CROWD // 2 + 1)]
        advances = [Call("advanceTestClock", {"id": clock["id"], "frozenTime": day}) for day in days]
        deletions = [Call("deleteTestClock", {"id": clock["id"]})] * len(days)
        answers = await at_once(crowd, by_turns(advances, deletions))
        assert outcomes(answers[1::2]) == {"ok": 1, "CLOCK_NOT_FOUND": len(days) - 1}
        assert set(outcomes(answers[::2])) <= {"ok", "CLOCK_NOT_FOUND", "TIME_BEFORE_CURRENT"}
        for moved in clocks_in(answers):
            day = datetime.fromisoformat(moved["frozenTime"]) - _START
            assert (len(moved["transactions"]), len(moved["pendingTransactions"])) == (day.days, CROWD - day.days)
        assert living(program, token) == set()
        gone = program.call("advanceTestClock", {"id": clock["id"], "frozenTime": days[-1]}, token)
        assert gone["error"]["data"]["reason"] == "CLOCK_NOT_FOUND"


async def test_fork_during_deletion_is_complete_or_fails(program: Program, token: str, crowd: list[Connection]) -> None:
    for _ in range(_ROUNDS):
        clock = program.result("createTestClock", _SCHEDULE, token)["clock"]
        half = CROWD // 2
        forks = [Call("forkTestClock", {"id": clock["id"], "at": written(_START + timedelta(days=7))})] * half
        answers = await at_once(crowd, by_turns(forks, [Call("deleteTestClock", {"id": clock["id"]})] * half))
        assert outcomes(answers[1::2]) == {"ok": 1, "CLOCK_NOT_FOUND": half - 1}
        assert set(outcomes(answers[::2])) <= {"ok", "CLOCK_NOT_FOUND"}
        made = clocks_in(answers)
        assert {fork["id"] for fork in made} == living(program, token)
        for fork in made:
            assert len(fork["transactions"]) == 7
            assert program.result("getTestClock", {"id": fork["id"]}, token) == {"clock": fork}
            program.result("deleteTestClock", {"id": fork["id"]}, token)


async def test_fifty_creations_with_one_key_return_one_clock(
    program: Program, token: str, crowd: list[Connection]
) -> None:
    made = set()
    for number in range(_ROUNDS):
        answers = await at_once(crowd, [Call("createTestClock", _SCHEDULE, f"round {number}")] * CROWD)
        assert outcomes(answers) == {"ok": CROWD}
        [body] = {answer.body for answer in answers}
        made.add(clocks_in(answers[:1])[0]["id"])
        assert body == answers[-1].body
    assert len(made) == _ROUNDS
    assert living(program, token) == made


async def test_fifty_different_creations_with_one_key_create_one_clock(
    program: Program, token: str, crowd: list[Connection]
) -> None:
    for number in range(_ROUNDS):
        starts = [written(_START + timedelta(days=day)) for day in range(CROWD)]
        calls = [Call("createTestClock", {"frozenTime": start}, f"round {number}") for start in starts]
        assert outcomes(await at_once(crowd, calls)) == {"ok": 1, "INVALID_PARAMS": CROWD - 1}
        assert len(living(program, token)) == number + 1


async def test_key_freed_during_use_creates_one_clock_at_a_time(
    program: Program, token: str, crowd: list[Connection]
) -> None:
    for number in range(_ROUNDS):
        create = Call("createTestClock", _SCHEDULE, f"round {number}")
        [first] = clocks_in(await at_once(crowd[:1], [create]))
        half = CROWD // 2
        answers = await at_once(crowd, by_turns([create] * half, [Call("deleteTestClock", {"id": first["id"]})] * half))
        assert outcomes(answers[::2]) == {"ok": half}
        assert outcomes(answers[1::2]) == {"ok": 1, "CLOCK_NOT_FOUND": half - 1}
        others = {clock["id"] for clock in clocks_in(answers)} - {first["id"]}
        assert len(others) <= 1
        assert living(program, token) == others
        for id in others:
            program.result("deleteTestClock", {"id": id}, token)


async def test_concurrent_deletions_and_creations_stay_within_the_quota(tmp_path: Path) -> None:
    most = 10
    with Program(tmp_path, TICKOVER_MAX_CLOCKS_PER_USER=str(most)) as program:
        token = program.sign_in()
        async with open_connections(program.url, CROWD, token) as crowd:
            for _ in range(_ROUNDS):
                half = CROWD // 2
                there = [{"id": id} for id in living(program, token)]
                deletions = [Call("deleteTestClock", params) for params in (there or [{"id": "none"}]) * half][:half]
                await at_once(crowd, by_turns([Call("createTestClock", {})] * half, deletions))
                assert len(living(program, token)) <= most
                fill = await at_once(crowd, [Call("createTestClock", {})] * CROWD)
                assert set(outcomes(fill)) <= {"ok", "RATE_LIMITED"}
                assert len(living(program, token)) == most
