"""Batches and notifications: order, responses and HTTP status."""

from typing import Any

import pytest

from tests.rpc.builders import OMITTED, call, reason_of, send
from tests.support.world import World
from tickover.server.sign_in.mail.mailer import Email

UNKNOWN = "no.such.method"


async def test_batch_of_50_keeps_its_order(world: World) -> None:
    response = await world.post([call(UNKNOWN, id=number) for number in range(50)])
    assert response.status == 200
    assert [member["id"] for member in response.json] == list(range(50))


@pytest.mark.parametrize("id", [1, OMITTED], ids=["calls", "notifications"])
async def test_batch_of_51_is_rejected_without_running(world: World, id: Any) -> None:
    response = await world.post(
        [call("sendLoginCodeEmail", send(f"u{number}@example.test"), id) for number in range(51)]
    )
    assert (response.status, reason_of(response), response.json["id"]) == (400, "INVALID_REQUEST", None)
    assert world.emails() == []


@pytest.mark.parametrize("body", [b"[]", b" [ ] "])
async def test_empty_batch_returns_one_error_object(world: World, body: bytes) -> None:
    response = await world.post(body)
    assert (response.status, reason_of(response), response.json["id"]) == (400, "INVALID_REQUEST", None)


async def test_mixed_batch_responds_to_calls_but_not_notifications(world: World, token: str) -> None:
    batch = [
        call("createTestClock", {}, "good"),
        call("sendLoginCodeEmail", send(), OMITTED),
        call(UNKNOWN, {}, None),
        {"jsonrpc": "1.0", "method": UNKNOWN, "id": 3},
        17,
        call(UNKNOWN, {}, OMITTED),
        call("createTestClock", {"frozenTime": 1}, 5.5),
        call("createTestClock", [], "array"),
    ]
    response = await world.post(batch, token)
    assert response.status == 200
    assert [member["id"] for member in response.json] == ["good", None, 3, None, 5.5, "array"]
    reasons = [member.get("error", {}).get("data", {}).get("reason") for member in response.json]
    rejected = ["METHOD_NOT_FOUND", "INVALID_REQUEST", "INVALID_REQUEST", "INVALID_PARAMS", "INVALID_PARAMS"]
    assert reasons == [None, *rejected]
    assert len(world.emails()) == 2, "the notification was carried out"


async def test_calls_of_a_batch_run_in_order(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime="2027-01-01T00:00:00Z")
    times = ["2027-02-01T00:00:00Z", "2027-03-01T00:00:00Z", "2027-02-15T00:00:00Z"]
    calls = [call("advanceTestClock", {"id": clock["id"], "frozenTime": time}, time) for time in times]
    first, second, third = (await world.post(calls, token)).json
    assert first["result"]["clock"]["frozenTime"] == times[0]
    assert second["result"]["clock"]["frozenTime"] == times[1]
    assert third["error"]["data"] == {"reason": "TIME_BEFORE_CURRENT", "currentFrozenTime": times[1]}


@pytest.mark.parametrize(
    "notification",
    [
        pytest.param(call(UNKNOWN, {}, OMITTED), id="unknown method"),
        pytest.param(call("createTestClock", {}, OMITTED), id="no token"),
        pytest.param(call("sendLoginCodeEmail", [], OMITTED), id="params by position"),
        pytest.param(call("sendLoginCodeEmail", send(), OMITTED), id="too soon"),
    ],
)
async def test_rejected_notification_has_no_response(world: World, notification: Any) -> None:
    await world.send_code()
    response = await world.post(notification)
    assert (response.status, response.body) == (204, b"")
    assert not {"www-authenticate", "retry-after", "content-type"} & response.headers.keys()


async def test_each_call_of_a_batch_has_its_own_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    deliver = world.services.mailer.deliver

    async def deliver_slowly(email: Email) -> None:
        world.pass_time(seconds=9)
        await deliver(email)

    monkeypatch.setattr(world.services.mailer, "deliver", deliver_slowly)
    to = [f"slow{number}@example.test" for number in range(7)] + ["ana@example.test"]
    response = await world.post([call("sendLoginCodeEmail", send(address)) for address in to])
    assert [one["result"] for one in response.json] == [{"message": "ok"}] * 8
    # A minute after the start of the batch, but not after this email.
    assert (await world.call("sendLoginCodeEmail", send("ana@example.test"))).status == 429


async def test_stopping_server_starts_no_further_calls(world: World) -> None:
    world.gate.stop(60)
    assert reason_of(await world.post(call("nothing"))) == "METHOD_NOT_FOUND", "there is still time"
    world.gate.stop(0)
    response = await world.post([call("nothing", {}, 1), call("nothing", {}, 2)])
    assert [one["error"]["data"]["reason"] for one in response.json] == ["UNAVAILABLE"] * 2


async def test_wrong_token_is_looked_up_once_for_a_batch(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[bytes] = []
    find = world.store.find_token

    async def count(digest: bytes, now: Any) -> Any:
        looked_up.append(digest)
        return await find(digest, now)

    monkeypatch.setattr(world.store, "find_token", count)
    response = await world.post([call("listTestClocks", {}, number) for number in range(50)], "tko_" + "x" * 43)
    assert {one["error"]["data"]["reason"] for one in response.json} == {"UNAUTHENTICATED"}
    assert len(looked_up) == 1


async def test_valid_token_is_looked_up_once_for_a_batch_of_errors(
    world: World, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[bytes] = []
    find = world.store.find_token

    async def count(digest: bytes, now: Any) -> Any:
        looked_up.append(digest)
        return await find(digest, now)

    monkeypatch.setattr(world.store, "find_token", count)
    response = await world.post([call("listTestClocks", {"x": 1}, number) for number in range(50)], token)
    assert {one["error"]["data"]["reason"] for one in response.json} == {"INVALID_PARAMS"}
    assert len(looked_up) == 1
    batch = [call("logout", {}, 1), call("listTestClocks", {"x": 1}, 2), call("getCurrentUser", {}, 3)]
    found = (await world.post(batch, token)).json
    assert [one["error"]["data"]["reason"] if "error" in one else "ok" for one in found] == [
        "ok",
        "UNAUTHENTICATED",
        "UNAUTHENTICATED",
    ]
