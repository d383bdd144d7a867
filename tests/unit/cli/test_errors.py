"""Tests of error messages, hints and exit codes. docs/command-line.md lists the codes and their reasons."""

import pytest

from tickover.api.errors import Fault, Reason, Rejection, invalid_params
from tickover.cli.call_errors import to_cli_error
from tickover.cli.cli_errors import Exit
from tickover.cli.cli_run import CliRun
from tickover.client import ClientError, InvalidResponse, NothingLeft, Unreachable


@pytest.mark.parametrize(("number", "listed", "more"), [(1, 1, ""), (10, 10, ""), (11, 10, "  and 1 more")])
def test_first_ten_faults_are_listed_and_json_has_all(number: int, listed: int, more: str) -> None:
    faults = [Fault(f"transactions[{n}].amount", "positive", "must be greater than 0") for n in range(number)]
    error = to_cli_error(invalid_params(faults, "createTestClock"), CliRun())
    first, *rest = error.lines
    fields = "1 field of createTestClock is" if number == 1 else f"{number} fields of createTestClock are"
    assert first == f"tickover: {fields} invalid."
    assert rest[:listed] == [f"  transactions[{n}].amount must be greater than 0" for n in range(listed)]
    assert rest[listed:] == ([more] if more else [])
    document = error.document["error"]
    assert (document["reason"], document["exitCode"], len(document["errors"])) == ("INVALID_PARAMS", 4, number)
    assert document["errors"][0] == {"path": "transactions[0].amount", "message": "must be greater than 0"}


@pytest.mark.parametrize(
    ("client_error", "exit", "reason", "hint"),
    [
        (Unreachable("No connection."), Exit.UNAVAILABLE, "UNREACHABLE", "--url"),
        (InvalidResponse("Not a Tickover server."), Exit.UNAVAILABLE, "INVALID_RESPONSE", "--url"),
        (NothingLeft("Nothing."), Exit.NOTHING_LEFT, "NOTHING_LEFT", "tickover clock fork"),
    ],
)
def test_errors_of_the_client_have_exit_codes(client_error: ClientError, exit: Exit, reason: str, hint: str) -> None:
    error = to_cli_error(client_error, CliRun())
    assert (error.exit, error.reason) == (exit, reason)
    assert hint in error.hint


def test_server_message_is_sanitized() -> None:
    error = to_cli_error(Rejection(Reason.INTERNAL, "red\x1b[31m\nnext line"), CliRun())
    assert error.lines == ["tickover: red�[31m�next line"]
