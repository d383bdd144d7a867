"""Every response of the bank is valid for Plaid's published OpenAPI document."""

from typing import Any

from tests.rpc.bank_client import connect_plaid, send_plaid
from tests.rpc.plaid_document import check, validator
from tests.rpc.test_plaid import ACCOUNTS, create, day, payment
from tests.support.world import World

SCHEMAS = {
    "/item/get": "ItemGetResponse",
    "/accounts/get": "AccountsGetResponse",
    "/accounts/balance/get": "AccountsGetResponse",
    "/transactions/sync": "TransactionsSyncResponse",
    "/transactions/get": "TransactionsGetResponse",
    "/transactions/refresh": "TransactionsRefreshResponse",
    "/institutions/get_by_id": "InstitutionsGetByIdResponse",
    "/sandbox/item/reset_login": "SandboxItemResetLoginResponse",
    "/item/remove": "ItemRemoveResponse",
}
DATES = {"start_date": "2027-01-01", "end_date": "2027-02-01"}


async def test_responses_are_valid(world: World, token: str) -> None:
    transfer = {"at": day(1), "name": "Pay card", "from": "main", "to": "card", "amount": 20}
    transactions = [payment(1, 1.5, category="Food"), payment(3, 2, authorizedAt=day(1))]
    clock = await create(world, token, accounts=ACCOUNTS, transfers=[transfer], transactions=transactions)
    connected = await world.result("connectTestClock", {"id": clock, "protocol": "PLAID"}, token)
    call = {"client_id": "id", "secret": "secret", "public_token": connected["publicToken"]}
    exchange = await send_plaid(world, "/item/public_token/exchange", call)
    check("ItemPublicTokenExchangeResponse", exchange.json)
    item = await connect_plaid(world, token, clock)
    first = await item.call("/transactions/sync")
    assert {each["pending"] for each in first["added"]} == {True, False}
    check("TransactionsSyncResponse", first)
    await world.advance(token, clock, day(3))
    institution = (await item.call("/item/get"))["item"]["institution_id"]
    members: dict[str, Any] = {**DATES, "institution_id": institution, "country_codes": ["US"]}
    for path, schema in SCHEMAS.items():
        cursor = first["next_cursor"] if path == "/transactions/sync" else None
        response = await item.call(path, **members, cursor=cursor)
        check(schema, response)
        if path == "/transactions/sync":
            assert response["removed"]


async def test_errors_are_valid(world: World, token: str) -> None:
    clock = await create(world, token)
    kinds = ("LOGIN_REQUIRED", "RATE_LIMITED", "INSTITUTION_DOWN", "INTERNAL_ERROR")
    for kind in kinds:
        item = await connect_plaid(world, token, clock, faults=[{"kind": kind, "from": day(1)}])
        check("PlaidError", (await item.send("/transactions/sync")).json)
        check("ItemGetResponse", await item.call("/item/get"))
    for body in (b"", b"{}"):
        check("PlaidError", (await send_plaid(world, "/transactions/sync", body)).json)
    check("PlaidError", (await send_plaid(world, "/auth/get", b"{}")).json)


def test_validator_rejects_wrong_responses() -> None:
    assert not validator("ItemRemoveResponse").is_valid({})
    assert not validator("AccountsGetResponse").is_valid({"accounts": [{}], "item": {}, "request_id": "x"})
