"""Tests of `tickover clock create`, `show`, `advance` and `fork`."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.program import Program
from tests.system.shells import Shell

YEAR = datetime.now(UTC).year + 1
PARAMS = {
    "frozenTime": f"{YEAR}-01-01T00:00:00Z",
    "transactions": [
        {"at": f"{YEAR}-01-03T08:00:00Z", "name": "Rent", "amount": 1150, "currency": "EUR", "type": "EXPENSE"},
        {"at": f"{YEAR}-01-25T08:00:00Z", "name": "Salary", "amount": 2800.1, "currency": "EUR", "type": "INCOME"},
    ],
    "goals": [
        {
            "name": "Trip",
            "targetAmount": 3000,
            "initialAmount": 500,
            "contributions": [{"at": f"{YEAR}-01-26T08:00:00Z", "amount": 310}],
        }
    ],
}


@pytest.fixture
def clock(shell: Shell) -> str:
    """A clock with two transactions and a goal. It is the default of later commands."""
    result = shell("clock", "create", "--params", "-", "--json", input=json.dumps(PARAMS).encode())
    assert result.code == 0, result.err
    return str(result.json["id"])


def transaction_counts(clock: Any) -> tuple[int, int]:
    return len(clock["transactions"]), len(clock["pendingTransactions"])


# Creating


def test_create_from_params_returns_the_servers_clock(shell: Shell, clock: str, program: Program) -> None:
    created = program.result("getTestClock", {"id": clock}, shell.token)["clock"]
    assert shell("clock", "show", "--json").json == created
    assert (transaction_counts(created), created["frozenTime"]) == ((0, 2), PARAMS["frozenTime"])
    assert created["pendingTransactions"][1]["amount"] == 2800.1


def test_empty_clock_starts_now_or_at_the_given_time(shell: Shell) -> None:
    now = datetime.now(UTC)
    created = shell("clock", "create", "--json").json
    assert abs(datetime.fromisoformat(created["frozenTime"]) - now) < timedelta(minutes=1)
    assert transaction_counts(created) == (0, 0)
    started = shell("clock", "create", "--from", f"{YEAR}-01-01 09:30", "--json").json
    assert started["frozenTime"] == f"{YEAR}-01-01T09:30:00Z"


@pytest.mark.parametrize(
    ("arguments", "exit", "message"),
    [
        (["salary-and-rant"], 4, 'did you mean "salary-and-rent"?'),
        (["--params", "no-such-file.json"], 2, "No such file or directory"),
        (["--from", "yesterday"], 2, "'yesterday' isn't a time. Use 2027-01-31"),
        (["--from", "1999-01-01"], 4, "  --from must be within 10 years of now"),
        (["--label", "a b=1"], 4, "  --label: a b has an invalid name"),
    ],
)
def test_invalid_create_is_rejected(shell: Shell, arguments: list[str], exit: int, message: str) -> None:
    result = shell("clock", "create", *arguments)
    assert (result.code, result.out) == (exit, "")
    assert message in result.err


@pytest.mark.parametrize(
    ("params", "exit", "message"),
    [
        (b"{", 2, "The parameters aren't valid JSON"),
        (b'{"goals": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", 2, "The parameters aren't valid JSON: nested too deeply."),
        (b'{"goals": [{"name": 5}]}', 4, "  goals[0].name must be a string\n  goals[0].targetAmount is required"),
        (b'{"fruzenTime": 1}', 4, "  fruzenTime is not a known parameter; did you mean frozenTime?"),
    ],
    ids=["cut short", "nested deeply", "two faults", "unknown"],
)
def test_invalid_params_are_rejected(shell: Shell, params: bytes, exit: int, message: str) -> None:
    result = shell("clock", "create", "--params", "-", input=params)
    assert (result.code, result.out) == (exit, "")
    assert message in result.err
    assert shell.clock == ""


# Advancing


@pytest.mark.parametrize(
    ("options", "to", "happened"),
    [
        (["--to", f"{YEAR}-01-03"], f"{YEAR}-01-03T00:00:00Z", 0),
        (["--to", f"{YEAR}-01-03 08:00"], f"{YEAR}-01-03T08:00:00Z", 1),
        (["--by", "1mo"], f"{YEAR}-02-01T00:00:00Z", 2),
        (["--next"], f"{YEAR}-01-03T08:00:00Z", 1),
    ],
)
def test_advance_moves_the_clock_to_the_target(
    shell: Shell, clock: str, options: list[str], to: str, happened: int
) -> None:
    result = shell("clock", "advance", *options, "--json").json
    moved, names = (
        result["clock"],
        [event["transaction"]["name"] for event in result["events"] if "transaction" in event],
    )
    assert (moved["id"], moved["frozenTime"], len(moved["transactions"])) == (clock, to, happened)
    assert names == ["Rent", "Salary"][:happened]


@pytest.mark.parametrize(
    ("options", "exit", "message"),
    [
        ([], 2, "Use exactly one of --to, --by and --next."),
        (["--by", "0d"], 2, "'0d' doesn't move the clock. Use a duration greater than zero."),
        (["--by", "soon"], 2, "'soon' isn't a duration. Use 1mo, 2w"),
        (["--by", "10y 1s"], 4, f"The clock can't go beyond {YEAR + 10}-01-01T00:00:00Z."),
    ],
)
def test_invalid_advance_is_rejected(shell: Shell, clock: str, options: list[str], exit: int, message: str) -> None:
    result = shell("clock", "advance", *options)
    assert (result.code, result.out) == (exit, "")
    assert message in result.err
    assert transaction_counts(shell("clock", "show", "--json").json) == (0, 2)


# Copying


def test_fork_is_at_the_start_or_at_the_given_time(shell: Shell, clock: str) -> None:
    shell("clock", "advance", "--by", "1mo")
    result = shell("clock", "fork", clock)
    assert result.out.splitlines()[0] == f"  ✓ Created {shell.clock}, a copy"
    assert transaction_counts(shell("clock", "show", "--json").json) == (0, 2)
    options = ["--at", f"{YEAR}-01-10", "--name", "Later", "--label", "ci=1"]
    later = shell("clock", "fork", clock, *options, "--json").json
    assert (later["name"], later["labels"]) == ("Later", {"ci": "1"})
    assert (later["frozenTime"], transaction_counts(later)) == (f"{YEAR}-01-10T00:00:00Z", (1, 1))
    assert transaction_counts(shell("clock", "show", clock, "--json").json) == (2, 0)
    rejected = shell("clock", "fork", clock, "--at", f"{YEAR - 1}-12-31")
    assert rejected.code == 4
    assert "  --at must be between the clock's start and its maxTime (" in rejected.err


# Servers


def test_unreachable_server_is_reported(shell: Shell, clock: str) -> None:
    for arguments in (["login", "ana@example.test"], ["clock", "show", clock]):
        result = shell(*arguments, "--url", "http://127.0.0.1:9", TICKOVER_TOKEN="tko_some")
        assert (result.code, result.out) == (7, "")
        first, second = result.err.splitlines()
        assert first.startswith("tickover: Can't connect to http://127.0.0.1:9 ")
        assert second == "  If your server isn't at http://127.0.0.1:9, pass its address with --url."


def test_shared_options_work_at_every_level(shell: Shell, clock: str) -> None:
    """--url overrides the environment."""
    options = ["--url", f"{shell.url}/", "--json"]
    for arguments in ([*options, "clock", "show"], ["clock", *options, "show"], ["clock", "show", *options]):
        assert shell(*arguments, TICKOVER_URL="http://127.0.0.1:9").json["id"] == clock


@pytest.mark.parametrize(
    ("argument", "option"),
    [("2027-03-01", "--to 2027-03-01"), ("2027-03-01 09:00", "--to '2027-03-01 09:00'"), ("1mo", "--by 1mo")],
)
def test_advance_names_the_option_of_a_time(shell: Shell, argument: str, option: str) -> None:
    result = shell("clock", "advance", argument)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"tickover: Use {option}.\n")


def test_beginning_of_a_scenario_is_completed_in_the_error(shell: Shell) -> None:
    result = shell("clock", "create", "salary")
    assert (result.code, result.out) == (4, "")
    assert 'did you mean "salary-and-rent"?' in result.err
