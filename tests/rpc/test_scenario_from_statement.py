"""scenarioFromStatement: its result, and files that can't be read."""

from base64 import b64encode
from typing import Any

import pytest

from tests.support.world import World
from tickover.api.limits import MAX_SCENARIO_BYTES, MAX_STATEMENT_UPLOAD

CSV = b"Date;Betrag;Name\n03.01.2027;-840,50;Miete\n25.01.2027;2350,00;Gehalt\n"


async def reasons(world: World, token: str, content: bytes | str, **params: Any) -> list[str]:
    encoded = content if isinstance(content, str) else b64encode(content).decode()
    error = await world.error("scenarioFromStatement", {"content": encoded, **params}, token)
    return [fault["message"] for fault in error["data"]["errors"]]


async def test_statement_becomes_a_scenario_that_creates_a_clock(world: World, token: str) -> None:
    params = {"content": b64encode(CSV).decode(), "fileName": "giro.csv", "currency": "EUR"}
    text = (await world.result("scenarioFromStatement", params, token))["text"]
    clock = (await world.result("createTestClockFromScenario", {"text": text}, token))["clock"]
    items = [*clock["transactions"], *clock["pendingTransactions"]]
    assert clock["name"] == "giro"
    assert [(item["name"], item["amount"], item["type"], item["currency"]) for item in items] == [
        ("Miete", 840.5, "EXPENSE", "EUR"),
        ("Gehalt", 2350, "INCOME", "EUR"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("not Base64!", "must be Base64"),
        (b"\0\1\2", "binary"),
        (b"Date,Amount,Name\n", "no payments"),
        (b"Date,Amount,Name\n2027-01-03,1,Rent\n", "bank.csv, line 2: the currency is missing; pass currency"),
        (b"Date,Amount,Name\n03/04/2027,1,Rent\n", "pass dayFirst"),
        (b"x" * MAX_STATEMENT_UPLOAD, "bank.csv"),
        (b"x" * (MAX_STATEMENT_UPLOAD + 1), "must have at most 524,288 bytes"),
        (b"x" * (MAX_STATEMENT_UPLOAD + 3), "character"),
    ],
)
async def test_unreadable_file_is_explained(world: World, token: str, content: bytes | str, message: str) -> None:
    [found] = await reasons(world, token, content, fileName="bank.csv")
    assert message in found


async def test_too_long_scenario_is_rejected(world: World, token: str) -> None:
    rows = "".join(f"2027-01-03,{number},EUR,Payment {number}\n" for number in range(1, 10_000))
    [found] = await reasons(world, token, f"Date,Amount,Currency,Name\n{rows}".encode())
    assert f"{MAX_SCENARIO_BYTES:,}" in found
