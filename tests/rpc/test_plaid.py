"""The bank with Plaid's API."""

import json
import re
from typing import Any

import pytest

from tests.rpc.bank_client import connect_plaid, day, error_of, payment, send_plaid
from tests.support.world import World

START = "2027-01-01T00:00:00Z"
INVALID_TOKEN = (400, "INVALID_INPUT", "INVALID_ACCESS_TOKEN")
ACCOUNTS = [
    {"key": "main", "name": "Main", "currency": "EUR", "openingBalance": 100},
    {"key": "card", "name": "Card", "currency": "EUR", "type": "CREDIT_CARD"},
    {"key": "loan", "name": "Loan", "currency": "EUR", "type": "LOAN", "openingBalance": -5000},
    {"key": "cash", "name": "Purse", "currency": "USD", "type": "CASH"},
    {"key": "save", "name": "Nest egg", "currency": "USD", "type": "SAVINGS", "openingBalance": 0.1},
]


async def create(world: World, token: str, **params: Any) -> str:
    id: str = (await world.create(token, frozenTime=START, **params))["id"]
    return id


async def amend(world: World, token: str, clock: str, **params: Any) -> Any:
    return (await world.result("amendTestClock", {"id": clock, **params}, token))["clock"]


def number_of(id: str) -> str:
    """Return the part of an item's ID after the clock's key."""
    return id.split("_", 2)[2]


def rows(transactions: Any) -> list[tuple[str, float, bool]]:
    return [(number_of(each["transaction_id"]), each["amount"], each["pending"]) for each in transactions]


# Items and accounts


async def test_accounts_have_the_types_and_signs_of_plaid(world: World, token: str) -> None:
    transactions = [payment(1, 30, account="card"), payment(1, 12.5)]
    clock = await create(world, token, accounts=ACCOUNTS, transactions=transactions)
    item = await connect_plaid(world, token, clock, institution="First Bank")
    for path in ("/accounts/get", "/accounts/balance/get"):
        accounts = (await item.call(path))["accounts"]
        found = [
            (
                each["name"],
                each["type"],
                each["subtype"],
                *(each["balances"][name] for name in ("current", "available", "limit")),
            )
            for each in accounts
        ]
        assert found == [
            ("Main", "depository", "checking", 87.5, 87.5, None),
            ("Card", "credit", "credit card", 30, None, 5000),
            ("Loan", "loan", "loan", 5000, None, None),
            ("Purse", "depository", "cash management", 0, 0, None),
            ("Nest egg", "depository", "savings", 0.1, 0.1, None),
        ]
    assert all(re.fullmatch("[0-9]{4}", each["mask"]) for each in accounts)
    some = [accounts[3]["account_id"], accounts[0]["account_id"]]
    selected = await item.call("/accounts/get", options={"account_ids": some})
    assert [each["name"] for each in selected["accounts"]] == ["Main", "Purse"]
    unknown = await item.error("/accounts/get", options={"account_ids": ["acct_x"]})
    assert unknown == (400, "INVALID_INPUT", "INVALID_ACCOUNT_ID")


async def test_clock_without_accounts_has_one_for_each_currency(world: World, token: str) -> None:
    clock = await create(
        world,
        token,
        openingBalances={"USD": 7, "EUR": 100},
        transactions=[payment(1, 1), payment(9, 1, currency="CHF")],
    )
    accounts = (await (await connect_plaid(world, token, clock)).call("/accounts/get"))["accounts"]
    assert [(each["name"], each["balances"]["current"], each["subtype"]) for each in accounts] == [
        ("CHF", 0, "checking"),
        ("EUR", 99, "checking"),
        ("USD", 7, "checking"),
    ]
    assert [each["account_id"].rpartition("_")[2] for each in accounts] == ["chf", "eur", "usd"]


