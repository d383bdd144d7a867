"""Fifty callers at the same instant, against the real program: what may happen once happens once."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.connections import Connection, call_all_at_once, open_connections
from tests.program import Program, code_params, verify_params
from tests.world import Answer

_CROWD = 50
_ROUNDS = 60


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with Program(tmp_path) as started:
        yield started


@pytest.fixture
async def crowd(program: Program) -> AsyncIterator[list[Connection]]:
    async with open_connections(program.url, _CROWD) as connections:
        yield connections


def _address(number: int) -> str:
    """A new one for each round, because an address gets one letter a minute."""
    return f"round{number}@example.test"


def _outcomes(answers: list[Answer]) -> Counter[str]:
    """How often each reason was given; "ok" counts the results."""
    return Counter(answer.json["error"]["data"]["reason"] if "error" in answer.json else "ok" for answer in answers)


def _wrong_codes(code: str) -> Iterator[str]:
    return (f"{(int(code) + distance) % 1_000_000:06}" for distance in range(1, 1_000_000))


def _guesses(email: str, codes: Iterator[str], count: int) -> list[dict[str, str]]:
    return [verify_params(email, code) for code in islice(codes, count)]


async def test_of_fifty_sends_to_one_address_one_wins_and_one_letter_goes_out(
    program: Program, crowd: list[Connection]
) -> None:
    for number in range(_ROUNDS):
        answers = await call_all_at_once(crowd, "sendLoginCodeEmail", [code_params(_address(number))] * _CROWD)
        assert _outcomes(answers) == {"ok": 1, "RESEND_TOO_SOON": _CROWD - 1}
        refused = [answer for answer in answers if "error" in answer.json]
        waits = [answer.json["error"]["data"]["retryAfterSeconds"] for answer in refused]
        assert all(1 <= wait <= 60 for wait in waits)
        assert [(answer.status, answer.headers["retry-after"]) for answer in refused] == [
            (429, str(wait)) for wait in waits
        ]
    assert sorted(letter["To"] for letter in program.letters()) == sorted(map(_address, range(_ROUNDS)))


async def test_after_fifty_wrong_guesses_at_once_the_right_code_is_refused(
    program: Program, crowd: list[Connection]
) -> None:
    for number in range(_ROUNDS):
        email = _address(number)
        code = program.send_code(email)
        answers = await call_all_at_once(crowd, "loginByEmailVerification", _guesses(email, _wrong_codes(code), _CROWD))
        assert _outcomes(answers) == {"LOGIN_REFUSED": _CROWD}
        right = program.call("loginByEmailVerification", verify_params(email, code))
        assert right["error"]["data"]["reason"] == "LOGIN_REFUSED"


@pytest.mark.parametrize(
    ("wrong_guesses", "outcome"), [(4, "ok"), (5, "LOGIN_REFUSED")], ids=["four leave one", "five leave none"]
)
async def test_guesses_at_once_are_each_counted_once(
    program: Program, crowd: list[Connection], wrong_guesses: int, outcome: str
) -> None:
    for number in range(_ROUNDS):
        email = _address(number)
        code = program.send_code(email)
        guesses = _guesses(email, _wrong_codes(code), wrong_guesses)
        answers = await call_all_at_once(crowd[:wrong_guesses], "loginByEmailVerification", guesses)
        assert _outcomes(answers) == {"LOGIN_REFUSED": wrong_guesses}
        right = await call_all_at_once(crowd[:1], "loginByEmailVerification", [verify_params(email, code)])
        assert _outcomes(right) == {outcome: 1}


async def test_of_fifty_right_codes_one_opens_the_door(program: Program, crowd: list[Connection]) -> None:
    for number in range(_ROUNDS):
        email = _address(number)
        params = verify_params(email, program.send_code(email))
        answers = await call_all_at_once(crowd, "loginByEmailVerification", [params] * _CROWD)
        assert _outcomes(answers) == {"ok": 1, "LOGIN_REFUSED": _CROWD - 1}
        assert len({answer.body for answer in answers}) == 2, "all refusals are the same, byte for byte"
        token = next(answer.json["result"]["token"] for answer in answers if "result" in answer.json)
        assert "result" in program.call("createTestClock", {}, token)


async def test_a_right_code_among_wrong_ones_opens_the_door_at_most_once(
    program: Program, crowd: list[Connection]
) -> None:
    places = random.Random(1)
    for number in range(_ROUNDS):
        email = _address(number)
        code = program.send_code(email)
        guesses = _guesses(email, _wrong_codes(code), _CROWD)
        for place in places.sample(range(_CROWD), 10):
            guesses[place] = verify_params(email, code)
        outcomes = _outcomes(await call_all_at_once(crowd, "loginByEmailVerification", guesses))
        assert outcomes["ok"] <= 1
        assert outcomes["LOGIN_REFUSED"] == _CROWD - outcomes["ok"]
        again = program.call("loginByEmailVerification", verify_params(email, code))
        assert again["error"]["data"]["reason"] == "LOGIN_REFUSED"


async def test_advances_at_once_end_at_the_latest_instant_and_nobody_sees_time_go_back(program: Program) -> None:
    token = program.sign_in()
    start = datetime.now(UTC).replace(microsecond=0)
    chances = random.Random(2)
    async with open_connections(program.url, _CROWD, token) as crowd:
        for _ in range(_ROUNDS):
            clock = program.result("createTestClock", {"frozenTime": _written(start)}, token)["clock"]
            minutes = chances.sample(range(1, 100_000), 3 * _CROWD)
            instants = [_written(start + timedelta(minutes=number)) for number in minutes]
            watch = _Watch(clock)
            await asyncio.gather(
                *(watch.advance(connection, instants[place::_CROWD]) for place, connection in enumerate(crowd))
            )
            end = program.result("advanceTestClock", {"id": clock["id"], "frozenTime": max(instants)}, token)
            assert end["clock"]["frozenTime"] == max(instants) == watch.latest_told


def _written(moment: datetime) -> str:
    """In UTC and whole seconds, so that the texts sort as the instants do."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


class _Watch:
    """What callers were told of one clock: whoever asks after an answer came in is not told an earlier time."""

    def __init__(self, clock: Any) -> None:
        self._id = clock["id"]
        self.latest_told = clock["frozenTime"]

    async def advance(self, connection: Connection, instants: list[str]) -> None:
        for asked in instants:
            told_before = self.latest_told
            told = _frozen_time_told(
                await connection.call("advanceTestClock", {"id": self._id, "frozenTime": asked}), asked
            )
            assert told >= told_before
            self.latest_told = max(self.latest_told, told)


def _frozen_time_told(answer: Any, asked: str) -> str:
    if "result" in answer:
        frozen_time: str = answer["result"]["clock"]["frozenTime"]
        assert frozen_time == asked
        return frozen_time
    data = answer["error"]["data"]
    assert data["reason"] == "TIME_BEFORE_CURRENT"
    current: str = data["currentFrozenTime"]
    assert current > asked
    return current
