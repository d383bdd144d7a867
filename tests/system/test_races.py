"""Fifty concurrent callers: limits and single use hold. `make soak` runs a thousand rounds of each kind."""

import asyncio
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.connections import Connection, call_all_at_once, open_connections
from tests.support.crowds import CROWD, Watch, outcomes, written, wrong_guesses
from tests.support.program import Program, verify_params
from tests.support.races import Race, Round, count_wrong_codes, send_one_email, sign_in_once

_ROUNDS = 3


@pytest.fixture
async def crowd(program: Program) -> AsyncIterator[list[Connection]]:
    async with open_connections(program.url, CROWD) as connections:
        yield connections


def _address(number: int) -> str:
    """Return a new address for each round, because an address gets one email a minute."""
    return f"round{number}@example.test"


@pytest.mark.parametrize("kind", [send_one_email, sign_in_once, count_wrong_codes])
async def test_concurrent_calls_have_exact_results(program: Program, crowd: list[Connection], kind: Round) -> None:
    race = Race(program, program.sign_in(f"{kind.__name__}@example.test"), crowd)
    for number in range(_ROUNDS):
        await kind(race, number)


async def test_right_code_among_wrong_ones_signs_in_at_most_once(program: Program, crowd: list[Connection]) -> None:
    places = random.Random(1)
    for number in range(_ROUNDS):
        email = _address(number)
        code = program.send_code(email)
        guesses = wrong_guesses(email, code, CROWD)
        for place in places.sample(range(CROWD), 10):
            guesses[place] = verify_params(email, code)
        counts = outcomes(await call_all_at_once(crowd, "loginByEmailVerification", guesses))
        assert counts["ok"] <= 1
        assert counts["LOGIN_REFUSED"] == CROWD - counts["ok"]
        again = program.call("loginByEmailVerification", verify_params(email, code))
        assert again["error"]["data"]["reason"] == "LOGIN_REFUSED"


async def test_concurrent_advances_never_move_time_back(program: Program) -> None:
    token = program.sign_in("advances@example.test")
    start = datetime.now(UTC).replace(microsecond=0)
    chances = random.Random(2)
    async with open_connections(program.url, CROWD, token) as crowd:
        for _ in range(_ROUNDS):
            clock = program.result("createTestClock", {"frozenTime": written(start)}, token)["clock"]
            minutes = chances.sample(range(1, 100_000), 3 * CROWD)
            instants = [written(start + timedelta(minutes=number)) for number in minutes]
            watch = Watch(clock)
            await asyncio.gather(
                *(watch.advance(connection, instants[place::CROWD]) for place, connection in enumerate(crowd))
            )
            end = program.result("advanceTestClock", {"id": clock["id"], "frozenTime": max(instants)}, token)
            assert end["clock"]["frozenTime"] == max(instants) == watch.latest_instant
