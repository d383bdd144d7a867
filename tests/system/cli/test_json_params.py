"""Tests of `tickover clock create --params`: invalid parameters are reported before they are sent."""

import json
from typing import Any

from tests.support.cases import each_case
from tests.support.shells import Shell


@each_case(
    ("params", "exit", "message"),
    [
        (b"{", 2, "The parameters aren't valid JSON"),
        (b"\xff", 2, "The parameters aren't valid JSON"),
        (b"[]", 4, "  params must be an object"),
        (
            b'{"goals": [{"name": 5}]}',
            4,
            "  goals[0].name must be a string\n  goals[0].targetAmount is required",
        ),
        (
            b'{"goals": [{"name": "Trip", "targetAmount": 1, "initalAmount": 1}]}',
            4,
            "  goals[0].initalAmount is not a known parameter; did you mean initialAmount?",
        ),
        (
            b'{"fruzenTime": 1, "zzz": 2}',
            4,
            "  fruzenTime is not a known parameter; did you mean frozenTime?\n  zzz is not a known",
        ),
        (b'{"goals": [{"name": "", "targetAmount": 0}]}', 4, "  goals[0].name "),
        (b'{"goals": [{"name": "", "targetAmount": 0}]}', 4, "  goals[0].targetAmount "),
        (b'{"frozenTime": "1999-01-01T00:00:00Z"}', 4, "  frozenTime "),
        (b'{"frozenTime": "2027-01-01T00:00:00"}', 4, "  frozenTime must be an RFC 3339 timestamp with an offset"),
        (b'{"goals": [{"name": "Trip", "targetAmount": 1e400}]}', 4, "Number out of range"),
        (b"[" * 5_000 + b"]" * 5_000, 2, "The parameters aren't valid JSON: nested too deeply."),
        (b'{"goals": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", 2, "nested too deeply"),
        # Arrays and objects in the wrong places.
        (b'{"goals": [{"name": [1], "targetAmount": 1}]}', 4, "  goals[0].name must be a string"),
        (b'{"frozenTime": [{}]}', 4, "  frozenTime must be an RFC 3339 timestamp"),
        (b'{"goals": {"name": 1}}', 4, "  goals must be an array"),
    ],
)
def test_invalid_params_are_rejected(shell: Shell, params: bytes, exit: int, message: str) -> None:
    result = shell("clock", "create", "--params", "-", input=params)
    assert (result.code, result.out) == (exit, "")
    assert result.err.startswith("tickover: ")
    assert message in result.err
    assert shell.clock == ""


TRANSACTION = {"at": "2027-01-03T08:00:00Z", "name": "Rent", "amount": 5, "currency": "EUR", "type": "EXPENSE"}
CONTRIBUTION = {"at": "2027-01-03T08:00:00Z", "amount": 5}
GOAL = {"name": "Trip", "targetAmount": 10, "initialAmount": 5, "contributions": [CONTRIBUTION]}


@each_case(
    ("params", "paths"),
    [
        ({"transactions": [TRANSACTION, TRANSACTION | {"amount": "5"}]}, ["transactions[1].amount"]),
        ({"goals": [GOAL | {"targetAmount": "10"}]}, ["goals[0].targetAmount"]),
        ({"goals": [GOAL | {"initialAmount": "NaN"}]}, ["goals[0].initialAmount"]),
        (
            {"goals": [GOAL | {"initialAmount": "", "contributions": [CONTRIBUTION | {"amount": "5.50"}]}]},
            ["goals[0].initialAmount", "goals[0].contributions[0].amount"],
        ),
    ],
)
def test_amount_as_string_is_rejected(shell: Shell, params: dict[str, Any], paths: list[str]) -> None:
    result = shell("clock", "create", "--params", "-", input=json.dumps(params).encode())
    invalid = "1 parameter is" if len(paths) == 1 else "2 parameters are"
    assert (result.code, result.out) == (4, "")
    assert result.err.splitlines() == [
        f"tickover: {invalid} invalid.",
        *(f"  {path} must be a number" for path in paths),
    ]
    error = shell("clock", "create", "--params", "-", "--json", input=json.dumps(params).encode()).error
    assert (error["reason"], [fault["path"] for fault in error["errors"]]) == ("INVALID_PARAMS", paths)
    assert shell.clock == ""


def test_amount_as_number_is_accepted(shell: Shell) -> None:
    params = {"frozenTime": "2027-01-01T00:00:00Z", "transactions": [TRANSACTION], "goals": [GOAL]}
    assert shell("clock", "create", "--params", "-", input=json.dumps(params).encode()).code == 0


def test_large_clock_is_created(shell: Shell) -> None:
    rent = {"at": "2027-01-03T08:00:00Z", "name": "Rent", "amount": 1, "currency": "EUR", "type": "EXPENSE"}
    contributions = [{"at": "2027-01-03T08:00:00Z", "amount": 1}] * 101
    params = {
        "frozenTime": "2027-01-01T00:00:00Z",
        "transactions": [rent] * 101,
        "goals": [{"name": "Trip", "targetAmount": 1, "contributions": contributions}] * 26,
    }
    result = shell("clock", "create", "--params", "-", "--json", input=json.dumps(params).encode())
    assert result.code == 0, result.err
    assert len(result.json["pendingTransactions"]) == 101
    assert [len(goal["upcomingContributions"]) for goal in result.json["goals"]] == [101] * 26