async def test_account_stays_when_its_currency_is_gone(world: World, token: str) -> None:
    clock = await create(
        world, token, openingBalances={"USD": 7, "EUR": 1}, transactions=[payment(8, 1, currency="CHF"), payment(9, 1)]
    )
    francs = (await world.result("getTestClock", {"id": clock}, token))["clock"]["pendingTransactions"][0]
    assert francs["currency"] == "CHF"

    async def balances(clock: str) -> dict[str, float]:
        accounts = (await (await connect_plaid(world, token, clock)).call("/accounts/get"))["accounts"]
        return {each["account_id"].rpartition("_")[2]: each["balances"]["current"] for each in accounts}

    assert await balances(clock) == {"chf": 0, "eur": 1, "usd": 7}
    await amend(world, token, clock, cancel=[francs["id"]])
    assert await balances(clock) == {"chf": 0, "eur": 1, "usd": 7}
    await world.result("updateTestClock", {"id": clock, "openingBalances": None}, token)
    assert await balances(clock) == {"chf": 0, "eur": 0, "usd": 0}
    fork = await world.result("forkTestClock", {"id": clock}, token)
    assert await balances(fork["clock"]["id"]) == {"chf": 0, "eur": 0, "usd": 0}


async def test_item_names_its_institution(world: World, token: str) -> None:
    item = await connect_plaid(world, token, await create(world, token), institution="First Bank")
    found = (await item.call("/item/get"))["item"]
    names = ("item_id", "institution_name", "error", "created_at")
    assert [found[name] for name in names] == [item.id, "First Bank", None, START]
    id = found["institution_id"]
    countries = ["GB", "DE"]
    institution = (await item.call("/institutions/get_by_id", institution_id=id, country_codes=countries))[
        "institution"
    ]
    assert [institution[name] for name in ("institution_id", "name", "country_codes")] == [id, "First Bank", countries]
    required = "the following required fields are missing: country_codes"
    assert (await item.send("/institutions/get_by_id", institution_id=id)).json["error_message"] == required
    unknown = await item.error("/institutions/get_by_id", institution_id=id, country_codes=["XX"])
    assert unknown == (400, "INVALID_REQUEST", "INVALID_FIELD")
    guess = "ins_" + item.id.removeprefix("conn_")
    for wrong in (guess, f"{guess}-{'0' * 32}", "ins_1", ""):
        error = await item.error("/institutions/get_by_id", institution_id=wrong, country_codes=["US"])
        assert error == (400, "INVALID_INPUT", "INVALID_INSTITUTION")


@pytest.mark.parametrize("path", ["/sandbox/item/reset_login", "/transactions/sync"])
async def test_removed_item_is_unknown(world: World, token: str, path: str) -> None:
    clock = await create(world, token)
    item = await connect_plaid(world, token, clock)
    await item.call("/item/get")
    await item.call("/item/remove")
    assert await item.error(path) == INVALID_TOKEN
    assert (await world.result("listTestClockConnections", {"id": clock}, token))["connections"] == []


async def test_secret_ends_with_the_clock(world: World, token: str) -> None:
    deleted, expired = [await connect_plaid(world, token, await create(world, token)) for _ in range(2)]
    for item in (deleted, expired):
        await item.call("/accounts/get")
    clocks = (await world.result("listTestClocks", {}, token))["clocks"]
    await world.result("deleteTestClock", {"id": clocks[1]["id"]}, token)
    assert await deleted.error("/accounts/get") == INVALID_TOKEN
    world.pass_time(days=6)
    await expired.call("/accounts/get")
    world.pass_time(days=1)
    assert await expired.error("/accounts/get") == INVALID_TOKEN


# Transactions


async def test_transaction_has_simulated_dates(world: World, token: str) -> None:
    clock = await create(world, token, transactions=[payment(1, 10, category="Food")])
    item = await connect_plaid(world, token, clock)
    [found] = (await item.call("/transactions/sync"))["added"]
    assert found["transaction_id"].startswith("txn_")
    names = ("date", "authorized_date", "datetime", "iso_currency_code", "name", "category", "original_description")
    assert [found[name] for name in names] == [
        "2027-01-01", "2027-01-01", "2027-01-01T00:00:00Z", "EUR", "Payment 1", ["Food"], None,
    ]  # fmt: skip
    [described] = (await item.call("/transactions/sync", options={"include_original_description": True}))["added"]
    assert described == {**found, "original_description": "Payment 1"}


