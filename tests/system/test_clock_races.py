"""Fifty concurrent callers on one clock: it is complete or deleted, and never created twice.

The tests run on SQLite, and on PostgreSQL with two processes.
"""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from tests.support.connections import open_connections
from tests.support.crowds import CROWD, outcomes, written
from tests.support.postgres import PostgresServer
from tests.support.program import LONG_TIMEOUTS, Program, wait_until
from tests.support.races import (
    SCHEDULE,
    START,
    Call,
    Race,
    Round,
    amend_one_clock_during_advances,
    by_turns,
    clocks_in,
    create_one_clock_with_one_key,
    delete_one_clock_during_advances,
)
from tests.support.world import HttpResponse

_ROUNDS = 3
_NUMBERS = count()


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer) -> Iterator[Program]:
    settings = {"TICKOVER_DATABASE_URL": postgres.create_database(), "TICKOVER_WORKERS": "2"}
    program = Program(tmp_path_factory.mktemp("races"), **settings)
    program.script = LONG_TIMEOUTS
    with program as started:
        wait_until(lambda: len({_process(started.request("GET", "/healthz")) for _ in range(16)}) == 2)
        yield started


def _process(response: HttpResponse) -> str:
    """Return the prefix of a request id, which is unique to a process."""
    return response.headers["x-request-id"][:16]


@pytest.fixture(params=["program", "two_processes"], ids=["sqlite", "postgres"])
async def race(request: pytest.FixtureRequest) -> AsyncIterator[Race]:
    program: Program = request.getfixturevalue(request.param)
    token = program.sign_in(f"race{next(_NUMBERS)}@example.test")
    async with open_connections(program.url, CROWD, token) as connections:
        yield Race(program, token, connections)


@pytest.mark.parametrize(
    "kind", [delete_one_clock_during_advances, create_one_clock_with_one_key, amend_one_clock_during_advances]
)
async def test_concurrent_calls_have_exact_results(race: Race, kind: Round) -> None:
    for number in range(_ROUNDS):
        await kind(race, number)


async def test_fork_during_deletion_is_complete_or_fails(race: Race) -> None:
    for _ in range(_ROUNDS):
        clock = race.program.result("createTestClock", SCHEDULE, race.token)["clock"]
        half = CROWD // 2
        forks = [Call("forkTestClock", {"id": clock["id"], "at": written(START + timedelta(days=7))})] * half
        responses = await race.at_once(by_turns(forks, [Call("deleteTestClock", {"id": clock["id"]})] * half))
        assert outcomes(responses[1::2]) == {"ok": 1, "CLOCK_NOT_FOUND": half - 1}
        assert set(outcomes(responses[::2])) <= {"ok", "CLOCK_NOT_FOUND"}
        made = clocks_in(responses)
        assert {fork["id"] for fork in made} == race.live_clocks()
        for fork in made:
            assert len(fork["transactions"]) == 7
            assert race.program.result("getTestClock", {"id": fork["id"]}, race.token) == {"clock": fork}
            race.program.result("deleteTestClock", {"id": fork["id"]}, race.token)


async def test_fifty_different_creations_with_one_key_create_one_clock(race: Race) -> None:
    for number in range(_ROUNDS):
        starts = [written(START + timedelta(days=day)) for day in range(CROWD)]
        calls = [Call("createTestClock", {"frozenTime": start}, f"round {number}") for start in starts]
        assert outcomes(await race.at_once(calls)) == {"ok": 1, "INVALID_PARAMS": CROWD - 1}
        assert len(race.live_clocks()) == number + 1


async def test_key_freed_during_use_creates_one_clock_at_a_time(race: Race) -> None:
    for number in range(_ROUNDS):
        create = Call("createTestClock", SCHEDULE, f"round {number}")
        [first] = clocks_in(await race.at_once([create]))
        half = CROWD // 2
        responses = await race.at_once(by_turns([create] * half, [Call("deleteTestClock", {"id": first["id"]})] * half))
        assert outcomes(responses[::2]) == {"ok": half}
        assert outcomes(responses[1::2]) == {"ok": 1, "CLOCK_NOT_FOUND": half - 1}
        others = {clock["id"] for clock in clocks_in(responses)} - {first["id"]}
        assert len(others) <= 1
        assert race.live_clocks() == others
        for id in others:
            race.program.result("deleteTestClock", {"id": id}, race.token)


async def test_concurrent_deletions_and_creations_stay_within_the_quota(tmp_path: Path) -> None:
    most = 10
    with Program(tmp_path, TICKOVER_MAX_CLOCKS_PER_USER=str(most)) as program:
        token = program.sign_in()
        async with open_connections(program.url, CROWD, token) as connections:
            race = Race(program, token, connections)
            for _ in range(_ROUNDS):
                half = CROWD // 2
                there = [{"id": id} for id in race.live_clocks()]
                deletions = [Call("deleteTestClock", params) for params in (there or [{"id": "none"}]) * half][:half]
                await race.at_once(by_turns([Call("createTestClock", {})] * half, deletions))
                assert len(race.live_clocks()) <= most
                fill = await race.at_once([Call("createTestClock", {})] * CROWD)
                assert set(outcomes(fill)) <= {"ok", "RATE_LIMITED"}
                assert len(race.live_clocks()) == most
