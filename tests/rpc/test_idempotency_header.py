"""The Idempotency-Key header: valid keys, and the calls that use it."""

import pytest

from tests.rpc.builders import OMITTED, START, call, idempotency_header, post_with, raw_call, reason_of
from tests.rpc.idempotent_calls import CREATE, SENT, clock_of, create, faults_in, live_clock_ids
from tests.support.world import World

# Valid keys


@pytest.mark.parametrize(
    "key", ["k", "k" * 255, "0f8fad5b-d9cd-469f-a165-70867728950e", '"quoted"', "a b", "é", "ÿ" * 255, "%00", "a,b"]
)
async def test_key_has_1_to_255_characters(world: World, token: str, key: str) -> None:
    assert await clock_of(world, token, key) == await clock_of(world, token, key)
    assert len(await live_clock_ids(world, token)) == 1


@pytest.mark.parametrize("key", ["", "k" * 256, "k" * 20_000], ids=["none", "256", "20,000"])
async def test_key_with_other_length_is_rejected(world: World, token: str, key: str) -> None:
    response = await create(world, token, key)
    message = "must be one header of 1 to 255 characters"
    assert response.json["error"]["data"]["errors"] == [
        {"path": "Idempotency-Key", "rule": "length", "message": message}
    ]
    assert await live_clock_ids(world, token) == []


@pytest.mark.parametrize("keys", [("k", "k"), ("k", "other"), ("", "k"), ("k", "k", "k")])
async def test_several_keys_are_rejected(world: World, token: str, keys: tuple[str, ...]) -> None:
    headers = [("Content-Type", "application/json"), ("Authorization", f"Bearer {token}")]
    every = [*headers, *(("Idempotency-Key", key) for key in keys)]
    response = await post_with(world, every, raw_call(CREATE, "{}"))
    assert faults_in(response) == {"Idempotency-Key": "length"}
    assert await live_clock_ids(world, token) == []


async def test_keys_are_case_sensitive(world: World, token: str) -> None:
    keys = ["key", "Key", "ke y", "kéy", "kËy", "ke", "k" * 255, "k" * 254]
    assert len({(await clock_of(world, token, key))["id"] for key in keys}) == len(keys)


# Calls that use the key


@pytest.mark.parametrize("key", ["k", "", "k" * 256], ids=["good", "empty", "too long"])
@pytest.mark.parametrize("count", [1, 2, 50])
async def test_batch_with_key_is_rejected(world: World, token: str, key: str, count: int) -> None:
    response = await world.post([call(CREATE, {}, number) for number in range(count)], token, **idempotency_header(key))
    assert (response.status, reason_of(response), response.json["id"]) == (400, "INVALID_REQUEST", None)
    assert "Idempotency-Key" in response.json["error"]["message"]
    assert await live_clock_ids(world, token) == []


async def test_batch_with_key_is_rejected_for_all_operations(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime=START)
    advance = {"id": clock["id"], "frozenTime": "2027-02-01T00:00:00Z"}
    for calls in ([call("advanceTestClock", advance)], [call(CREATE, {}, OMITTED)], [5], []):
        response = await world.post(calls, token, **idempotency_header("k"))
        assert (response.status, reason_of(response), response.json["id"]) == (400, "INVALID_REQUEST", None)
    assert await world.result("getTestClock", {"id": clock["id"]}, token) == {"clock": clock}
    assert await live_clock_ids(world, token) == [clock["id"]]


@pytest.mark.parametrize("key", ["k", "", "k" * 256], ids=["good", "empty", "too long"])
async def test_other_operations_ignore_the_key(world: World, token: str, key: str) -> None:
    clock = await world.create(token, frozenTime=START)
    for name in ("first", "second"):
        update = call("updateTestClock", {"id": clock["id"], "name": name})
        response = await world.post(update, token, **idempotency_header(key))
        assert response.json["result"]["clock"]["name"] == name
    for frozen_time in ("2027-02-01T00:00:00Z", "2027-03-01T00:00:00Z"):
        advance = call("advanceTestClock", {"id": clock["id"], "frozenTime": frozen_time})
        response = await world.post(advance, token, **idempotency_header(key))
        assert response.json["result"]["clock"]["frozenTime"] == frozen_time
    assert reason_of(await world.post(call("no.such"), token, **idempotency_header(key))) == "METHOD_NOT_FOUND"
    assert (await world.post(call("logout"), token, **idempotency_header(key))).json["result"] == {"message": "ok"}


async def test_notification_uses_its_key(world: World, token: str) -> None:
    notification = raw_call(CREATE, SENT).replace(b', "id": 7', b"")
    for _ in range(2):
        assert (await world.post(notification, token, **idempotency_header("k"))).status == 204
    clock = await clock_of(world, token, "k")
    assert await live_clock_ids(world, token) == [clock["id"]]


async def test_faults_of_key_and_parameters_are_listed_together(world: World, token: str) -> None:
    response = await create(world, token, "", '{"frozenTime": "soon", "goals": 5}')
    assert faults_in(response) == {"frozenTime": "format", "goals": "type", "Idempotency-Key": "length"}
    assert response.json["error"]["message"] == "3 fields of createTestClock are invalid."
    by_position = await create(world, token, "", "[]")
    assert faults_in(by_position) == {"params": "type", "Idempotency-Key": "length"}


async def test_token_is_checked_before_the_key(world: World) -> None:
    response = await world.post(raw_call(CREATE, SENT), None, **idempotency_header(""))
    assert (response.status, reason_of(response)) == (401, "UNAUTHENTICATED")


async def test_parameters_are_checked_before_a_used_key(world: World, token: str) -> None:
    await clock_of(world, token, "k")
    assert faults_in(await create(world, token, "k", '{"goals": 5}')) == {"goals": "type"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param('{"goals": ', "}", id="in a field"),
        pytest.param('{"goals": ', ', "goals": []}', id="in a field that is there twice"),
        pytest.param('{"x": ', "}", id="in an unknown field"),
    ],
)
async def test_deep_nesting_is_not_an_internal_error(world: World, token: str, before: str, after: str) -> None:
    """Try every depth around the limit."""
    for depth in range(850, 1010):
        response = await create(world, token, "k", before + "[" * depth + "]" * depth + after)
        assert response.status in (200, 400), depth
        assert b"INTERNAL" not in response.body, depth


async def test_number_of_faults_is_limited(world: World, token: str) -> None:
    """10,000 faults of parameters and one of the key are one too many."""
    contributions = ",".join(['{"at":5,"amount":0}'] * 100)
    names = ",".join(f'"unknown{number}":0' for number in range(100))
    goal = f'{{"name":"","targetAmount":0,"contributions":[{contributions}],{names}}}'
    entry = f'{{"at":5,"name":"","amount":0,"currency":"","type":"","category":5,{names}}}'
    params = f'{{"goals":[{",".join([goal] * 25)}],"transactions":[{",".join([entry] * 60)}]}}'
    errors = (await create(world, token, "", params)).json["error"]["data"]["errors"]
    assert len(errors) == 10_000
