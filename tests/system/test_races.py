"""Fifty concurrent callers: limits and single use hold, and a clock is complete or deleted.

Each kind of race runs once, on SQLite, and on PostgreSQL with two processes. `make soak` runs a thousand rounds.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lab.soak.races import (
    CROWD,
    KINDS,
    SCHEDULE,
    START,
    Call,
    Race,
    by_turns,
    clocks_in,
    count_wrong_codes,
    outcomes,
    written,
)
from lab.soak.raw_connections import open_connections
from tests.support.postgres import PostgresServer
from tests.support.program import LONG_TIMEOUTS, Program, wait_until
from tests.support.world import HttpResponse


@pytest.fixture
def two_processes(tmp_path: Path, postgres: PostgresServer) -> Iterator[Program]:
    settings = {"TICKOVER_DATABASE_URL": postgres.create_database(), "TICKOVER_WORKERS": "2"}
    program = Program(tmp_path, **settings)
    program.script = LONG_TIMEOUTS
    with program as started:
        wait_until(lambda: len({_process(started.request("GET", "/healthz")) for _ in range(16)}) == 2)
        yield started


def _process(response: HttpResponse) -> str:
    """Return the prefix of a request id, which is unique to a process."""
    return response.headers["x-request-id"][:16]


@pytest.mark.parametrize("store", ["program", "two_processes"], ids=["sqlite", "postgres"])
async def test_concurrent_calls_have_exact_results(request: pytest.FixtureRequest, store: str) -> None:
    program: Program = request.getfixturevalue(store)
    token = program.sign_in("race@example.test")
    async with open_connections(program.url, CROWD, token) as connections:
        race = Race(program, token, connections)
        for number, kind in enumerate(KINDS.values()):
            await kind(race, number)
        # Four wrong codes leave one attempt, and five leave none.
        for number in (0, 1):
            await count_wrong_codes(race, number)
        await _fork_during_deletion(race)


async def _fork_during_deletion(race: Race) -> None:
    """A fork is complete, or fails."""
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
