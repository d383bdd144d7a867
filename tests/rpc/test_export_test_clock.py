"""exportTestClock: the same files as those of the client, its errors and its limits."""

import json
from typing import Any

import pytest
from msgspec import Raw
from msgspec import json as msgspec_json

from tests.rpc.builders import transaction
from tests.support.world import World
from tickover.api.clocks import OneClock
from tickover.api.limits import MAX_CATEGORY, MAX_CLOCK_TRANSACTIONS, MAX_NAME, MAX_OPENING_BALANCES
from tickover.scenarios.bank_files import FORMATS, export
from tickover.server.isolated_calls import MAX_EXPORT, ExportRequest

FROZEN_TIME = "2027-01-01T00:00:00Z"
LATER = "2027-02-01T09:00:00Z"


async def create(world: World, token: str) -> str:
    """Create a clock with one posted and two pending transactions, in two currencies."""
    transactions = [
        transaction(at=FROZEN_TIME, name="=1+1", amount=0.1),
        transaction(at=LATER, name="Rent <home>", amount=840.5, type="EXPENSE", category="home"),
        transaction(at=LATER, name='"Tip"', amount=3, currency="USD"),
    ]
    id: str = (await world.create(token, frozenTime=FROZEN_TIME, transactions=transactions))["id"]
    return id


@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("format", FORMATS)
async def test_file_is_the_same_as_that_of_the_client(world: World, token: str, format: str, pending: bool) -> None:
    id = await create(world, token)
    opening = {"EUR": -200.25, "GBP": 7}
    params = {"id": id, "format": format, "pending": pending, "openingBalances": opening}
    result = await world.result("exportTestClock", params, token)
    response = await world.call("getTestClock", {"id": id}, token)
    clock = msgspec_json.decode(json.dumps(response.json["result"]), type=OneClock).clock
    assert result["text"] == export(clock, format, opening=opening, pending=pending)
    assert ("840.5" in result["text"]) is pending


async def test_file_names_and_media_types(world: World, token: str) -> None:
    id = await create(world, token)
    results = [await world.result("exportTestClock", {"id": id, "format": format}, token) for format in FORMATS]
    assert [(result["fileName"].removeprefix(f"{id}."), result["mediaType"]) for result in results] == [
        ("csv", "text/csv"),
        ("json", "application/json"),
        ("journal", "text/plain"),
        ("beancount", "text/plain"),
        ("ofx", "application/x-ofx"),
        ("xml", "application/xml"),
    ]


async def test_unknown_account_is_rejected(world: World, token: str) -> None:
    id = await create(world, token)
    assert await world.faults("exportTestClock", {"id": id, "format": "csv", "account": "x"}, token) == {
        "account": "account"
    }


@pytest.mark.parametrize(
    ("format", "amounts", "message"),
    [
        ("ofx", [], "the clock has no transactions, and this format needs one; use csv"),
        ("camt053", [0.000001], "camt.053 allows 5 decimals, and 0.000001 has more; use another format"),
        ("hledger", [5e-324], "hledger allows 255 decimals, and an amount has more; use another format"),
        ("camt053", [5e-324], f"camt.053 allows 5 decimals, and 0.{'0' * 28}… has more; use another format"),
    ],
)
async def test_format_that_cannot_express_the_clock_is_invalid(
    world: World, token: str, format: str, amounts: list[float], message: str
) -> None:
    items = [transaction(at=FROZEN_TIME, amount=amount) for amount in amounts]
    id = (await world.create(token, frozenTime=FROZEN_TIME, transactions=items))["id"]
    error = await world.error("exportTestClock", {"id": id, "format": format}, token)
    assert error["data"]["errors"] == [{"path": "format", "rule": "export", "message": message, "got": format}]


@pytest.mark.parametrize(
    ("character", "amount"),
    [("&", 999_999_999.12345), ('"', 999_999_999.12345), ("😀", 5e-324)],
)
@pytest.mark.parametrize("format", FORMATS)
def test_no_file_exceeds_its_maximum_size(format: str, amount: float, character: str) -> None:
    """Every transaction has its own currency, so each has a register. The clock has a twentieth of all items."""
    share = 20
    clock = _largest_clock(character, amount, MAX_CLOCK_TRANSACTIONS // share)
    opening = {f"Z{_suffix(number)}": -999_999_999_999.0001 for number in range(MAX_OPENING_BALANCES // share)}
    result = ExportRequest(Raw(json.dumps(clock).encode()), format, True, opening).run()
    if format in ("camt053", "hledger") and amount < 1:
        assert "decimals" in result.errors[0][0]
    else:
        assert isinstance(result.result, Raw)
        assert len(bytes(result.result)) <= MAX_EXPORT / share


def _largest_clock(character: str, amount: float, count: int) -> dict[str, Any]:
    item = {
        "at": "2027-12-31T23:59:59.123456Z",
        "name": character * MAX_NAME,
        "category": character * MAX_CATEGORY,
        "amount": amount,
        "type": "EXPENSE",
        "source": "SIMULATED_TEST_CLOCK",
    }
    items = [{"id": f"txn_{'0' * 32}_{1000 + number}", "currency": f"A{_suffix(number)}"} for number in range(count)]
    instants = dict.fromkeys(["frozenTime", "maxTime", "expiresAt"], "2027-01-01T00:00:00.123456Z")
    id = "clock_00000000-0000-7000-8000-000000000000"
    pending = [{**item, **identity} for identity in items]
    return {"id": id, "status": "READY", **instants, "transactions": [], "pendingTransactions": pending, "goals": []}


def _suffix(number: int) -> str:
    return f"{chr(65 + number // 26)}{chr(65 + number % 26)}"