async def test_pending_payment_is_replaced_by_the_booked_one(world: World, token: str) -> None:
    authorized = {"authorizedAt": day(2), "authorizedAmount": 1, "authorizedName": "HOLD"}
    clock = await create(world, token, transactions=[payment(4, 30, **authorized)], openingBalances={"EUR": 100})
    item = await connect_plaid(world, token, clock)
    await world.advance(token, clock, day(2))
    held = await item.call("/transactions/sync")
    assert rows(held["added"]) == [("0_p", 1, True)]
    assert (held["added"][0]["name"], held["added"][0]["date"]) == ("HOLD", "2027-01-02")
    balances = held["accounts"][0]["balances"]
    assert (balances["current"], balances["available"]) == (100, 99)
    await world.advance(token, clock, day(4))
    booked = await item.call("/transactions/sync", cursor=held["next_cursor"])
    assert rows(booked["added"]) == [("0", 30, False)]
    assert booked["added"][0]["pending_transaction_id"] == held["added"][0]["transaction_id"]
    assert (booked["added"][0]["date"], booked["added"][0]["authorized_date"]) == ("2027-01-04", "2027-01-02")
    account = booked["accounts"][0]
    removed = {"account_id": account["account_id"], "transaction_id": held["added"][0]["transaction_id"]}
    assert booked["removed"] == [removed]
    assert account["balances"]["available"] == 70


@pytest.mark.parametrize(("seen_on", "removed"), [(1, []), (2, ["0_p"])])
async def test_withdrawn_payment_is_removed_if_it_was_seen(
    world: World, token: str, seen_on: int, removed: list[str]
) -> None:
    clock = await create(world, token, transactions=[payment(4, 30, authorizedAt=day(2))])
    item = await connect_plaid(world, token, clock)
    await world.advance(token, clock, day(seen_on))
    cursor = (await item.call("/transactions/sync"))["next_cursor"]
    shown = await world.advance(token, clock, day(3))
    await amend(world, token, clock, cancel=[shown["pendingTransactions"][0]["id"]])
    synced = await item.call("/transactions/sync", cursor=cursor)
    assert [number_of(each["transaction_id"]) for each in synced["removed"]] == removed
    assert synced["added"] == []
    again = await item.call("/transactions/sync", cursor=synced["next_cursor"])
    assert (again["removed"], (await item.call("/transactions/sync"))["removed"]) == ([], [])


async def test_sync_of_an_account_has_no_removed_rows_of_others(world: World, token: str) -> None:
    clock = await create(
        world, token, accounts=ACCOUNTS, transactions=[payment(4, 30, authorizedAt=day(2), account="card")]
    )
    item = await connect_plaid(world, token, clock)
    shown = await world.advance(token, clock, day(2))
    removed = {}
    accounts = [each["account_id"] for each in (await item.call("/accounts/get"))["accounts"]]
    first = [await item.call("/transactions/sync", options={"account_id": account}) for account in accounts]
    await amend(world, token, clock, cancel=[shown["pendingTransactions"][0]["id"]])
    for account, page in zip(accounts, first, strict=True):
        synced = await item.call("/transactions/sync", cursor=page["next_cursor"], options={"account_id": account})
        removed[account.rpartition("_")[2]] = [number_of(each["transaction_id"]) for each in synced["removed"]]
    assert removed.pop("card") == ["0_p"]
    assert set(map(tuple, removed.values())) == {()}


