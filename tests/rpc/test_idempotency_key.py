"""Idempotency keys: a retry with the same key and parameters creates no second clock."""

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.rpc.builders import (
    BEN,
    MICROSECOND,
    call,
    idempotency_header,
    raw_call,
    reason_of,
    to_timestamp,
    transaction,
)
from tests.rpc.idempotent_calls import CREATE, SENT, clock_of, create, faults_in, live_clock_ids
from tests.support.world import HttpResponse, World, open_world, run_concurrently

REUSED = {"Idempotency-Key": "reused"}
MANY_DIGITS = "9" * 5000


# Retries


async def test_same_key_and_parameters_return_the_same_clock(world: World, token: str) -> None:
    first = await create(world, token, "k")
    world.pass_time(hours=5)
    for _ in range(2):
        assert (await create(world, token, "k")).body == first.body
    assert await live_clock_ids(world, token) == [first.json["result"]["clock"]["id"]]


async def test_retry_returns_the_clock_at_its_current_time(world: World, token: str) -> None:
    clock = await clock_of(world, token, "k")
    moved = await world.advance(token, clock["id"], "2027-03-01T00:00:00Z")
    assert len(moved["transactions"]) == 1
    assert await clock_of(world, token, "k") == moved
    assert await world.result("getTestClock", {"id": clock["id"]}, token) == {"clock": moved}


async def test_default_start_is_not_compared(world: World, token: str) -> None:
    clock = await clock_of(world, token, "k", "{}")
    world.pass_time(hours=5)
    assert await clock_of(world, token, "k", "{}") == clock


async def test_missing_parameters_equal_an_empty_object(world: World, token: str) -> None:
    clock = await clock_of(world, token, "k", "{}")
    left_out = await world.post(call(CREATE), token, **idempotency_header("k"))
    assert left_out.json["result"]["clock"] == clock


SAME = {
    "in another order": (
        '{"goals":[{"initialAmount":0,"targetAmount":2.5,"name":"G"}],"transactions":[{"type":"INCOME","currency":"CHF",'
        '"amount":1,"name":"Zürich / A","at":"2027-02-01T00:00:00Z"}],"frozenTime":"2027-01-01T00:00:00Z"}'
    ),
    "laid out": SENT.replace(",", " ,\n\t").replace(":{", " : {").replace("[", "[ \r\n"),
    "1.0 for 1": SENT.replace('"amount":1', '"amount":1.0'),
    "1e0 for 1": SENT.replace('"amount":1', '"amount":1e0'),
    "0.1E+1 for 1": SENT.replace('"amount":1', '"amount":0.1E+1'),
    "-0.0 for 0": SENT.replace('"initialAmount":0', '"initialAmount":-0.0'),
    "25e-1 for 2.5": SENT.replace("2.5", "25e-1"),
    "digits beyond a double": SENT.replace("2.5", "2.50000000000000000000000000001"),
    "escapes in texts": SENT.replace("Zürich / A", r"\u005a\u00fcrich \/ \u0041"),
    "escapes in names": SENT.replace('"goals"', r'"\u0067oals"').replace('"amount"', r'"amoun\u0074"'),
    "a name twice": '{"goals":[],' + SENT[1:],
    "a name twice, with a number": f'{{"goals":{MANY_DIGITS},' + SENT[1:],
    "a name twice inside": SENT.replace('"amount":1', f'"amount":{MANY_DIGITS},"amount":1'),
    "a name twice, beyond all numbers": SENT.replace('"amount":1', '"amount":1e999,"amount":-1e999,"amount":1'),
    "a name twice, with anything": SENT.replace('"amount":1', '"amount":[{"a":null}],"amount":true,"amount":1'),
}


@pytest.mark.parametrize("params", SAME.values(), ids=SAME)
@pytest.mark.parametrize("first", [True, False], ids=["and then so", "first so"])
async def test_equal_json_is_the_same_parameters(world: World, token: str, params: str, first: bool) -> None:
    one, other = (SENT, params) if first else (params, SENT)
    assert one != other
    assert await clock_of(world, token, "k", one) == await clock_of(world, token, "k", other)


OTHER = {
    "none": "{}",
    "another amount": SENT.replace('"amount":1', '"amount":1.0000000000000002'),
    "another text": SENT.replace("Zürich", "zürich"),
    "a text in another normal form": SENT.replace("ü", "u\u0308"),
    "a text of digits": SENT.replace("Zürich / A", "1"),
    "a time written otherwise": SENT.replace("2027-02-01T00:00:00Z", "2027-02-01T00:00:00+00:00"),
    "a time with a fraction": SENT.replace("2027-01-01T00:00:00Z", "2027-01-01T00:00:00.0Z"),
    "a default left out": SENT.replace(',"initialAmount":0', ""),
    "a default put in": SENT.replace('"type":"INCOME"', '"type":"INCOME","category":""'),
    "one more": SENT.replace('"goals":[', '"goals":[{"name":"G","targetAmount":2.5,"initialAmount":0},'),
}


