"""Accounts and transfers: given at creation, amended, forked, and part of every view."""

from typing import Any

import pytest

from tests.rpc.builders import MICROSECOND, START, shift, transaction, without_ids
from tests.support.world import World

AT = "2027-02-01T09:00:00Z"
LATER = "2027-03-01T09:00:00Z"
ACCOUNTS: list[dict[str, Any]] = [
    {"key": "main", "name": "Main account", "currency": "EUR", "openingBalance": 1000.5},
    {"key": "card", "name": "Card", "currency": "EUR", "type": "CREDIT_CARD", "openingBalance": -20.0},
    {"key": "usd", "name": "Dollars", "currency": "USD", "type": "CASH"},
]


def transfer(**changes: Any) -> dict[str, Any]:
    return {"at": AT, "name": "Pay the card", "from": "main", "to": "card", "amount": 100} | changes


def expense(**changes: Any) -> dict[str, Any]:
    return transaction(type="EXPENSE", name="Groceries", amount=74.2, **changes)


STORY: dict[str, Any] = {
    "frozenTime": START,
    "accounts": ACCOUNTS,
    "transactions": [transaction(), expense(account="card", category="food", at=LATER)],
    "transfers": [transfer(), transfer(at=LATER, to="usd", amount=50.0, received=55.0)],
}


def balances_of(clock: Any) -> dict[str, float]:
    return {account["key"]: account["balance"] for account in clock["accounts"]}


async def faults_of(world: World, token: str, **changes: Any) -> dict[str, str]:
    found = await world.faults("createTestClock", STORY | changes, token)
    assert (await world.result("listTestClocks", {}, token))["clocks"] == [], "nothing is stored"
    return found


async def test_clock_without_accounts_has_no_members_for_them(world: World, token: str) -> None:
    given: dict[str, Any] = {"frozenTime": START, "transactions": [transaction()]}
    plain, empty = await world.create(token, **given), await world.create(token, **given, accounts=[], transfers=[])
    assert without_ids(empty) == without_ids(plain)
    assert not {"accounts", "transfers", "pendingTransfers"} & plain.keys()
    money = await world.result("getTestClockBalances", {"id": plain["id"]}, token)
    assert money.keys() == {"at", "balances"}
    assert not {"transferredIn", "transferredOut"} & money["balances"][0].keys()
    [event] = (await world.result("listTestClockEvents", {"id": plain["id"], "until": AT}, token))["events"]
    assert "accountBalance" not in event


@pytest.mark.parametrize(
    ("changes", "path", "rule"),
    [
        ({"accounts": [ACCOUNTS[0], ACCOUNTS[0]]}, "accounts[1].key", "unique"),
        ({"accounts": [ACCOUNTS[0]] * 21}, "accounts", "count"),
        ({"transactions": [transaction(account="mian")]}, "transactions[0].account", "account"),
        ({"transactions": [transaction(currency="CHF")]}, "transactions[0].currency", "account"),
        ({"accounts": []}, "transactions[1].account", "account"),
        ({"transfers": [transfer(to="crad")]}, "transfers[0].to", "account"),
        ({"transfers": [transfer(to="main")]}, "transfers[0].to", "different"),
        ({"transfers": [transfer(received=1)]}, "transfers[0].received", "currency"),
        ({"transfers": [transfer(to="usd")]}, "transfers[0].received", "currency"),
        ({"transfers": [transfer(at=shift(START, -MICROSECOND))]}, "transfers[0].at", "range"),
        ({"openingBalances": {}}, "openingBalances", "combination"),
        (
            {"expectations": [{"balance": {"account": "crad", "atLeast": 0}}]},
            "expectations[0].balance.account",
            "account",
        ),
        ({"expectations": [{"balance": {"atLeast": 0}}]}, "expectations[0].balance", "oneOf"),
        (
            {"expectations": [{"balance": {"account": "card", "currency": "EUR", "atLeast": 0}}]},
            "expectations[0].balance",
            "oneOf",
        ),
    ],
)
async def test_invalid_accounts_and_transfers_are_rejected_with_their_path(
    world: World, token: str, changes: Any, path: str, rule: str
) -> None:
    assert (await faults_of(world, token, **changes)).get(path) == rule


