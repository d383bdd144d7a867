"""Rate limits of client networks for the public operations."""

from pathlib import Path
from typing import Any

import pytest

from tests.rpc.bank_client import error_of, send_plaid
from tests.support.program import code_params, link_params, verify_params
from tests.support.world import ANA, World, open_world
from tickover.server.operations import OPERATIONS
from tickover.server.rpc import dispatch

SEND = "sendLoginCodeEmail"
BY_CODE = "loginByEmailVerification"
BY_LINK = "loginByEmailLink"
NOT_A_LINK = {"token": "x" * 43}


async def reason_of(world: World, method: str = BY_LINK, params: Any = None) -> str | None:
    """Return why a call failed, or None."""
    response = await world.call(method, NOT_A_LINK if params is None else params)
    reason: str | None = response.json.get("error", {"data": {"reason": None}})["data"]["reason"]
    assert (reason == "RATE_LIMITED") == (response.status == 429), response.json
    return reason


async def is_admitted(world: World, method: str = BY_LINK, params: Any = None) -> bool:
    """Return whether a call passed the rate limit. It may fail for other reasons."""
    return await reason_of(world, method, params) != "RATE_LIMITED"


async def admitted_of(world: World, calls: int) -> int:
    return sum([await is_admitted(world) for _ in range(calls)])


# Calls that count

PUBLIC = [
    pytest.param(SEND, code_params(ANA), id="sendLoginCodeEmail with a code"),
    pytest.param(SEND, link_params(ANA), id="sendLoginCodeEmail with a link"),
    pytest.param(BY_CODE, verify_params(ANA, "123456"), id="loginByEmailVerification"),
    pytest.param(BY_LINK, {"token": ""}, id="loginByEmailLink"),
]


@pytest.mark.parametrize(("method", "params"), PUBLIC)
async def test_each_public_operation_is_limited(tmp_path: Path, method: str, params: Any) -> None:
    async with open_world(tmp_path, client_burst=1) as world:
        assert await is_admitted(world)
        assert not await is_admitted(world, method, params)
    assert "RATE_LIMITED" in OPERATIONS[method].all_reasons, "the reference and the metrics have it"


@pytest.mark.parametrize(
    ("method", "params"),
    [(SEND, {}), (SEND, [ANA]), (BY_CODE, verify_params(ANA, "12345")), (BY_LINK, {"token": 5})],
    ids=str,
)
async def test_invalid_parameters_take_one_token(tmp_path: Path, method: str, params: Any) -> None:
    async with open_world(tmp_path, client_burst=3) as world:
        assert [await reason_of(world, method, params) for _ in range(2)] == ["INVALID_PARAMS"] * 2
        assert await admitted_of(world, 5) == 1
        assert await reason_of(world, method, params) == "RATE_LIMITED"


async def test_parameters_are_not_decoded_while_the_bucket_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_world(tmp_path, client_burst=1) as world:
        assert await is_admitted(world)
        monkeypatch.setattr(dispatch, "decode_params", lambda *_: pytest.fail("the parameters were read"))
        for method in (SEND, BY_CODE, BY_LINK):
            assert await reason_of(world, method, {}) == "RATE_LIMITED"


async def test_other_requests_take_no_token(tmp_path: Path) -> None:
    async with open_world(tmp_path, client_burst=2) as world:
        for _ in range(5):
            assert (await world.post(b"{")).status == 400
            assert (await world.post({"jsonrpc": "1.0", "id": 1, "method": BY_LINK})).status == 400
            assert await reason_of(world, "loginByPassword", {}) == "METHOD_NOT_FOUND"
            assert (await world.request("GET", "/rpc")).status == 405
            assert (await world.request("GET", "/login")).status == 200
            assert (await world.request("GET", "/healthz")).status == 200
        assert await admitted_of(world, 5) == 2


# Networks


async def test_setup_secrets_of_connections_are_limited_too(tmp_path: Path) -> None:
    async with open_world(tmp_path, client_burst=2, client_refill=0.5) as world:
        call = {"client_id": "id", "secret": "secret", "public_token": "guess"}
        codes = [error_of(await send_plaid(world, "/item/public_token/exchange", call)) for _ in range(3)]
        assert codes[:2] == [(400, "INVALID_INPUT", "INVALID_PUBLIC_TOKEN")] * 2
        assert codes[2] == (429, "RATE_LIMIT_EXCEEDED", "RATE_LIMIT")
        limited = await world.request("POST", "/simplefin/claim/guess")
        assert (limited.status, limited.headers["retry-after"]) == (429, "2")