@pytest.mark.parametrize("params", OTHER.values(), ids=OTHER)
async def test_other_parameters_with_the_same_key_are_rejected(world: World, token: str, params: str) -> None:
    clock = await clock_of(world, token, "k")
    assert faults_in(await create(world, token, "k", params)) == REUSED
    assert await live_clock_ids(world, token) == [clock["id"]]
    assert await clock_of(world, token, "k") == clock
    assert (await clock_of(world, token, "another", params))["id"] != clock["id"]


async def test_order_of_items_matters(world: World, token: str) -> None:
    one, other = [transaction(name=name) for name in ("one", "other")]
    await world.post(call(CREATE, {"transactions": [one, other]}), token, **idempotency_header("k"))
    again = await world.post(call(CREATE, {"transactions": [other, one]}), token, **idempotency_header("k"))
    assert faults_in(again) == REUSED


async def test_message_says_what_to_do(world: World, token: str) -> None:
    await clock_of(world, token, "k")
    response = await create(world, token, "k", "{}")
    assert (response.status, response.json["error"]["code"]) == (200, -32602)
    message = "was already used with other parameters for a live clock; use a new key"
    assert response.json["error"]["data"]["errors"] == [
        {"path": "Idempotency-Key", "rule": "reused", "message": message}
    ]


# Times that have passed since the first call are still accepted in a retry.


async def test_retry_works_when_its_times_have_passed(world: World, token: str) -> None:
    soon = call(CREATE, {"transactions": [transaction(at=to_timestamp(world.now + timedelta(seconds=1)))]})
    first = await world.post(soon, token, **idempotency_header("k"))
    world.pass_time(seconds=2)
    assert (await world.post(soon, token, **idempotency_header("k"))).json == first.json
    clock = first.json["result"]["clock"]
    moved = await world.advance(token, clock["id"], to_timestamp(world.now))
    assert len(moved["transactions"]) == 1
    assert (await world.post(soon, token, **idempotency_header("k"))).json["result"]["clock"] == moved


async def test_retry_works_when_its_start_is_now_out_of_range(world: World, token: str) -> None:
    params = f'{{"frozenTime": "{to_timestamp(world.now.replace(year=2017))}"}}'
    clock = await clock_of(world, token, "k", params)
    world.pass_time(seconds=1)
    assert faults_in(await create(world, token, "another", params)) == {"frozenTime": "range"}
    assert await clock_of(world, token, "k", params) == clock


async def test_invalid_parameters_without_earlier_clock_are_rejected(world: World, token: str) -> None:
    past, passed = [transaction(at=to_timestamp(world.now + timedelta(seconds=second))) for second in (-1, 1)]
    await world.post(call(CREATE, {"transactions": [passed]}), token, **idempotency_header("k"))
    world.pass_time(seconds=2)
    for params, faults in (
        ({"transactions": [past]}, {"transactions[0].at": "range"}),
        ({"transactions": [passed, passed]}, {"transactions[0].at": "range", "transactions[1].at": "range"}),
        ({"transactions": [passed], "goals": 5}, {"transactions[0].at": "range", "goals": "type"}),
    ):
        assert faults_in(await world.post(call(CREATE, params), token, **idempotency_header("k"))) == faults
    for key, who in (("another", token), ("k", await world.sign_in(BEN))):
        again = await world.post(call(CREATE, {"transactions": [passed]}), who, **idempotency_header(key))
        assert faults_in(again) == {"transactions[0].at": "range"}


@pytest.mark.parametrize("end", ["deleted", "expired"])
async def test_passed_times_are_rejected_after_the_clock_is_deleted(world: World, token: str, end: str) -> None:
    soon = call(CREATE, {"transactions": [transaction(at=to_timestamp(world.now + timedelta(seconds=1)))]})
    clock = (await world.post(soon, token, **idempotency_header("k"))).json["result"]["clock"]
    world.pass_time(seconds=2)
    if end == "deleted":
        await world.result("deleteTestClock", {"id": clock["id"]}, token)
    else:
        world.now = datetime.fromisoformat(clock["expiresAt"])
    assert faults_in(await world.post(soon, token, **idempotency_header("k"))) == {"transactions[0].at": "range"}


# Owners of keys


