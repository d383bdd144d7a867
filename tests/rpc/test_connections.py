"""connectTestClock, listTestClockConnections and disconnectTestClock. Recorded examples have complete results."""

from typing import Any

import pytest

from tests.rpc.bank_client import connect_plaid, connect_simplefin
from tests.rpc.builders import START, transaction
from tests.support.world import World
from tickover.api.limits import MAX_ADDED, MAX_CLOCK_TRANSACTIONS
from tickover.server.bank import plaid, plaid_objects
from tickover.server.schedule.bank_rows import Row

CONNECT, LIST, DISCONNECT = "connectTestClock", "listTestClockConnections", "disconnectTestClock"
FROM, UNTIL = "2027-02-01T00:00:00Z", "2027-02-02T00:00:00Z"


async def connect(world: World, token: str, clock: str, protocol: str = "PLAID", **params: Any) -> Any:
    return await world.result(CONNECT, {"id": clock, "protocol": protocol, **params}, token)


async def connections(world: World, token: str, clock: str) -> Any:
    return (await world.result(LIST, {"id": clock}, token))["connections"]


@pytest.fixture
async def clock(world: World, token: str) -> str:
    id: str = (await world.create(token))["id"]
    return id


async def test_list_has_the_connections_of_the_clock_oldest_first(world: World, token: str, clock: str) -> None:
    other = (await world.create(token))["id"]
    faults = [{"kind": "LOGIN_REQUIRED", "from": "2027-02-01T01:00:00+01:00", "until": UNTIL}]
    given: list[dict[str, Any]] = [{"institution": "x" * 120, "faults": faults}, {"faults": []}, {}]
    expected = []
    for params in given:
        expected.append((await connect(world, token, clock, **params))["connection"])
        world.pass_time(minutes=1)
    await connect(world, token, other)
    assert expected[0]["faults"] == [{"kind": "LOGIN_REQUIRED", "from": FROM, "until": UNTIL}]
    assert [each.get("faults") for each in expected[1:]] == [[], None]
    assert await connections(world, token, clock) == expected


async def test_connection_of_this_clock_is_disconnected_once(world: World, token: str, clock: str) -> None:
    other = (await world.create(token))["id"]
    ids = [(await connect(world, token, one))["connection"]["id"] for one in (clock, clock, other)]
    assert await world.result(DISCONNECT, {"id": clock, "connectionId": ids[0]}, token) == {"message": "ok"}
    for unknown in (ids[0], ids[2], "conn_x", ""):
        params = {"id": clock, "connectionId": unknown}
        assert await world.faults(DISCONNECT, params, token) == {"connectionId": "existing"}
    assert [each["id"] for each in await connections(world, token, clock)] == [ids[1]]
    assert [each["id"] for each in await connections(world, token, other)] == [ids[2]]


async def test_clock_has_at_most_20_connections(world: World, token: str, clock: str) -> None:
    for _ in range(20):
        await connect(world, token, clock)
    error = await world.error(CONNECT, {"id": clock, "protocol": "PLAID"}, token)
    assert (error["data"]["reason"], error["data"]["retryAfterSeconds"]) == ("RATE_LIMITED", 7 * 86400)


async def test_one_clock_has_programs_of_both_protocols(world: World, token: str) -> None:
    id = (await world.create(token, frozenTime=START, transactions=[transaction(at=START)]))["id"]
    plaid, simplefin = await connect_plaid(world, token, id), await connect_simplefin(world, token, id)
    [added] = (await plaid.call("/transactions/sync"))["added"]
    [account] = await simplefin.accounts()
    assert (added["amount"], [each["amount"] for each in account["transactions"]]) == (-2800, ["2800.00"])


async def test_largest_clock_is_cached(world: World, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each transfer is two rows."""
    accounts = [{"key": key, "name": key, "currency": "EUR"} for key in ("a", "b")]
    clock = (await world.create(token, accounts=accounts))["id"]
    transfers = [{"at": UNTIL, "name": "Savings", "from": "a", "to": "b", "amount": 1}] * MAX_ADDED
    for _ in range(MAX_CLOCK_TRANSACTIONS // MAX_ADDED):
        await world.result("amendTestClock", {"id": clock, "add": {"transfers": transfers}}, token)
    item = await connect_plaid(world, token, clock)
    encoded: list[Row] = []

    def encode_and_count(row: Row) -> bytes:
        encoded.append(row)
        return plaid_objects.encode_row(row)

    monkeypatch.setattr(plaid, "encode_row", encode_and_count)
    await world.advance(token, clock, UNTIL)
    for _ in range(2):
        cursor, has_more = "", True
        while has_more:
            page = await item.call("/transactions/sync", cursor=cursor, count=500)
            cursor, has_more = page["next_cursor"], page["has_more"]
    assert len(encoded) == 2 * MAX_CLOCK_TRANSACTIONS


@pytest.mark.parametrize(
    ("params", "faults"),
    [
        ({}, {"protocol": "required"}),
        ({"institution": ""}, {"institution": "minLength"}),
        ({"faults": [{"kind": "RATE_LIMITED"}]}, {"faults[0].from": "required"}),
        ({"faults": [{"kind": "RATE_LIMITED", "from": FROM, "until": FROM}]}, {"faults[0].until": "range"}),
        ({"faults": [{"kind": "RATE_LIMITED", "from": FROM}] * 21}, {"faults": "count"}),
    ],
)
async def test_invalid_params(
    world: World, token: str, clock: str, params: dict[str, Any], faults: dict[str, str]
) -> None:
    defaults = {"protocol": "PLAID"} if params and "protocol" not in params else {}
    assert await world.faults(CONNECT, {"id": clock, **defaults, **params}, token) == faults
