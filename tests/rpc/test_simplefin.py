"""The bank with the SimpleFIN protocol."""

import pytest

from tests.rpc.bank_client import claim, connect_simplefin, day, payment
from tests.support.world import World

START = 1798761600
"""2027-01-01T00:00:00Z."""
DAY = 86_400


@pytest.fixture
async def clock(world: World, token: str) -> str:
    """A clock at day 3, with a payment on each of five days, and one that is authorized."""
    transactions = [payment(number, 10 * number) for number in range(1, 6)]
    transactions += [
        payment(5, 7.125, authorizedAt=day(3), category="Food"),
        payment(1, 5, type="INCOME", currency="USD"),
    ]
    id: str = (await world.create(token, frozenTime=day(1), transactions=transactions, openingBalances={"EUR": 100}))[
        "id"
    ]
    await world.advance(token, id, day(3))
    return id


async def test_setup_token_works_once(world: World, token: str, clock: str) -> None:
    connected = await world.result("connectTestClock", {"id": clock, "protocol": "SIMPLEFIN"}, token)
    first, second = [await claim(world, connected["setupToken"]) for _ in range(2)]
    assert first.status == 200
    assert first.headers["content-type"].startswith("text/plain")
    assert first.body.startswith(b"https://conn_")
    assert first.body.endswith(b"@tickover.example.test/simplefin")
    assert (second.status, second.body) == (403, b"Forbidden")
    assert (await world.request("POST", "/simplefin/claim/")).status == 403


async def test_accounts_have_everything_that_clients_need(world: World, token: str, clock: str) -> None:
    euro, dollar = await (await connect_simplefin(world, token, clock, institution="First Bank")).accounts("?pending=1")
    url = "https://tickover.example.test/simplefin"
    assert euro["org"] == {"domain": "tickover.example.test", "sfin-url": url, "name": "First Bank"}
    assert (euro["name"], euro["currency"], euro["balance-date"]) == ("EUR", "EUR", START + 2 * DAY)
    assert (euro["balance"], euro["available-balance"]) == ("40.00", "32.875")
    assert (dollar["balance"], [each["amount"] for each in dollar["transactions"]]) == ("5.00", ["5.00"])
    first, *_, pending = euro["transactions"]
    assert first.pop("id").startswith("txn_")
    assert first == {
        "posted": START,
        "amount": "-10.00",
        "description": "Payment 1",
        "payee": "Payment 1",
        "memo": "",
        "transacted_at": START,
    }
    names = ("posted", "amount", "transacted_at", "pending", "memo")
    assert [pending[name] for name in names] == [0, "-7.125", START + 2 * DAY, True, "Food"]


async def test_booked_payment_keeps_the_time_of_its_authorization(world: World, token: str, clock: str) -> None:
    await world.advance(token, clock, day(5))
    euro, _ = await (await connect_simplefin(world, token, clock)).accounts()
    [booked] = [each for each in euro["transactions"] if each["amount"] == "-7.125"]
    assert (booked["transacted_at"], booked["posted"]) == (START + 2 * DAY, START + 4 * DAY)
    assert "pending" not in booked


@pytest.mark.parametrize(
    ("query", "amounts"),
    [
        ("", ["-10.00", "-20.00", "-30.00"]),
        ("?pending=1", ["-10.00", "-20.00", "-30.00", "-7.125"]),
        (f"?start-date={START + DAY}", ["-20.00", "-30.00"]),
        (f"?start-date={START + DAY}&end-date={START + 2 * DAY}", ["-20.00"]),
        ("?balances-only=1", []),
    ],
)
async def test_query_selects_transactions(world: World, token: str, clock: str, query: str, amounts: list[str]) -> None:
    euro, _ = await (await connect_simplefin(world, token, clock)).accounts(query)
    assert [each["amount"] for each in euro["transactions"]] == amounts
    assert euro["balance"] == "40.00"


async def test_accounts_are_selected_by_id(world: World, token: str, clock: str) -> None:
    app = await connect_simplefin(world, token, clock)
    ids = [each["id"] for each in await app.accounts()]
    assert [each["id"] for each in await app.accounts(f"?account={ids[1]}")] == ids[1:]
    assert [each["id"] for each in await app.accounts(f"?account={ids[1]}&account={ids[0]}")] == ids
    assert await app.accounts("?account=x") == []


async def test_amounts_are_exact(world: World, token: str) -> None:
    smallest = f"0.{'0' * 323}5"
    id = (await world.create(token, frozenTime=day(1), transactions=[payment(1, amount) for amount in (1e9, 5e-324)]))[
        "id"
    ]
    [account] = await (await connect_simplefin(world, token, id)).accounts()
    assert [each["amount"] for each in account["transactions"]] == ["-1000000000.00", f"-{smallest}"]
    assert account["balance"] == account["available-balance"] == f"-1000000000{smallest[1:]}"


