"""Tests of `tickover clock create --params`: invalid parameters are reported before they are sent."""

import json

import pytest

from tests.system.shells import Shell


@pytest.mark.parametrize(
    ("params", "exit", "message"),
    [
        (b"{", 2, "The parameters aren't valid JSON"),
        (b"\xff", 2, "The parameters aren't valid JSON"),
        (b'{"goals": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", 2, "The parameters aren't valid JSON: nested too deeply."),
        (b"[]", 4, "  --params must be an object"),
        (b'{"goals": [{"name": 5}]}', 4, "  goals[0].name must be a string\n  goals[0].targetAmount is required"),
        (b'{"goals": [{"name": "Trip", "targetAmount": "10"}]}', 4, "  goals[0].targetAmount must be a number"),
        (b'{"goals": [{"name": "Trip", "targetAmount": 1e400}]}', 4, "Number out of range"),
        (b'{"fruzenTime": 1}', 4, "  fruzenTime is not a known parameter; did you mean frozenTime?"),
        # Only the server checks these.
        (b'{"goals": [{"name": "", "targetAmount": 0}]}', 4, "  goals[0].targetAmount "),
        (b'{"frozenTime": "1999-01-01T00:00:00Z"}', 4, "  frozenTime "),
    ],
)
def test_invalid_params_are_rejected(shell: Shell, params: bytes, exit: int, message: str) -> None:
    result = shell("clock", "create", "--params", "-", input=params)
    assert (result.code, result.out) == (exit, "")
    assert result.err.startswith("tickover: ")
    assert message in result.err
    assert shell.clock == ""


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
