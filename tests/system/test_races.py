"""Fifty concurrent callers: limits and single use hold."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.connections import Connection, call_all_at_once, open_connections
from tests.support.crowds import CROWD, Watch, outcomes, written, wrong_guesses
from tests.support.program import Program, code_params, verify_params

_ROUNDS = 60


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with Program(tmp_path) as started:
        yield started


@pytest.fixture
async def crowd(program: Program) -> AsyncIterator[list[Connection]]:
    async with open_connections(program.url, CROWD) as connections:
        yield connections


def _address(number: int) -> str:
    """Return a new address for each round, because an address gets one email a minute."""
    return f"round{number}@example.test"


async def test_one_of_fifty_concurrent_sends_succeeds(program: Program, crowd: list[Connection]) -> None:
    for number in range(_ROUNDS):
        answers = await call_all_at_once(crowd, "sendLoginCodeEmail", [code_params(_address(number))] * CROWD)
        assert outcomes(answers) == {"ok": 1, "RESEND_TOO_SOON": CROWD - 1}
        refused = [answer for answer in answers if "error" in answer.json]
        waits = [answer.json["error"]["data"]["retryAfterSeconds"] for answer in refused]
        assert all(1 <= wait <= 60 for wait in waits)
        assert [(answer.status, answer.headers["retry-after"]) for answer in refused] == [
            (429, str(wait)) for wait in waits
        ]
    assert sorted(email["To"] for email in program.emails()) == sorted(map(_address, range(_ROUNDS)))


async def test_right_code_is_rejected_after_fifty_concurrent_wrong_codes(
    program: Program, crowd: list[Connection]
) -> None:
    for number in range(_ROUNDS):
        email = _address(number)
        code = program.send_code(email)
        answers = await call_all_at_once(crowd, "loginByEmailVerification", wrong_guesses(email, code, CROWD))
        assert outcomes(answers) == {"LOGIN_REFUSED": CROWD}
        right = program.call("loginByEmailVerification", verify_params(email, code))
        assert right["error"]["data"]["reason"] == "LOGIN_REFUSED"


@pytest.mark.parametrize(
    ("wrong", "outcome"), [(4, "ok"), (5, "LOGIN_REFUSED")], ids=["four leave one", "five leave none"]
)
async def test_concurrent_wrong_codes_are_each_counted(
    program: Program, crowd: list[Connection], wrong: int, outcome: str
) -> None:
    for number in range(_ROUNDS):
        email = _address(number)
        code = program.send_code(email)
        guesses = wrong_guesses(email, code, wrong)
        answers = await call_all_at_once(crowd[:wrong], "loginByEmailVerification", guesses)
        assert outcomes(answers) == {"LOGIN_REFUSED": wrong}
        right = await call_all_at_once(crowd[:1], "loginByEmailVerification", [verify_params(email, code)])
        assert outcomes(right) == {outcome: 1}


async def test_one_of_fifty_concurrent_right_codes_signs_in(program: Program, crowd: list[Connection]) -> None:
    for number in range(_ROUNDS):
        email = _address(number)
        params = verify_params(email, program.send_code(email))
        answers = await call_all_at_once(crowd, "loginByEmailVerification", [params] * CROWD)
        assert outcomes(answers) == {"ok": 1, "LOGIN_REFUSED": CROWD - 1}
        assert len({answer.body for answer in answers}) == 2, "all refusals are the same, byte for byte"
        token = next(answer.json["result"]["token"] for answer in answers if "result" in answer.json)
        assert "result" in program.call("createTestClock", {}, token)


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
    token = program.sign_in()
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
