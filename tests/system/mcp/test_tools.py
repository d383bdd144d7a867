"""The tools and resources of `tickover mcp`, called by the client of the official SDK.

Tests import the SDK, because every worker imports this module, and the import takes a second.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.program import Program
from tickover.cli.cli_run import CliRun
from tickover.scenarios import load, names

if TYPE_CHECKING:
    from mcp import Client
    from mcp.server import MCPServer

START = "2027-01-01T00:00:00Z"
RENT = {"at": "2027-01-03T08:00:00Z", "name": "Rent", "amount": 1150.5, "currency": "EUR", "type": "EXPENSE"}
SALARY = {"at": "2027-01-25T08:00:00Z", "name": "Salary", "amount": 2800, "currency": "EUR", "type": "INCOME"}
NEVER_NEGATIVE = [{"balance": {"currency": "EUR", "atLeast": 0}}]


@pytest.fixture(scope="session")
def token(program: Program) -> str:
    return program.sign_in("agent@example.test")


@pytest.fixture(scope="session")
def built_server() -> "MCPServer":
    from tickover.cli.mcp.mcp_server import build_server

    return build_server(CliRun())


@pytest.fixture
def server(
    built_server: "MCPServer", program: Program, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> "MCPServer":
    """The server, which reads its environment for each request."""
    monkeypatch.setenv("TICKOVER_URL", program.url)
    monkeypatch.setenv("TICKOVER_TOKEN", token)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return built_server


def connect(server: "MCPServer") -> "Client":
    from mcp import Client

    return Client(server)


async def call(server: "MCPServer", tool: str, /, **arguments: Any) -> Any:
    async with connect(server) as client:
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def error_of(server: "MCPServer", tool: str, /, **arguments: Any) -> Any:
    """Return the error as the model reads it."""
    async with connect(server) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    [content] = result.content
    assert content.type == "text"
    return json.loads(content.text)


async def create(server: "MCPServer", **arguments: Any) -> str:
    clock = await call(server, "create_clock", **{"start": START, "transactions": [RENT, SALARY], **arguments})
    return str(clock["id"])


# Tools


async def test_clock_from_items_is_advanced_to_events(server: "MCPServer") -> None:
    id = await create(server, goals=[{"name": "Trip", "targetAmount": 1000}], name="January", labels={"by": "agent"})
    shown = await call(server, "show_clock", id=id)
    assert (shown["frozenTime"], shown["name"], shown["pendingTransactions"]) == (START, "January", 2)
    assert [item["name"] for item in shown["nextEvents"]] == ["Rent", "Salary"]
    moved = await call(server, "advance_clock", id=id)
    assert (moved["frozenTime"], [event["balance"] for event in moved["events"]]) == (RENT["at"], [-1150.5])
    moved = await call(server, "advance_clock", id=id, by="1mo")
    assert (moved["frozenTime"], moved["postedTransactions"]) == ("2027-02-03T08:00:00Z", 2)
    # Not what happened before.
    assert [event["transaction"]["name"] for event in moved["events"]] == ["Salary"]


async def test_transfers_are_counted_and_shown_apart_from_transactions(server: "MCPServer") -> None:
    accounts = [{"key": key, "name": key, "type": "CHECKING", "currency": "EUR"} for key in ("checking", "savings")]
    saved = {"name": "Save", "amount": 50, "from": "checking", "to": "savings"}
    transfers = [{**saved, "at": at} for at in ("2027-01-02T08:00:00Z", "2027-01-04T08:00:00Z")]
    id = await create(server, accounts=accounts, transfers=transfers)
    moved = await call(server, "advance_clock", id=id)
    assert (moved["frozenTime"], [event["type"] for event in moved["events"]]) == (
        transfers[0]["at"],
        ["transfer.posted"],
    )
    counts = {name: moved[name] for name in moved if name.startswith(("posted", "pending"))}
    assert counts == {
        "postedTransactions": 0,
        "pendingTransactions": 2,
        "postedTransfers": 1,
        "pendingTransfers": 1,
    }
    assert [item["name"] for item in moved["nextEvents"]] == ["Rent", "Save", "Salary"]


async def test_scenario_starts_at_the_given_time(server: "MCPServer") -> None:
    listed = await call(server, "list_scenarios")
    assert [one["name"] for one in listed["scenarios"]] == names()
    clock = await call(server, "create_clock", scenario="salary-and-rent", start="2027-01-01")
    assert clock["frozenTime"] == START
    assert clock["pendingTransactions"] + clock["postedTransactions"] > 50


async def test_own_scenario_is_created_and_checked(server: "MCPServer") -> None:
    text = """
        start = 2027-01-01
        currency = "EUR"
        transactions = [{name = "Rent", amount = 5, type = "expense", at = "+2 days"}]
        expect = [{never_below = 0, from = "+1 day"}]
    """
    clock = await call(server, "create_clock", scenario_text=text, name="Own")
    assert (clock["frozenTime"], clock["name"], clock["pendingTransactions"]) == (START, "Own", 1)
    check = await call(server, "check_clock", id=clock["id"], expectations=clock["expectations"])
    assert check["results"][0]["violation"]["at"] == "2027-01-03T08:00:00Z"
    error = await error_of(server, "create_clock", scenario_text='transactions = [{name = "Rent"}]')
    assert (error["reason"], error["errors"][0]["path"]) == ("INVALID_PARAMS", "text")
    assert "line 1" in error["errors"][0]["message"]


async def test_views_never_move_the_clock(server: "MCPServer") -> None:
    id = await create(server)
    assert (await call(server, "show_clock", id=id, at="2027-02-01"))["postedTransactions"] == 2
    balances = await call(server, "get_balances", id=id, at="2027-02-01", opening_balances={"EUR": 100})
    assert balances["balances"][0]["lowest"] == {"at": RENT["at"], "balance": -1050.5}
    events = await call(server, "list_events", id=id, until="2027-02-01")
    assert [event["pending"] for event in events["events"]] == [True, True]
    check = await call(server, "check_clock", id=id, expectations=NEVER_NEGATIVE)
    assert check["results"][0]["violation"]["at"] == RENT["at"]
    books = [{"at": RENT["at"], "amount": -1150.5}]
    assert (await call(server, "reconcile_clock", id=id, transactions=books, at="2027-01-04"))["ok"]
    result = await call(server, "reconcile_clock", id=id, balance=3)
    assert (result["balance"], result["firstDivergence"]["kind"]) == ({"expected": 0, "observed": 3}, "balance")
    error = await error_of(server, "reconcile_clock", id=id, transactions=books, currency="USD")
    assert [fault["path"] for fault in error["errors"]] == ["currency"]
    assert (await call(server, "show_clock", id=id))["frozenTime"] == START


async def test_amendment_adds_and_cancels_items(server: "MCPServer") -> None:
    id = await create(server, goals=[{"name": "Trip", "targetAmount": 1000}])
    goal = (await call(server, "show_clock", id=id))["goals"][0]["id"]
    rent = (await call(server, "list_events", id=id, until=RENT["at"]))["events"][0]["transaction"]["id"]
    coffee = {**RENT, "at": "2027-01-02T08:00:00Z", "name": "Coffee", "amount": 3.5}
    saved = {"goalId": goal, "at": "2027-01-26T08:00:00Z", "amount": 100}
    await call(server, "amend_clock", id=id, transactions=[coffee], contributions=[saved], cancel=[rent])
    moved = await call(server, "advance_clock", id=id, by="1mo")
    names = [event["transaction"]["name"] for event in moved["events"] if "transaction" in event]
    assert (names, moved["goals"][0]["currentAmount"]) == (["Coffee", "Salary"], 100)
    posted = moved["events"][0]["transaction"]["id"]
    error = await error_of(server, "amend_clock", id=id, cancel=[posted])
    assert (error["reason"], "fork_clock" in error["hint"]) == ("ITEM_NOT_PENDING", True)


@pytest.mark.parametrize(("limit", "is_truncated"), [(1, True), (2, False)])
async def test_lists_say_whether_there_is_more(
    server: "MCPServer", monkeypatch: pytest.MonkeyPatch, limit: int, is_truncated: bool
) -> None:
    for name in ("MAX_EVENTS", "_MAX_CLOCKS"):
        monkeypatch.setattr(f"tickover.cli.mcp.mcp_tools.{name}", limit)
    labels = {"test": f"lists of {limit}"}
    ids = [await create(server, labels=labels) for _ in range(2)]
    clocks = await call(server, "list_clocks", labels=labels)
    assert [clock["id"] for clock in clocks["clocks"]] == ids[::-1][:limit]
    events = await call(server, "list_events", id=ids[0], until="2027-02-01")
    assert len(events["events"]) == min(limit, 2)
    assert ("truncated" in clocks, "truncated" in events) == (is_truncated, is_truncated)


# Errors


async def test_rejection_reaches_the_model_with_reason_path_and_hint(server: "MCPServer") -> None:
    id = await create(server)
    expectations = [{"balance": {"currency": "USD", "atLeast": 0}}]
    error = await error_of(server, "check_clock", id=id, expectations=expectations)
    assert (error["reason"], error["errors"]) == (
        "INVALID_PARAMS",
        [{"path": "expectations[0].balance.currency", "message": "must be a currency of this clock (EUR)"}],
    )
    misspelled = {"nam" if name == "name" else name: value for name, value in RENT.items()}
    error = await error_of(server, "amend_clock", id=id, transactions=[misspelled])
    assert [fault["path"] for fault in error["errors"]] == ["transactions[0].nam", "transactions[0].name"]
    error = await error_of(server, "advance_clock", id=id, to="2026-12-31")
    assert error["reason"] == "TIME_BEFORE_CURRENT"
    assert "fork_clock" in error["hint"]
    error = await error_of(server, "show_clock", id="clock_1")
    assert (error["reason"], "list_clocks" in error["hint"]) == ("CLOCK_NOT_FOUND", True)


async def test_wrong_argument_is_explained(server: "MCPServer", subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("create_clock", {}, "start"),
        ("create_clock", {"scenario": "trip", "goals": [{"name": "x", "targetAmount": 1}]}, "only one"),
        ("create_clock", {"start": "tomorrow"}, "tomorrow"),
    ]
    for tool, arguments, part in cases:
        with subtests.test(f"{tool} {arguments}"):
            error = await error_of(server, tool, **arguments)
            assert error["reason"] == "INVALID_ARGUMENT"
            assert part in error["message"]


@pytest.mark.parametrize(
    ("tool", "arguments", "errors", "hint"),
    [
        ("list_scenarios", {"x": 1}, {"x": "is unknown"}, "Arguments of list_scenarios: none."),
        (
            "create_clock",
            {"start": START, "transactions": [5], "goals": 5},
            {"transactions[0]": "must be a valid dictionary", "goals": "must be a valid list"},
            (
                "Arguments of create_clock: scenario, scenario_text, start, transactions, goals, accounts, transfers, "
                "opening_balances, expectations, name, labels."
            ),
        ),
    ],
)
async def test_arguments_that_do_not_fit_are_explained(
    server: "MCPServer", tool: str, arguments: Any, errors: Any, hint: str
) -> None:
    error = await error_of(server, tool, **arguments)
    assert {one["path"]: one["message"] for one in error["errors"]} == errors
    assert (error["reason"], error["hint"]) == ("INVALID_ARGUMENT", hint)
    assert error["message"] == f"Invalid arguments: {', '.join(errors)}."


async def test_token_never_reaches_the_model(
    server: "MCPServer", token: str, monkeypatch: pytest.MonkeyPatch, program: Program
) -> None:
    monkeypatch.setenv("TICKOVER_TOKEN", f"{token}x")
    error = await error_of(server, "list_clocks")
    assert error["reason"] == "UNAUTHENTICATED"
    assert token not in json.dumps(error)
    monkeypatch.delenv("TICKOVER_TOKEN")
    error = await error_of(server, "list_clocks")
    # The terminal of the user doesn't have the agent's TICKOVER_URL.
    hint = f"Ask the user to run: tickover login EMAIL --url {program.url}"
    assert (error["reason"], error["hint"]) == ("NOT_SIGNED_IN", hint)
    monkeypatch.setenv("TICKOVER_TOKEN", program.sign_in("second-agent@example.test"))
    assert await call(server, "list_clocks") == {"clocks": []}


async def test_app_is_connected_to_a_clock(server: "MCPServer", program: Program) -> None:
    id = await create(server)
    faults = [{"kind": "LOGIN_REQUIRED", "from": RENT["at"], "until": SALARY["at"]}]
    connected = await call(server, "connect_clock", id=id, protocol="PLAID", institution="First Bank", faults=faults)
    assert connected["url"] == f"{program.url}/plaid"
    assert (connected["connection"]["institution"], connected["connection"]["faults"]) == ("First Bank", faults)
    assert program.exchange_public_token(connected["publicToken"])["item_id"] == connected["connection"]["id"]


# Descriptions


async def test_resources_are_the_scenarios(server: "MCPServer") -> None:
    async with connect(server) as client:
        resources = (await client.list_resources()).resources
        uris = [str(resource.uri) for resource in resources]
        [content] = (await client.read_resource("tickover://scenarios/trip")).contents
        # A model reads the guide without asking for it.
        assert "Time only moves forward" in (client.instructions or "")
    assert uris == [f"tickover://scenarios/{one}" for one in names()]
    described = {resource.name: resource.description for resource in resources}
    assert {name: described[name] for name in names()} == {name: load(name).about for name in names()}
    assert "[[" in getattr(content, "text", "")
