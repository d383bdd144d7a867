"""Two replicas on one database: limits and single use hold across replicas."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from tests.support.connections import Connection, call_all_at_once, open_connections
from tests.support.crowds import CROWD, Watch, outcomes, written, wrong_guesses
from tests.support.postgres import PostgresServer
from tests.support.program import LONG_TIMEOUTS, Program, code_params, link_params, run_tickover, verify_params
from tests.support.replicas import Replicas

_REPLICAS = 2
_ROUNDS = 3
_MAX_CLOCKS = 7
_NUMBERS = count()
_NO_CLOCK = {"id": "clock_of nobody", "frozenTime": "2027-01-01T00:00:00Z"}


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer) -> Iterator[Replicas]:
    """Started concurrently on an empty database. Each test uses its own addresses and users."""
    folder = tmp_path_factory.mktemp("replicas")
    with Replicas(
        folder, postgres, _REPLICAS, script=LONG_TIMEOUTS, TICKOVER_MAX_CLOCKS_PER_USER=str(_MAX_CLOCKS)
    ) as started:
        yield started


@pytest.fixture
async def crowd(replicas: Replicas) -> AsyncIterator[list[Connection]]:
    """Fifty connections without a token, spread over the replicas."""
    async with AsyncExitStack() as opened:
        yield await _crowd(opened, replicas)


async def _crowd(opened: AsyncExitStack, replicas: Replicas, token: str | None = None) -> list[Connection]:
    shares = [
        await opened.enter_async_context(open_connections(program.url, CROWD // _REPLICAS + 1, token))
        for program in replicas.programs
    ]
    return [connection for together in zip(*shares, strict=True) for connection in together][:CROWD]


def _address() -> str:
    """Return a new address, because an address gets one email a minute."""
    return f"person{next(_NUMBERS)}@example.test"


# Sign-in


async def test_one_of_fifty_concurrent_sends_succeeds(replicas: Replicas, crowd: list[Connection]) -> None:
    for _ in range(_ROUNDS):
        email = _address()
        responses = await call_all_at_once(crowd, "sendLoginCodeEmail", [code_params(email)] * CROWD)
        assert outcomes(responses) == {"ok": 1, "RESEND_TOO_SOON": CROWD - 1}
        assert [sent["To"] for sent in replicas.programs[0].emails()].count(email) == 1


async def test_five_of_fifty_concurrent_attempts_are_counted(replicas: Replicas, crowd: list[Connection]) -> None:
    for number in range(_ROUNDS):
        email = _address()
        code = replicas.programs[number % _REPLICAS].send_code(email)
        guesses = wrong_guesses(email, code, CROWD)
        responses = await call_all_at_once(crowd, "loginByEmailVerification", guesses)
        assert outcomes(responses) == {"LOGIN_REFUSED": CROWD}
        assert replicas.ask(f"select tries from login_sends where email = '{email}'") == ["5"]
        assert replicas.ask(f"select count from login_failures where email = '{email}'") == ["5"]
        right = replicas.programs[(number + 1) % _REPLICAS].call("loginByEmailVerification", verify_params(email, code))
        assert right["error"]["data"]["reason"] == "LOGIN_REFUSED"


async def test_four_concurrent_wrong_codes_leave_one_attempt(replicas: Replicas, crowd: list[Connection]) -> None:
    for number in range(_ROUNDS):
        email = _address()
        code = replicas.programs[number % _REPLICAS].send_code(email)
        guesses = wrong_guesses(email, code, 4)
        assert outcomes(await call_all_at_once(crowd[:4], "loginByEmailVerification", guesses)) == {"LOGIN_REFUSED": 4}
        assert "token" in replicas.programs[0].result("loginByEmailVerification", verify_params(email, code))


@pytest.mark.parametrize("kind", ["code", "link"])
async def test_one_of_fifty_concurrent_sign_ins_succeeds(
    replicas: Replicas, crowd: list[Connection], kind: str
) -> None:
    for number in range(_ROUNDS):
        email = _address()
        sender = replicas.programs[number % _REPLICAS]
        if kind == "code":
            method, params = "loginByEmailVerification", verify_params(email, sender.send_code(email))
        else:
            sent = sender.result("sendLoginCodeEmail", link_params(email))
            method, params = "loginByEmailLink", {"token": sent["loginUrl"].partition("#token=")[2]}
        responses = await call_all_at_once(crowd, method, [params] * CROWD)
        assert outcomes(responses) == {"ok": 1, "LOGIN_REFUSED": CROWD - 1}
        token = next(response.json["result"]["token"] for response in responses if "result" in response.json)
        assert [_lets_in(program, token) for program in replicas.programs] == [True] * _REPLICAS
        sessions = f"select count(*) from tokens join users on key = user_key where email = '{email}'"
        assert replicas.ask(sessions) == ["1"]


async def test_revoked_token_is_rejected_by_all_replicas(replicas: Replicas) -> None:
    for number in range(_ROUNDS):
        first = replicas.programs[number % _REPLICAS]
        others = [program for program in replicas.programs if program is not first]
        token = others[0].sign_in(_address())
        # All replicas may have cached the token.
        assert [_lets_in(program, token) for program in replicas.programs] == [True] * _REPLICAS
        async with AsyncExitStack() as opened:
            connections = [
                (await opened.enter_async_context(open_connections(program.url, 1, token)))[0] for program in others
            ]
            first.result("logout", {}, token)
            responses = await call_all_at_once(connections, "advanceTestClock", [_NO_CLOCK] * len(others))
        assert outcomes(responses) == {"UNAUTHENTICATED": len(others)}


def _lets_in(program: Program, token: str) -> bool:
    reason = program.call("advanceTestClock", _NO_CLOCK, token)["error"]["data"]["reason"]
    assert reason in ("UNAUTHENTICATED", "CLOCK_NOT_FOUND")
    return bool(reason == "CLOCK_NOT_FOUND")


# Clocks


async def test_concurrent_advances_end_at_the_latest_time(replicas: Replicas) -> None:
    start = datetime.now(UTC).replace(microsecond=0)
    chances = random.Random(3)
    token = ""
    async with AsyncExitStack() as opened:
        for number in range(_ROUNDS):
            if number % _MAX_CLOCKS == 0:
                token = replicas.programs[0].sign_in(_address())
                crowd = await _crowd(opened, replicas, token)
            maker, reader = replicas.programs[number % _REPLICAS], replicas.programs[(number + 1) % _REPLICAS]
            clock = maker.result("createTestClock", {"frozenTime": written(start)}, token)["clock"]
            minutes = chances.sample(range(1, 100_000), 3 * CROWD)
            instants = [written(start + timedelta(minutes=minute)) for minute in minutes]
            watch = Watch(clock)
            await asyncio.gather(
                *(watch.advance(connection, instants[place::CROWD]) for place, connection in enumerate(crowd))
            )
            assert watch.latest_instant == max(instants)
            end = reader.result("advanceTestClock", {"id": clock["id"], "frozenTime": max(instants)}, token)
            assert end["clock"]["frozenTime"] == max(instants)


async def test_concurrent_creations_reach_the_quota_exactly(replicas: Replicas) -> None:
    for number in range(_ROUNDS):
        token = replicas.programs[number % _REPLICAS].sign_in(_address())
        async with AsyncExitStack() as opened:
            responses = await call_all_at_once(await _crowd(opened, replicas, token), "createTestClock", [{}] * CROWD)
        assert outcomes(responses) == {"ok": _MAX_CLOCKS, "RATE_LIMITED": CROWD - _MAX_CLOCKS}
        ids = {response.json["result"]["clock"]["id"] for response in responses if "result" in response.json}
        assert len(ids) == _MAX_CLOCKS


# Start


def test_concurrent_starts_on_an_empty_database_succeed(replicas: Replicas) -> None:
    first, second = replicas.programs
    email = _address()
    code = first.send_code(email)
    token = second.result("loginByEmailVerification", verify_params(email, code))["token"]
    clock = first.result("createTestClock", {}, token)["clock"]
    params = {"id": clock["id"], "frozenTime": clock["frozenTime"]}
    assert second.result("advanceTestClock", params, token) == {"clock": clock}


def test_replica_with_another_secret_key_is_rejected(tmp_path: Path, replicas: Replicas) -> None:
    other = {**replicas.environment, "TICKOVER_SECRET_KEY": "quite another one"}
    refused = run_tickover(tmp_path, "serve", "--port", "0", **other)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("tickover: Another server uses this database with another secret key")
    assert refused.stderr.count("\n") == 1
    assert "quite another one" not in refused.stderr


async def test_callers_use_all_replicas(replicas: Replicas, crowd: list[Connection]) -> None:
    responses = await call_all_at_once(crowd, "nothing", [{}] * CROWD)
    # Each process has its own prefix of request ids.
    spread = Counter(response.headers["x-request-id"][:16] for response in responses)
    assert sorted(spread.values()) == [25, 25]