async def test_transfer_is_two_rows_and_all_rows_have_a_category(world: World, token: str) -> None:
    transactions = [payment(1, 1, category="FOOD_AND_DRINK"), payment(1, 2), payment(1, 3, type="INCOME")]
    transfer = {"at": day(1), "name": "Pay card", "from": "main", "to": "card", "amount": 20}
    clock = await create(world, token, accounts=ACCOUNTS, transactions=transactions, transfers=[transfer])
    item = await connect_plaid(world, token, clock)
    added = (await item.call("/transactions/sync"))["added"]
    categories = [each["personal_finance_category"]["primary"] for each in added]
    assert categories == ["FOOD_AND_DRINK", "OTHER", "INCOME", "TRANSFER_OUT", "TRANSFER_IN"]
    assert rows(added[3:]) == [("0_out", 20, False), ("0_in", -20, False)]
    assert [each["account_id"].rpartition("_")[2] for each in added[3:]] == ["main", "card"]
    merchants = [(each["merchant_name"], each["payment_channel"]) for each in added]
    assert merchants == [("Payment 1", "in store")] * 2 + [(None, "other")] * 3
    account = added[4]["account_id"]
    [only] = (await item.call("/transactions/sync", options={"account_id": account}))["added"]
    assert only == added[4]


async def test_now_is_a_cursor_without_history(world: World, token: str) -> None:
    clock = await create(world, token, transactions=[payment(1, 10), payment(2, 20)])
    item = await connect_plaid(world, token, clock)
    first = await item.call("/transactions/sync", cursor="now")
    assert (first["added"], first["has_more"]) == ([], False)
    await world.advance(token, clock, day(2))
    assert rows((await item.call("/transactions/sync", cursor=first["next_cursor"]))["added"]) == [("1", 20, False)]


async def test_change_during_pagination_starts_the_loop_again(world: World, token: str) -> None:
    clock = await create(world, token, transactions=[payment(1, n) for n in range(1, 6)] + [payment(2, 6)])
    item = await connect_plaid(world, token, clock)
    first = await item.call("/transactions/sync", count=2)
    assert first["has_more"]
    # What is still to come isn't shown, so it changes nothing.
    await amend(world, token, clock, add={"transactions": [payment(2, 9)]})
    second = await item.call("/transactions/sync", count=2, cursor=first["next_cursor"])
    assert rows(second["added"]) == [("2", 3, False), ("3", 4, False)]
    await world.advance(token, clock, day(2))
    error = await item.error("/transactions/sync", count=2, cursor=second["next_cursor"])
    assert error == (400, "TRANSACTIONS_ERROR", "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION")
    again = await item.call("/transactions/sync", count=500)
    assert len(again["added"]) == 7


async def test_get_is_newest_first_with_both_dates(world: World, token: str) -> None:
    transactions = [payment(number, number) for number in range(1, 6)]
    transactions.append(payment(9, 9, authorizedAt=day(3)))
    clock = await create(world, token, transactions=transactions)
    item = await connect_plaid(world, token, clock)
    await world.advance(token, clock, day(4))
    dates = {"start_date": "2027-01-02", "end_date": "2027-01-04"}
    found = await item.call("/transactions/get", **dates)
    assert rows(found["transactions"]) == [("3", 4, False), ("5_p", 9, True), ("2", 3, False), ("1", 2, False)]
    page = await item.call("/transactions/get", **dates, options={"offset": 1, "count": 2})
    assert (page["transactions"], page["total_transactions"]) == (found["transactions"][1:3], 4)
    invalid = (400, "INVALID_REQUEST", "INVALID_FIELD")
    assert await item.error("/transactions/get", start_date="2027-01-04", end_date="2027-01-03") == invalid
    assert await item.error("/transactions/get", start_date="4 January", end_date="2027-01-03") == invalid
    assert (await item.error("/transactions/get"))[2] == "MISSING_FIELDS"


async def test_pages_of_get_have_each_row_once(world: World, token: str) -> None:
    clock = await create(world, token, transactions=[payment(1, 1)] * 100)
    for _ in range(10):
        await amend(world, token, clock, add={"transactions": [payment(2, 1)] * 100})
    item = await connect_plaid(world, token, clock)
    await world.advance(token, clock, day(2))
    dates = {"start_date": "2027-01-01", "end_date": "2027-01-02"}
    sizes, found = [], list[str]()
    for offset in range(0, 1500, 300):
        page = await item.call("/transactions/get", **dates, options={"offset": offset, "count": 300})
        assert page["total_transactions"] == 1100
        sizes.append(len(page["transactions"]))
        found += [each["transaction_id"] for each in page["transactions"]]
    assert sizes == [300, 300, 300, 200, 0]
    assert len(set(found)) == 1100


