"""createTestClockFromScenario, and scenarioFromStatement, which makes scenarios."""

from base64 import b64encode
from typing import Any

import pytest

from tests.support.world import World
from tickover.api.limits import MAX_BANK_FILE_UPLOAD, MAX_SCENARIO_BYTES
from tickover.scenarios import toml_files

METHOD = "createTestClockFromScenario"
START = "2027-01-01T00:00:00Z"
HOME = """\
title = "Home"
currency = "EUR"
length = "1 month"
opening = {EUR = 1200.50}

[[transactions]]
name = "Rent"
amount = 840.50
type = "expense"
every = "month on the 3rd"

[[expect]]
never_below = 300
"""


def every_day(transactions: int, length: str = "400 days") -> str:
    rows = "".join(
        f'[[transactions]]\nname = "T{number}"\namount = 1\ntype = "income"\nevery = "day"\n'
        for number in range(transactions)
    )
    return f'title = "Many"\ncurrency = "EUR"\nlength = "{length}"\n{rows}'


async def create(world: World, token: str, **params: Any) -> Any:
    return (await world.result(METHOD, {"start": START, **params}, token))["clock"]


async def test_clock_keeps_the_whole_scenario(world: World, token: str) -> None:
    clock = await create(world, token, text=HOME)
    assert (clock["name"], clock["frozenTime"]) == ("Home", START)
    assert clock["openingBalances"] == {"EUR": 1200.5}
    assert clock["expectations"] == [{"balance": {"currency": "EUR", "atLeast": 300}}]
    assert [item["name"] for item in clock["pendingTransactions"]] == ["Rent"]
    assert clock["transactions"] == [], "the opening balance is no transaction"
    found = await world.result("checkTestClock", {"id": clock["id"]}, token)
    assert (found["ok"], len(found["results"])) == (True, 1)


async def test_clock_keeps_the_bank_of_the_scenario(world: World, token: str) -> None:
    bank = '[bank]\nquirks = ["tells-late", "ids"]\nconsentDays = 90\ncallsPerDay = 4\n'
    bank += '[[bank.faults]]\nkind = "LOGIN_REQUIRED"\nfrom = "+10 days"\nuntil = 2027-01-12T09:00:00Z\n'
    clock = await create(world, token, text=f"{HOME}{bank}")
    assert clock["bankDefaults"] == {
        "quirks": ["TELLS_LATE", "NEW_IDS", "NEW_IDS_ON_RELINK"],
        "consentDays": 90,
        "callsPerDay": 4,
        "faults": [{"kind": "LOGIN_REQUIRED", "from": "2027-01-11T00:00:00Z", "until": "2027-01-12T09:00:00Z"}],
    }
    assert "bankDefaults" not in await create(world, token, text=HOME)
    error = await world.error(
        METHOD, {"text": f"{HOME}[bank]\nquirks = ['SAME_ID', 'UNLINKED']", "start": START}, token
    )
    [fault] = error["data"]["errors"]
    assert fault["line"] == HOME.count("\n") + 2
    assert "UNLINKED must not be there together with SAME_ID" in fault["message"]


async def test_included_scenario_has_its_title_or_another_name(world: World, token: str) -> None:
    assert (await create(world, token, scenario="student"))["name"] == toml_files.load("student").title
    clock = await create(world, token, scenario="student", name="Mine", labels={"ci": "1"})
    assert (clock["name"], clock["labels"]) == ("Mine", {"ci": "1"})


async def test_clock_can_have_as_many_items_as_a_grown_one(world: World, token: str) -> None:
    clock = await create(world, token, text=every_day(4, "500 days"))
    assert len(clock["pendingTransactions"]) + len(clock["transactions"]) == 2_000
    [fault] = (await world.error(METHOD, {"text": every_day(5, "401 days")}, token))["data"]["errors"]
    assert (fault["path"], fault["rule"]) == ("text", "scenario")
    assert "2,000" in fault["message"]


ACCOUNTS = "".join(f'[[accounts]]\nkey = "{key}"\nname = "{key}"\n' for key in ("main", "spare"))
TRANSFER = '[[transfers]]\nname = "Save"\namount = 1\nfrom_account = "main"\nto_account = "spare"\nevery = "day"\n'


async def test_clock_keeps_accounts_and_transfers(world: World, token: str) -> None:
    text = (
        f'currency = "EUR"\nlength = "399 days"\n{ACCOUNTS}{TRANSFER}[[expect]]\nnever_below = -400\naccount = "main"\n'
    )
    clock = await create(world, token, text=text)
    assert [account["key"] for account in clock["accounts"]] == ["main", "spare"]
    assert len(clock["transfers"]) + len(clock["pendingTransfers"]) == 399
    assert (await world.result("checkTestClock", {"id": clock["id"]}, token))["ok"]