@pytest.mark.parametrize("method", ["getTestClockBalances", "listTestClockEvents", "checkTestClock", "forkTestClock"])
async def test_accounts_exclude_opening_balances_of_a_call(world: World, token: str, method: str) -> None:
    clock = await world.create(token, **STORY)
    more = {"expectations": [{"posted": {"name": "x", "by": AT}}]} if method == "checkTestClock" else {}
    params = {"id": clock["id"], "openingBalances": {"EUR": 1}, **more}
    assert await world.faults(method, params, token) == {"openingBalances": "combination"}


async def test_transfer_is_not_posted_and_a_violation_names_its_account(world: World, token: str) -> None:
    clock = await world.create(token, **STORY)
    expectations = [{"balance": {"account": "card", "atMost": 0}}, {"posted": {"name": "Pay the card", "by": LATER}}]
    params = {"id": clock["id"], "expectations": expectations}
    results = (await world.result("checkTestClock", params, token))["results"]
    assert [result["ok"] for result in results] == [False, False]
    assert results[0]["violation"]["message"] == (
        "Account card above 0.00 EUR from 1 Feb 2027 on, because of Pay the card (+100.00): -20.00 -> 80.00. "
        "Worst: 80.00 on 1 Feb."
    )


async def test_transfers_are_added_and_cancelled(world: World, token: str) -> None:
    clock = await world.create(token, **STORY)
    first, second = (item["id"] for item in clock["pendingTransfers"])
    add = {"transactions": [expense(at=AT)], "transfers": [transfer(amount=1)]}
    amended = (await world.result("amendTestClock", {"id": clock["id"], "add": add, "cancel": [second]}, token))[
        "clock"
    ]
    assert [item["id"] for item in amended["pendingTransfers"]] == [first, f"{first[:-1]}2"]
    assert [item["account"] for item in amended["pendingTransactions"]] == ["main", "main", "card"]
    moved = await world.advance(token, clock["id"], LATER)
    assert balances_of(moved) == {"main": 3625.3, "card": 6.8, "usd": 0}
    late = {"id": clock["id"], "cancel": [first]}
    error = await world.error("amendTestClock", late, token)
    assert error["data"] == {"reason": "ITEM_NOT_PENDING", "itemIds": [first]}
    wrong = {
        "transactions": [transaction(at=LATER, account="x"), transaction(at=LATER, currency="CHF")],
        "transfers": [transfer(at=AT), transfer(at=LATER, to="x")],
    }
    assert await world.faults("amendTestClock", {"id": clock["id"], "add": wrong}, token) == {
        "add.transactions[0].account": "account",
        "add.transactions[1].currency": "account",
        "add.transfers[0].at": "range",
        "add.transfers[1].to": "account",
    }


# Authorized card payments


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({"authorizedAt": START}, {}),
        ({"authorizedAt": AT}, {}),
        ({"authorizedAt": shift(START, -MICROSECOND)}, {"authorizedAt": "range"}),
        ({"authorizedAt": shift(AT, MICROSECOND)}, {"authorizedAt": "range"}),
        ({"authorizedAmount": 1}, {"authorizedAmount": "authorizedAt"}),
        ({"authorizedName": "x"}, {"authorizedName": "authorizedAt"}),
    ],
)
async def test_authorization_is_between_the_start_and_the_item(
    world: World, token: str, changes: Any, faults: dict[str, str]
) -> None:
    params = {"frozenTime": START, "transactions": [expense(at=AT, **changes)]}
    expected = {f"transactions[0].{name}": rule for name, rule in faults.items()}
    if expected:
        assert await world.faults("createTestClock", params, token) == expected
    else:
        assert "clock" in await world.result("createTestClock", params, token)


async def test_amendment_is_not_authorized_in_the_past(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime=START)
    await world.advance(token, clock["id"], AT)
    add = {"transactions": [expense(at=LATER, authorizedAt=shift(AT, -MICROSECOND))]}
    faults = await world.faults("amendTestClock", {"id": clock["id"], "add": add}, token)
    assert faults == {"add.transactions[0].authorizedAt": "range"}
    add = {"transactions": [expense(at=LATER, authorizedAt=AT)]}
    assert "clock" in await world.result("amendTestClock", {"id": clock["id"], "add": add}, token)