# Cursors


async def test_forged_and_foreign_cursors_are_invalid(world: World, token: str) -> None:
    clock = await create(world, token, transactions=[payment(1, 1), payment(1, 2)])
    item, other = [await connect_plaid(world, token, clock) for _ in range(2)]
    cursor = (await item.call("/transactions/sync", count=1))["next_cursor"]
    account = (await item.call("/accounts/get"))["accounts"][0]["account_id"]
    changed = ("B" if cursor[3] == "A" else "A").join((cursor[:3], cursor[4:]))
    invalid = (400, "INVALID_REQUEST", "INVALID_FIELD")
    for wrong in (changed, cursor[:-3], cursor + "AAAA", f"{cursor[:9]}*{cursor[9:]}", "=" * 257, "x", "ä", "\0"):
        assert await item.error("/transactions/sync", cursor=wrong) == invalid, wrong
    assert await other.error("/transactions/sync", cursor=cursor) == invalid
    assert await item.error("/transactions/sync", cursor=cursor, options={"account_id": account}) == invalid
    assert rows((await item.call("/transactions/sync", cursor=cursor))["added"]) == [("1", 2, False)]


# Faults


@pytest.mark.parametrize(
    ("kind", "path", "error"),
    [
        ("LOGIN_REQUIRED", "/accounts/get", (400, "ITEM_ERROR", "ITEM_LOGIN_REQUIRED")),
        ("INSTITUTION_DOWN", "/transactions/sync", (400, "INSTITUTION_ERROR", "INSTITUTION_DOWN")),
        ("INTERNAL_ERROR", "/transactions/refresh", (500, "API_ERROR", "INTERNAL_SERVER_ERROR")),
        ("RATE_LIMITED", "/accounts/get", (429, "RATE_LIMIT_EXCEEDED", "ACCOUNTS_LIMIT")),
        ("RATE_LIMITED", "/transactions/sync", (429, "RATE_LIMIT_EXCEEDED", "TRANSACTIONS_SYNC_LIMIT")),
    ],
)
async def test_fault_holds_in_simulated_time(
    world: World, token: str, kind: str, path: str, error: tuple[int, str, str]
) -> None:
    clock = await create(world, token)
    faults = [{"kind": kind, "from": day(2), "until": day(3)}, {"kind": "LOGIN_REQUIRED", "from": day(2)}]
    item = await connect_plaid(world, token, clock, faults=faults[: 1 if kind == "LOGIN_REQUIRED" else 2])
    members = {"start_date": "2027-01-01", "end_date": "2027-02-01"}
    await item.call(path, **members)
    await world.advance(token, clock, day(2))
    assert await item.error(path, **members) == error
    found = (await item.call("/item/get"))["item"]["error"]
    assert (found and found["error_code"]) == ("ITEM_LOGIN_REQUIRED" if kind == "LOGIN_REQUIRED" else None)
    await world.advance(token, clock, day(3))
    if kind == "LOGIN_REQUIRED":
        await item.call(path, **members)
    else:
        assert (await item.error(path, **members))[2] == "ITEM_LOGIN_REQUIRED"


