"""A revoked token is rejected at once, also by a server that has seen it before and revoked nothing itself."""

import pytest

from tests.rpc.builders import idempotency_header, reason_of
from tests.rpc.token_calls import calls_with_token
from tests.support.world import World
from tickover.server.operations import OPERATIONS
from tickover.server.sign_in.tokens import digest

WITH_TOKEN = [name for name, operation in OPERATIONS.items() if operation.needs is not None]


async def revoke(world: World, token: str) -> None:
    """Revoke the token in the database, as another server does."""
    assert await world.store.revoke_token(digest(token))


@pytest.mark.parametrize("method", WITH_TOKEN)
async def test_revoked_token_is_rejected_by_every_operation(world: World, token: str, method: str) -> None:
    params = (await calls_with_token(world, token))[method]
    await revoke(world, token)
    response = await world.call(method, params, token)
    assert (response.status, reason_of(response)) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize("method", WITH_TOKEN)
async def test_revoked_token_is_rejected_before_invalid_parameters(world: World, token: str, method: str) -> None:
    await world.create(token)
    assert (await world.error(method, {"x": 1}, token))["data"]["reason"] == "INVALID_PARAMS"
    await revoke(world, token)
    assert (await world.error(method, {"x": 1}, token))["data"]["reason"] == "UNAUTHENTICATED"


async def test_revoked_token_is_rejected_before_an_idempotency_key(world: World, token: str) -> None:
    envelope = {"jsonrpc": "2.0", "id": 1, "method": "createTestClock", "params": {}}
    assert (await world.post(envelope, token, **idempotency_header("a"))).status == 200
    await revoke(world, token)
    for key in ("a", "b", "x" * 256):
        assert reason_of(await world.post(envelope, token, **idempotency_header(key))) == "UNAUTHENTICATED"


async def test_store_that_fails_after_a_rejection_makes_the_call_unavailable(
    world: World, token: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whether the token is valid is unknown, and the token comes before the parameters."""
    await world.create(token)
    await world.store.close()
    assert (await world.error("createTestClock", {"x": 1}, token))["data"]["reason"] == "UNAVAILABLE"
    assert "'createTestClock'" in caplog.text, "failures of the store are logged"


async def test_second_logout_is_unauthenticated(world: World, token: str) -> None:
    envelope = {"jsonrpc": "2.0", "id": 7, "method": "logout"}
    assert (await world.post(envelope, token)).json == {"jsonrpc": "2.0", "result": {"message": "ok"}, "id": 7}
    responses = [await world.post(envelope, given) for given in (token, None, "tko_" + "A" * 43)]
    assert [response.status for response in responses] == [401] * 3
    assert {response.headers["www-authenticate"] for response in responses} == {"Bearer"}
    assert len({response.body for response in responses}) == 1
    assert responses[0].json["error"]["data"] == {"reason": "UNAUTHENTICATED"}


async def test_later_calls_of_a_batch_are_unauthenticated(world: World, token: str) -> None:
    methods = ["createTestClock", "logout", "createTestClock", "logout"]
    batch = [{"jsonrpc": "2.0", "id": number, "method": method} for number, method in enumerate(methods)]
    response = await world.post(batch, token)
    assert response.status == 200
    first, second, *rest = response.json
    assert first["result"]["clock"]["status"] == "READY"
    assert second["result"] == {"message": "ok"}
    assert [each["error"]["data"]["reason"] for each in rest] == ["UNAUTHENTICATED"] * 2