async def test_each_user_has_their_own_keys(world: World, token: str) -> None:
    anas = await clock_of(world, token, "k")
    ben = await world.sign_in(BEN)
    bens = await clock_of(world, ben, "k", "{}")
    assert bens["id"] != anas["id"]
    assert await clock_of(world, token, "k") == anas
    assert await clock_of(world, ben, "k", "{}") == bens


async def test_retry_with_another_token_works(world: World, token: str) -> None:
    clock = await clock_of(world, token, "k")
    assert await clock_of(world, await world.sign_in(), "k") == clock


async def test_every_call_without_key_creates_a_clock(world: World, token: str) -> None:
    made = {(await world.post(raw_call(CREATE, SENT), token)).json["result"]["clock"]["id"] for _ in range(3)}
    made.add((await clock_of(world, token, "k"))["id"])
    assert {*await live_clock_ids(world, token)} == made
    assert len(made) == 4


# Lifetime of keys


@pytest.mark.parametrize("params", [SENT, "{}"], ids=["the same parameters", "others"])
@pytest.mark.parametrize("sweeps", [False, True], ids=["still kept", "swept"])
async def test_key_is_free_after_its_clock_expires(world: World, token: str, params: str, sweeps: bool) -> None:
    clock = await clock_of(world, token, "k")
    world.now = datetime.fromisoformat(clock["expiresAt"]) - MICROSECOND
    assert await clock_of(world, token, "k") == clock
    world.now += MICROSECOND
    if sweeps:
        assert await world.store.sweep(world.now, 100) > 0
    second = await clock_of(world, token, "k", params)
    assert second["id"] != clock["id"]
    assert await clock_of(world, token, "k", params) == second
    assert await live_clock_ids(world, token) == [second["id"]]
    assert faults_in(await create(world, token, "k", '{"goals": []}')) == REUSED


@pytest.mark.parametrize("params", [SENT, "{}"], ids=["the same parameters", "others"])
async def test_key_is_free_after_its_clock_is_deleted(world: World, token: str, params: str) -> None:
    clock = await clock_of(world, token, "k")
    await world.result("deleteTestClock", {"id": clock["id"]}, token)
    second = await clock_of(world, token, "k", params)
    assert second["id"] != clock["id"]
    assert await live_clock_ids(world, token) == [second["id"]]


async def test_rejected_call_uses_no_key(world: World, token: str) -> None:
    assert faults_in(await create(world, token, "k", '{"goals": 5}')) == {"goals": "type"}
    clock = await clock_of(world, token, "k")
    assert await live_clock_ids(world, token) == [clock["id"]]


async def test_retry_needs_no_quota(tmp_path: Path, database_url: str) -> None:
    async with open_world(tmp_path, database_url, max_clocks_per_user=1) as world:
        token = await world.sign_in()
        clock = await clock_of(world, token, "k")
        response = await create(world, token, "another")
        assert (response.status, reason_of(response)) == (429, "RATE_LIMITED")
        assert response.headers["retry-after"] == str(7 * 86_400)
        assert await clock_of(world, token, "k") == clock
        assert faults_in(await create(world, token, "k", "{}")) == REUSED
        await world.result("deleteTestClock", {"id": clock["id"]}, token)
        # The rejected call used no key.
        assert (await clock_of(world, token, "another", "{}"))["id"] != clock["id"]


# Concurrency


async def test_50_concurrent_calls_get_the_same_clock(world: World, token: str) -> None:
    responses: list[HttpResponse] = await run_concurrently(50, lambda _: create(world, token, "k"))
    assert {response.status for response in responses} == {200}
    assert len({response.body for response in responses}) == 1
    assert await live_clock_ids(world, token) == [responses[0].json["result"]["clock"]["id"]]


async def test_one_of_50_concurrent_calls_with_different_parameters_succeeds(world: World, token: str) -> None:
    responses: list[HttpResponse] = await run_concurrently(
        50, lambda number: create(world, token, "k", SENT.replace('"amount":1', f'"amount":{number + 1}'))
    )
    outcomes = Counter("ok" if "result" in response.json else str(faults_in(response)) for response in responses)
    assert outcomes == {"ok": 1, str(REUSED): 49}
    assert len(await live_clock_ids(world, token)) == 1


async def test_different_keys_are_independent(world: World, token: str) -> None:
    ben = await world.sign_in(BEN)
    asked = [(who, f"k{number}") for number in range(10) for who in (token, ben)] * 3
    made = await asyncio.gather(*(clock_of(world, who, key) for who, key in asked))
    assert len({clock["id"] for clock in made}) == 20
    assert (len(await live_clock_ids(world, token)), len(await live_clock_ids(world, ben))) == (10, 10)