# Security


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "INVALID_BODY"),
        (b"\xff", "INVALID_BODY"),
        pytest.param(b"[" * 100_000, "INVALID_BODY", id="nested"),
        pytest.param(b" " * (1024 * 1024 + 1), "INVALID_BODY", id="too large"),
        (b'{"access_token": 7}', "INVALID_FIELD"),
        (b'{"client_id": "a", "secret": "b"}', "MISSING_FIELDS"),
        (b'{"client_id": "a", "secret": "b", "access_token": "\\ud800"}', "INVALID_BODY"),
        (b'{"client_id": "a", "secret": "b", "access_token": "x", "count": 501}', "INVALID_FIELD"),
        (b'{"client_id": "a", "secret": "b", "access_token": "x", "options": null}', "INVALID_FIELD"),
        (b'{"client_id": "a", "secret": "b", "access_token": "x", "options": {"days_requested": 0}}', "INVALID_FIELD"),
    ],
)
async def test_invalid_requests_get_error_objects(world: World, body: bytes, code: str) -> None:
    assert error_of(await send_plaid(world, "/transactions/sync", body)) == (400, "INVALID_REQUEST", code)


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/signal/evaluate"), ("GET", "/accounts/get"), ("POST", "/"), ("POST", "")]
)
async def test_unsupported_endpoint_names_the_supported_ones(world: World, method: str, path: str) -> None:
    response = await world.request(method, f"/plaid{path}", b"{}")
    assert error_of(response) == (400, "INVALID_REQUEST", "NOT_FOUND")
    assert "/transactions/sync" in response.json["error_message"]


async def test_secrets_open_nothing_else(world: World, token: str) -> None:
    clock = await create(world, token)
    item = await connect_plaid(world, token, clock)
    for wrong in (token, item.id, item.access_token[:-1], "", "access-sandbox-x"):
        assert await item._replace(access_token=wrong).error("/accounts/get") == INVALID_TOKEN
    error = await world.error("getTestClock", {"id": clock}, item.access_token)
    assert error["data"]["reason"] == "UNAUTHENTICATED"


async def test_credentials_may_be_headers(world: World, token: str) -> None:
    item = await connect_plaid(world, token, await create(world, token))
    headers = {"PLAID-CLIENT-ID": "id", "PLAID-SECRET": "secret", "Content-Type": "application/json; charset=utf-8"}
    body = json.dumps({"access_token": item.access_token}).encode()
    assert (await world.request("POST", "/plaid/accounts/get", body, headers)).status == 200


async def test_secrets_are_not_logged(world: World, token: str, caplog: pytest.LogCaptureFixture) -> None:
    item = await connect_plaid(world, token, await create(world, token))
    with world.logging_calls():
        await item.call("/accounts/get")
        await item.error("/transactions/sync", cursor="x")
    assert item.access_token not in caplog.text
    assert world.handler.route("/plaid/accounts/get") == "/plaid/accounts/get"
    assert world.handler.route(f"/plaid/{item.access_token}") == "unknown"


@pytest.mark.parametrize("content_type", ["text/plain", "", "application/x-www-form-urlencoded"])
async def test_types_that_pages_of_any_origin_can_send_are_rejected(
    world: World, token: str, content_type: str
) -> None:
    item = await connect_plaid(world, token, await create(world, token))
    body = json.dumps({"client_id": "id", "secret": "secret", "access_token": item.access_token}).encode()
    response = await world.request("POST", "/plaid/item/remove", body, {"Content-Type": content_type})
    assert error_of(response) == (400, "INVALID_REQUEST", "INVALID_HEADERS")
    await item.call("/item/get")


async def test_failures_of_the_server_are_error_objects(
    world: World, token: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    item = await connect_plaid(world, token, await create(world, token))
    internal = (500, "API_ERROR", "INTERNAL_SERVER_ERROR")

    async def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a detail that is nobody's business")

    with monkeypatch.context() as patch:
        patch.setattr(world.store, "find_connection", fail)
        response = await item.send("/accounts/get")
    assert error_of(response) == internal
    assert "detail" not in response.body.decode()
    assert response.json["request_id"] in caplog.text
    world.gate.stop(-1)
    response = await item.send("/accounts/get")
    assert error_of(response) == (503, "API_ERROR", "PLANNED_MAINTENANCE")
    assert response.headers["retry-after"] == "1"
    response = await world.request("GET", "/simplefin/info")
    assert (response.status, response.headers["retry-after"]) == (503, "1")