async def test_version_2_has_connections_and_structured_errors(world: World, token: str, clock: str) -> None:
    faults = [{"kind": "LOGIN_REQUIRED", "from": day(4)}]
    app = await connect_simplefin(world, token, clock, faults=faults)
    found = (await app.get("?version=2")).json
    [connection] = found["connections"]
    assert (connection["name"], connection["sfin_url"]) == ("Tickover Bank", "https://tickover.example.test/simplefin")
    assert found["errlist"] == []
    assert {each["conn_id"] for each in found["accounts"]} == {connection["conn_id"]}
    assert "org" not in found["accounts"][0]
    await world.advance(token, clock, day(4))
    [error] = (await app.get("?version=2")).json["errlist"]
    assert (error["code"], error["conn_id"]) == ("con.auth", connection["conn_id"])


@pytest.mark.parametrize(
    ("kind", "status"),
    [("LOGIN_REQUIRED", 200), ("INSTITUTION_DOWN", 200), ("RATE_LIMITED", 429), ("INTERNAL_ERROR", 500)],
)
async def test_fault_holds_in_simulated_time(world: World, token: str, clock: str, kind: str, status: int) -> None:
    app = await connect_simplefin(world, token, clock, faults=[{"kind": kind, "from": day(4), "until": day(5)}])
    assert (await app.get()).json["errors"] == []
    await world.advance(token, clock, day(4))
    failed = await app.get()
    assert failed.status == status
    if status == 200:
        assert len(failed.json["errors"]) == 1
    await world.advance(token, clock, day(5))
    assert (await app.get()).json["errors"] == []


async def test_accounts_stay_as_they_were_while_the_bank_fails(world: World, token: str, clock: str) -> None:
    faults = [{"kind": "LOGIN_REQUIRED", "from": day(4), "until": day(6)}]
    app = await connect_simplefin(world, token, clock, institution="First Bank", faults=faults)
    await world.advance(token, clock, day(5))
    failed = (await app.get("?pending=1")).json
    assert failed["errors"] == ["Connection to First Bank may need attention"]
    [euro, _] = failed["accounts"]
    assert (euro["balance"], euro["available-balance"], euro["balance-date"]) == ("0.00", "-7.125", START + 3 * DAY)
    assert [each["amount"] for each in euro["transactions"]] == ["-10.00", "-20.00", "-30.00", "-7.125", "-40.00"]


async def test_fault_begins_with_the_clock_at_the_earliest(world: World, token: str, clock: str) -> None:
    faults = [{"kind": "LOGIN_REQUIRED", "from": "2020-01-01T00:00:00Z"}]
    euro, _ = await (await connect_simplefin(world, token, clock, faults=faults)).accounts()
    assert (euro["balance-date"], euro["balance"]) == (START, "90.00")


async def test_wrong_and_ended_secrets_are_forbidden(world: World, token: str, clock: str) -> None:
    app = await connect_simplefin(world, token, clock)
    user, password = app.access_url.split("//")[1].split("@")[0].split(":")
    for wrong in (f"x:{password}", f"{user}:x", f":{password}", password, "", f"{user}:{token}"):
        assert (await app.get(credentials=wrong)).status == 403, wrong
    for header in ("", "Basic", "Basic ä", "Basic =", f"Bearer {password}"):
        response = await world.request("GET", "/simplefin/accounts", b"", {"Authorization": header})
        assert response.status == 403, header
    assert (await world.error("getTestClock", {"id": clock}, password))["data"]["reason"] == "UNAUTHENTICATED"
    params = {"id": clock, "connectionId": user}
    await world.result("disconnectTestClock", params, token)
    assert (await app.get()).status == 403


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/info", 200),
        ("GET", "/create", 200),
        ("POST", "/info", 405),
        ("GET", "/claim/x", 405),
        ("GET", "/x", 404),
    ],
)
async def test_statuses_of_resources(world: World, method: str, path: str, status: int) -> None:
    assert (await world.request(method, f"/simplefin{path}")).status == status


async def test_paths_in_logs_have_no_secrets(world: World) -> None:
    assert world.handler.route("/simplefin/claim/secret") == "/simplefin/claim"
    assert world.handler.route("/simplefin/secret") == "unknown"


@pytest.mark.parametrize(
    "query",
    [
        *[f"start-date={date}" for date in ("x", "NaN", "1e17", "1e9", "1_000", "%2018", "%D9%A3", "253402300800")],
        *[f"end-date={date}" for date in ("1e999", "-1e17", "67768037000000000")],
        "version=3",
        "&".join("a" * 200),
        "ä",
    ],
)
async def test_invalid_query_is_a_bad_request(world: World, token: str, clock: str, query: str) -> None:
    assert (await (await connect_simplefin(world, token, clock)).get(f"?{query}")).status == 400
