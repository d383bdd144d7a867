"""logout: revokes the token in use and changes nothing else."""

from typing import Any

import pytest

from tests.support.program import link_params
from tests.support.world import ANA, World


async def is_good(world: World, token: str) -> bool:
    """Return whether the token is valid."""
    response = await world.call("createTestClock", {}, token)
    if response.status == 200:
        return True
    assert (response.status, response.headers["www-authenticate"]) == (401, "Bearer")
    return False


async def logout(world: World, token: str) -> None:
    assert await world.result("logout", {}, token) == {"message": "ok"}


async def sign_in_by_link(world: World, email: str = ANA) -> str:
    """Return a bearer token from a new link, and pass a minute, so that the next email can be sent."""
    url = (await world.result("sendLoginCodeEmail", link_params(email)))["loginUrl"]
    token: str = (await world.result("loginByEmailLink", {"token": url.partition("#token=")[2]}))["token"]
    world.pass_time(minutes=1)
    return token


# Revoked tokens


@pytest.mark.parametrize("by_link", [False, True], ids=["signed in by code", "signed in by link"])
async def test_revoked_token_is_rejected(world: World, by_link: bool) -> None:
    token = await (sign_in_by_link(world) if by_link else world.sign_in())
    assert await is_good(world, token)
    await logout(world, token)
    assert not await is_good(world, token)


async def test_second_logout_is_unauthenticated(world: World, token: str) -> None:
    envelope = {"jsonrpc": "2.0", "id": 7, "method": "logout"}
    assert (await world.post(envelope, token)).json == {"jsonrpc": "2.0", "result": {"message": "ok"}, "id": 7}
    responses = [await world.post(envelope, given) for given in (token, None, "tko_" + "A" * 43)]
    assert [response.status for response in responses] == [401] * 3
    assert {response.headers["www-authenticate"] for response in responses} == {"Bearer"}
    assert len({response.body for response in responses}) == 1
    assert responses[0].json["error"]["data"] == {"reason": "UNAUTHENTICATED"}


async def test_other_tokens_of_the_user_stay_valid(world: World, token: str) -> None:
    others = [await world.sign_in(), await sign_in_by_link(world), await world.sign_in()]
    await logout(world, others.pop(1))
    assert [await is_good(world, each) for each in (token, *others)] == [True] * 3


# Parameters


@pytest.mark.parametrize(
    ("params", "faults"),
    [
        ({"token": "tko_" + "A" * 43}, {"token": "unknown"}),
        ({"all": True, "": 1}, {"all": "unknown", "": "unknown"}),
        ({"x": None}, {"x": "unknown"}),
        ([], {"params": "type"}),
        (["tko_"], {"params": "type"}),
    ],
    ids=str,
)
async def test_logout_with_parameters_is_rejected_and_keeps_the_token(
    world: World, token: str, params: Any, faults: dict[str, str]
) -> None:
    assert await world.faults("logout", params, token) == faults
    assert await is_good(world, token)


# Batches and concurrency


async def test_later_calls_of_a_batch_are_unauthenticated(world: World, token: str) -> None:
    methods = ["createTestClock", "logout", "createTestClock", "logout"]
    batch = [{"jsonrpc": "2.0", "id": number, "method": method} for number, method in enumerate(methods)]
    response = await world.post(batch, token)
    assert response.status == 200
    first, second, *rest = response.json
    assert first["result"]["clock"]["status"] == "READY"
    assert second["result"] == {"message": "ok"}
    assert [each["error"]["data"]["reason"] for each in rest] == ["UNAUTHENTICATED"] * 2
