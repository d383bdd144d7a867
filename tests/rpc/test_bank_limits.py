"""What a bank allows: consent for some days, and some calls each day. And what its owner changes."""

from typing import Any

import pytest

from tests.rpc.bank_client import connect_plaid, connect_simplefin, day, payment
from tests.support.world import World

START = "2027-01-01T00:00:00Z"
UPDATE = "updateTestClockConnection"
LOGIN_REQUIRED = (400, "ITEM_ERROR", "ITEM_LOGIN_REQUIRED")
LIMITED = (429, "RATE_LIMIT_EXCEEDED")


@pytest.fixture
async def clock(world: World, token: str) -> str:
    transactions = [payment(number, number) for number in (1, 2, 3, 4)]
    id: str = (await world.create(token, frozenTime=START, transactions=transactions))["id"]
    return id


async def test_consent_ends_some_days_after_the_claim(world: World, token: str, clock: str) -> None:
    down = {"kind": "INSTITUTION_DOWN", "from": day(4)}
    await world.advance(token, clock, day(2))
    item = await connect_plaid(world, token, clock, consentDays=2, faults=[down])
    simplefin = await connect_simplefin(world, token, clock, consentDays=1)
    found = (await item.call("/item/get"))["item"]
    assert (found["consent_expiration_time"], found["error"]) == (day(4), None)
    await world.advance(token, clock, "2027-01-03T23:59:59.999999Z")
    await item.call("/accounts/get")
    response = await simplefin.get("?version=2")
    assert [each["code"] for each in response.json["errlist"]] == ["con.auth"]
    assert response.json["accounts"][0]["balance"] == "-6.00", "as it was when the consent ended"
    await world.advance(token, clock, day(4))
    assert await item.error("/transactions/sync") == LOGIN_REQUIRED
    assert (await item.call("/item/get"))["item"]["error"]["error_code"] == "ITEM_LOGIN_REQUIRED"


async def test_calls_for_data_are_limited_each_day(world: World, token: str, clock: str) -> None:
    item = await connect_plaid(world, token, clock, callsPerDay=3)
    for path, members in (
        ("/transactions/sync", {"cursor": "x"}),
        ("/accounts/get", {"options": {"account_ids": ["x"]}}),
    ):
        assert (await item.error(path, **members))[0] == 400, "refused calls don't count"
    for path in ("/item/get", "/transactions/sync", "/accounts/get", "/transactions/refresh", "/item/get"):
        await item.call(path)
    assert await item.error("/transactions/sync") == (*LIMITED, "TRANSACTIONS_SYNC_LIMIT")
    await world.advance(token, clock, "2027-01-01T23:59:59Z")
    assert await item.error("/accounts/get") == (*LIMITED, "ACCOUNTS_LIMIT")
    await world.advance(token, clock, day(2))
    await item.call("/accounts/get")
    simplefin = await connect_simplefin(world, token, clock, callsPerDay=1)
    assert [(await simplefin.get()).status for _ in range(2)] == [200, 429]


async def test_settings_are_given_back_and_replaced(world: World, token: str, clock: str) -> None:
    given: dict[str, Any] = {"quirks": ["DOUBLES"], "consentDays": 730, "callsPerDay": 1000, "faults": []}
    item = await connect_plaid(world, token, clock, **given)

    async def update(**changes: Any) -> Any:
        updated = await world.result(UPDATE, {"id": clock, "connectionId": item.id, **changes}, token)
        assert (await world.result("listTestClockConnections", {"id": clock}, token))["connections"] == [
            updated["connection"]
        ]
        return {name: updated["connection"].get(name) for name in given}

    assert await update() == given
    assert await update(quirks=None, callsPerDay=5) == {**given, "quirks": None, "callsPerDay": 5}
    assert await update(quirks=[], callsPerDay=None) == {**given, "quirks": [], "callsPerDay": None}
    for changes, fault in (
        ({"quirks": ["NO_IDS"]}, {"quirks[0]": "combination"}),
        ({"quirks": ["SAME_ID", "HOLDS_STAY"]}, {"quirks[1]": "combination"}),
        ({"callsPerDay": 0}, {"callsPerDay": "min"}),
        ({"consentDays": 3}, {"consentDays": "unknown"}),
        ({"connectionId": "conn_x"}, {"connectionId": "existing"}),
    ):
        params = {"id": clock, "connectionId": item.id, **changes}
        assert await world.faults(UPDATE, params, token) == fault
    stranger = await world.sign_in("eve@example.test")
    error = await world.error(UPDATE, {"id": clock, "connectionId": item.id}, stranger)
    assert error["data"]["reason"] == "CLOCK_NOT_FOUND"


