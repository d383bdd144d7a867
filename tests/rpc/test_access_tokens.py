"""createAccessToken, listAccessTokens and revokeAccessToken, and what the tokens allow."""

import re
from typing import Any

import pytest

from tests.rpc.builders import BEN, reason_of
from tests.rpc.token_calls import calls_with_token
from tests.support.world import World
from tickover.server.operations import OPERATIONS
from tickover.server.sign_in.tokens import Permission

CREATE, LIST, REVOKE = "createAccessToken", "listAccessTokens", "revokeAccessToken"
WITH_TOKEN = {name: operation for name, operation in OPERATIONS.items() if operation.needs is not None}


async def create(world: World, session: str, **params: Any) -> Any:
    return await world.result(CREATE, {"name": "CI", **params}, session)


async def tokens(world: World, session: str) -> Any:
    return (await world.result(LIST, {}, session))["tokens"]


# Creating and listing


async def test_created_token_has_the_defaults(world: World, token: str) -> None:
    created = await create(world, token)
    assert re.fullmatch("tka_[A-Za-z0-9_-]{43}", created.pop("token"))
    assert re.fullmatch("token_[0-9a-f-]{36}", created.pop("id"))
    assert created == {"name": "CI", "readOnly": False, "expiresAt": "2027-04-01T12:01:00Z"}


async def test_list_shows_everything_but_the_secret(world: World, token: str) -> None:
    first = await create(world, token)
    world.pass_time(hours=1)
    second = await create(world, token, name="x" * 100, expiresInDays=1, readOnly=True)
    expected = [
        {key: second[key] for key in ("id", "name", "readOnly", "expiresAt")} | {"createdAt": "2027-01-01T13:01:00Z"},
        {key: first[key] for key in ("id", "name", "readOnly", "expiresAt")} | {"createdAt": "2027-01-01T12:01:00Z"},
    ]
    assert await tokens(world, token) == expected
    assert await tokens(world, await world.sign_in(BEN)) == []


async def test_live_tokens_of_a_user_are_limited_to_50(world: World, token: str) -> None:
    await create(world, token, expiresInDays=2)
    for _ in range(49):
        await create(world, token)
    rejected = await world.call(CREATE, {"name": "CI"}, token)
    assert (reason_of(rejected), rejected.headers["retry-after"]) == ("RATE_LIMITED", str(2 * 86_400))
    world.pass_time(days=2)
    await create(world, token)


# Permissions


@pytest.mark.parametrize("read_only", [False, True], ids=["read-write", "read-only"])
@pytest.mark.parametrize("method", WITH_TOKEN)
async def test_access_token_allows_exactly_its_operations(
    world: World, token: str, method: str, read_only: bool
) -> None:
    params = (await calls_with_token(world, token))[method]
    access = (await create(world, token, readOnly=read_only))["token"]
    response = await world.call(method, params, access)
    if (WITH_TOKEN[method].needs or 0) <= (Permission.READ if read_only else Permission.WRITE):
        assert "result" in response.json
    else:
        assert (response.status, reason_of(response)) == (403, "FORBIDDEN")


async def test_permission_is_checked_before_the_parameters(world: World, token: str) -> None:
    access = (await create(world, token, readOnly=True))["token"]
    assert (await world.error("createTestClock", {"x": 1}, access))["data"] == {"reason": "FORBIDDEN"}
    assert (await world.error("getTestClock", {"x": 1}, access))["data"]["reason"] == "INVALID_PARAMS"


async def test_current_user_of_an_access_token(world: World, token: str) -> None:
    created = await create(world, token)
    session_user = await world.result("getCurrentUser", {}, token)
    user = await world.result("getCurrentUser", {}, created["token"])
    assert user["token"] == {"type": "ACCESS", "expiresAt": created["expiresAt"]}
    assert (user["userId"], user["email"]) == (session_user["userId"], session_user["email"])


# Revocation


async def test_revoked_token_is_rejected(world: World, token: str) -> None:
    created = await create(world, token)
    await world.create(created["token"])
    assert await world.result(REVOKE, {"id": created["id"]}, token) == {"message": "ok"}
    assert (await world.error("createTestClock", {}, created["token"]))["data"]["reason"] == "UNAUTHENTICATED"
    assert await tokens(world, token) == []


async def test_unknown_and_foreign_tokens_get_the_same_response(world: World, token: str) -> None:
    foreign = (await create(world, await world.sign_in(BEN)))["id"]
    expired = (await create(world, token, expiresInDays=1))["id"]
    revoked = (await create(world, token))["id"]
    world.pass_time(days=1)
    await world.result(REVOKE, {"id": revoked}, token)
    unknown = "token_00000000-0000-7000-8000-000000000000"
    errors = [
        await world.error(REVOKE, {"id": id}, token) for id in (foreign, expired, revoked, unknown, "token_", "", token)
    ]
    assert errors == [errors[0]] * len(errors)
    assert errors[0]["data"]["reason"] == "INVALID_PARAMS"
    assert {fault["path"] for fault in errors[0]["data"]["errors"]} == {"id"}


# Last use


async def test_last_use_is_recorded_once_a_day(world: World, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    access = (await create(world, token))["token"]
    record, recorded = world.store.record_token_use, []

    async def count(digest: bytes, day: Any) -> None:
        recorded.append(day)
        await record(digest, day)

    monkeypatch.setattr(world.store, "record_token_use", count)
    for _ in range(3):
        await world.create(access)
        await world.error("createTestClock", {"x": 1}, access)
    assert [found["lastUsedOn"] for found in await tokens(world, token)] == ["2027-01-01"]
    assert len(recorded) == 1
    world.pass_time(hours=11, minutes=59)  # midnight
    await world.create(access)
    assert [found["lastUsedOn"] for found in await tokens(world, token)] == ["2027-01-02"]
    assert len(recorded) == 2


# Secrecy


async def test_token_is_in_no_log_and_no_error(world: World, token: str, caplog: pytest.LogCaptureFixture) -> None:
    with world.logging_calls():
        created = await create(world, token, readOnly=True)
        await world.call("listTestClocks", {}, created["token"])
        responses = [await world.call(method, {"id": created["token"]}, created["token"]) for method in WITH_TOKEN]
    assert len(caplog.records) > len(WITH_TOKEN)
    assert created["token"] not in caplog.text
    assert not any(created["token"].encode() in response.body for response in responses)
    assert created["token"] not in str(await tokens(world, token))