async def test_transfers_count_towards_the_items_of_a_clock(world: World, token: str) -> None:
    contributions = '[[goals.contributions]]\namount = 1\nevery = "day"\ntimes = 500\n'
    goal = f'[[goals]]\nname = "Trip"\ntarget = 1\n{contributions}'
    text = f'currency = "EUR"\nlength = "1000 days"\n{ACCOUNTS}{TRANSFER}{goal * 8}'
    clock = await create(world, token, text=text)
    assert len(clock["pendingTransfers"]) + len(clock["transfers"]) == 1_000
    faults = (await world.error(METHOD, {"text": text + goal.replace("500", "1")}, token))["data"]["errors"]
    problem = "5,001 transactions, transfers and contributions exceed the limit of 5,000 per clock"
    message = f"{problem}; reduce length, or remove some"
    assert [(fault["path"], fault["message"]) for fault in faults] == [("text", message)]


async def test_clock_has_at_most_a_hundred_currencies(world: World, token: str) -> None:
    codes = [f"A{chr(65 + number // 26)}{chr(65 + number % 26)}" for number in range(101)]
    row = '[[transactions]]\nname = "T"\namount = 1\ntype = "income"\nat = "+1 day"\ncurrency = "{}"\n'
    assert await create(world, token, text="".join(map(row.format, codes[:100])))
    assert await world.faults(METHOD, {"text": "".join(map(row.format, codes))}, token) == {"text": "scenario"}


@pytest.mark.parametrize(
    ("params", "path", "rule"),
    [
        ({}, "scenario", "oneOf"),
        ({"text": HOME, "scenario": toml_files.names()[0]}, "scenario", "oneOf"),
        ({"scenario": "unheard-of"}, "scenario", "existing"),
        ({"text": "é" * (MAX_SCENARIO_BYTES // 2) + "x"}, "text", "maxLength"),
        ({"text": HOME, "start": "2000-01-01T00:00:00Z"}, "start", "range"),
    ],
)
async def test_invalid_parameters_are_rejected(world: World, token: str, params: Any, path: str, rule: str) -> None:
    assert await world.faults(METHOD, params, token) == {path: rule}
    assert (await world.result("listTestClocks", {}, token))["clocks"] == []


# Bank files


CSV = b"Date;Betrag;Name\n03.01.2027;-840,50;Miete\n25.01.2027;2350,00;Gehalt\n"


async def reasons(world: World, token: str, content: bytes | str, **params: Any) -> list[str]:
    encoded = content if isinstance(content, str) else b64encode(content).decode()
    error = await world.error("scenarioFromStatement", {"content": encoded, **params}, token)
    return [fault["message"] for fault in error["data"]["errors"]]


async def test_bank_file_becomes_a_scenario_that_creates_a_clock(world: World, token: str) -> None:
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
        (b"x" * MAX_BANK_FILE_UPLOAD, "bank.csv"),
        (b"x" * (MAX_BANK_FILE_UPLOAD + 1), "must have at most 524,288 bytes"),
        (b"x" * (MAX_BANK_FILE_UPLOAD + 3), "character"),
    ],
)
async def test_unreadable_file_is_explained(world: World, token: str, content: bytes | str, message: str) -> None:
    [found] = await reasons(world, token, content, fileName="bank.csv")
    assert message in found


@pytest.mark.parametrize(
    ("row", "parameter", "message"),
    [
        ("2027-01-03,1,Rent", "currency", "is required: bank.csv, line 2: the currency is missing"),
        ("03/04/2027,1,Rent", "dayFirst", "is required: bank.csv: the dates are ambiguous, such as '03/04/2027'"),
    ],
)
async def test_fault_names_the_parameter_that_a_file_needs(
    world: World, token: str, row: str, parameter: str, message: str
) -> None:
    content = b64encode(f"Date,Amount,Name\n{row}\n".encode()).decode()
    error = await world.error("scenarioFromStatement", {"content": content, "fileName": "bank.csv"}, token)
    assert error["data"]["errors"] == [{"path": parameter, "rule": "required", "message": message}]


async def test_too_long_scenario_is_rejected(world: World, token: str) -> None:
    rows = "".join(f"2027-01-03,{number},EUR,Payment {number}\n" for number in range(1, 10_000))
    [found] = await reasons(world, token, f"Date,Amount,Currency,Name\n{rows}".encode())
    assert f"{MAX_SCENARIO_BYTES:,}" in found