async def test_whole_numbers_may_be_floats(world: World, token: str, clock: str) -> None:
    defaults = {"consentDays": 90.0, "callsPerDay": 4.0}
    updated = await world.result("updateTestClock", {"id": clock, "bankDefaults": defaults}, token)
    assert str(updated["clock"]["bankDefaults"]) == "{'consentDays': 90, 'callsPerDay': 4}"
    item = await connect_plaid(world, token, clock, consentDays=730.0)
    params = {"id": clock, "connectionId": item.id}
    await world.result(UPDATE, {**params, "callsPerDay": 2.0}, token)
    for _ in range(2):
        await item.call("/accounts/get")
    assert len((await world.result("listConnectionCalls", {**params, "limit": 1.0}, token))["calls"]) == 1


async def test_next_sync_brings_the_difference_of_other_quirks(world: World, token: str, clock: str) -> None:
    await world.advance(token, clock, day(2))
    item = await connect_plaid(world, token, clock)
    first = await item.call("/transactions/sync")
    params = {"id": clock, "connectionId": item.id, "quirks": ["TELLS_LATE", "REWRITES_NAMES"]}
    await world.result(UPDATE, params, token)
    changed = await item.call("/transactions/sync", cursor=first["next_cursor"])
    assert (len(changed["added"]), len(changed["modified"]), len(changed["removed"])) == (0, 0, 2)
    await world.advance(token, clock, day(4))
    told = await item.call("/transactions/sync", cursor=changed["next_cursor"])
    assert [each["name"].partition(" *")[0] for each in told["added"]] == ["Payment 1", "PAYMENT 2"]
    await world.result(UPDATE, {**params, "quirks": None}, token)
    plain = await item.call("/transactions/sync", cursor=told["next_cursor"])
    assert [each["name"] for each in (*plain["modified"], *plain["added"])] == ["Payment 2", "Payment 3", "Payment 4"]
    assert (await item.call("/transactions/sync", cursor=plain["next_cursor"]))["added"] == []


async def test_account_of_a_cursor_is_the_same_under_other_quirks(world: World, token: str, clock: str) -> None:
    item = await connect_plaid(world, token, clock)
    options = {"account_id": (await item.call("/accounts/get"))["accounts"][0]["account_id"]}
    first = await item.call("/transactions/sync", options=options)
    await world.result(UPDATE, {"id": clock, "connectionId": item.id, "quirks": ["NEW_IDS_ON_RELINK"]}, token)
    options = {"account_id": (await item.call("/accounts/get"))["accounts"][0]["account_id"]}
    page = await item.call("/transactions/sync", cursor=first["next_cursor"], options=options)
    assert [each["account_id"] for each in page["added"]] == [options["account_id"]]
    assert [each["transaction_id"] for each in page["removed"]] == [first["added"][0]["transaction_id"]]


async def test_clock_has_defaults_for_its_bank(world: World, token: str, clock: str) -> None:
    defaults = {"quirks": ["TELLS_LATE"], "consentDays": 90, "callsPerDay": 4, "faults": []}
    updated = await world.result("updateTestClock", {"id": clock, "bankDefaults": defaults}, token)
    assert updated["clock"]["bankDefaults"] == defaults
    assert (await world.advance(token, clock, day(2)))["bankDefaults"] == defaults
    wrong = {"quirks": ["SAME_ID", "UNLINKED"], "faults": [{"kind": "INTERNAL_ERROR", "from": START, "until": START}]}
    assert await world.faults("updateTestClock", {"id": clock, "bankDefaults": wrong}, token) == {
        "bankDefaults.quirks[1]": "combination",
        "bankDefaults.faults[0].until": "range",
    }
    removed = await world.result("updateTestClock", {"id": clock, "bankDefaults": None}, token)
    assert "bankDefaults" not in removed["clock"]


async def test_calls_of_an_app_are_listed_newest_first(world: World, token: str, clock: str) -> None:
    item = await connect_plaid(world, token, clock)
    simplefin = await connect_simplefin(world, token, clock)

    async def calls(id: str, **params: Any) -> list[tuple[str, str, int | None, str]]:
        listed = await world.result("listConnectionCalls", {"id": clock, "connectionId": id, **params}, token)
        return [(each["path"], each["outcome"], each.get("rows"), each["clockTime"]) for each in listed["calls"]]

    assert await calls(item.id) == []
    await item.call("/transactions/sync")
    await world.advance(token, clock, day(2))
    world.pass_time(seconds=1)
    await item.call("/item/get")
    world.pass_time(seconds=1)
    await item.error("/transactions/sync", cursor="x")
    await simplefin.get("?start-date=0")
    await simplefin.get("?start-date=x")
    expected = [
        ("/transactions/sync", "INVALID_FIELD", None, day(2)),
        ("/item/get", "200", None, day(2)),
        ("/transactions/sync", "200", 1, day(1)),
    ]
    assert await calls(item.id) == expected
    assert await calls(item.id, limit=1) == expected[:1]
    other = simplefin.access_url.split("//")[1].split(":")[0]
    assert await calls(other) == [("/accounts", "200", 2, day(2))]
    for _ in range(101):
        await item.call("/item/get")
    assert len(await calls(item.id)) == 100
    params = {"id": clock, "connectionId": "conn_x"}
    assert await world.faults("listConnectionCalls", params, token) == {"connectionId": "existing"}
