"""Tests of error messages, hints and exit codes."""

from tests.support.cases import each_case
from tickover.api.errors import Fault, Reason, Rejection, invalid_params
from tickover.cli.connection import from_client_error
from tickover.cli.errors import CliError, Exit
from tickover.cli.rejections import EXIT_CODES, from_rejection
from tickover.client import ClientError, InvalidResponse, NothingLeft, Unreachable


def test_every_reason_has_an_exit_code() -> None:
    assert set(EXIT_CODES) == set(Reason)


@each_case(
    ("exit", "reasons"),
    [
        (Exit.NOT_SIGNED_IN, {Reason.UNAUTHENTICATED, Reason.LOGIN_REFUSED}),
        (
            Exit.REFUSED,
            {
                Reason.INVALID_PARAMS,
                Reason.FORBIDDEN,
                Reason.BODY_TOO_LARGE,
                Reason.TIME_BEFORE_CURRENT,
                Reason.TIME_AFTER_MAX,
                Reason.ITEM_NOT_PENDING,
            },
        ),
        (Exit.NOT_FOUND, {Reason.CLOCK_EXPIRED, Reason.CLOCK_NOT_FOUND}),
        (Exit.UNAVAILABLE, {Reason.UNAVAILABLE, Reason.INTERNAL}),
        (Exit.LATER, {Reason.RESEND_TOO_SOON, Reason.RATE_LIMITED, Reason.MAIL_NOT_SENT}),
        (
            Exit.UNEXPECTED,
            {
                Reason.PARSE_ERROR,
                Reason.INVALID_REQUEST,
                Reason.METHOD_NOT_FOUND,
                Reason.METHOD_NOT_ALLOWED,
                Reason.UNSUPPORTED_MEDIA_TYPE,
            },
        ),
    ],
)
def test_reasons_map_to_exit_codes(exit: Exit, reasons: set[Reason]) -> None:
    assert {reason for reason, code in EXIT_CODES.items() if code == exit} == reasons


def test_exit_codes_are_stable() -> None:
    assert {exit.name: exit.value for exit in Exit} == {
        "DONE": 0,
        "UNEXPECTED": 1,
        "WRONG_COMMAND": 2,
        "NOT_SIGNED_IN": 3,
        "REFUSED": 4,
        "NOT_FOUND": 5,
        "NOTHING_LEFT": 6,
        "UNAVAILABLE": 7,
        "LATER": 8,
        "VIOLATED": 9,
        "INTERRUPTED": 130,
    }


@each_case("reason", Reason)
def test_every_reason_has_a_complete_message(reason: Reason) -> None:
    error = from_rejection(Rejection(reason, "The server's message {so}."))
    assert error.reason == reason
    assert error.message.endswith(".")
    assert "{" not in error.message.replace("{so}", "") + error.hint


@each_case(
    ("rejection", "lines"),
    [
        (
            Rejection(Reason.TIME_BEFORE_CURRENT, "No.", {"currentFrozenTime": "2027-02-01T00:00:00Z"}),
            [
                "tickover: The clock is already at 2027-02-01, and time only moves forward.",
                "  To go back, copy the clock as it was at an earlier time: tickover clock fork --at TIME",
            ],
        ),
        (
            Rejection(Reason.TIME_AFTER_MAX, "No.", {"maxTime": "2037-01-01T09:30:00Z"}),
            ["tickover: The clock can't advance past 2037-01-01 09:30 UTC."],
        ),
        (
            Rejection(Reason.RESEND_TOO_SOON, "No.", {"retryAfterSeconds": 42}),
            [
                "tickover: No.",
                "  If you haven't used its code yet: tickover login ana@example.test --code CODE",
            ],
        ),
        (
            Rejection(Reason.UNAVAILABLE, "The database is unavailable.", {"retryAfterSeconds": 1}),
            ["tickover: The database is unavailable.", "  Try again in 1 second."],
        ),
        (
            Rejection(Reason.UNAUTHENTICATED, "No."),
            [
                "tickover: Your token is invalid or has expired.",
                "  Sign in again: tickover login ana@example.test",
            ],
        ),
    ],
)
def test_server_error_has_message_and_hint(rejection: Rejection, lines: list[str]) -> None:
    assert from_rejection(rejection, "ana@example.test").lines == lines


@each_case(
    ("seconds", "wait"),
    [
        (119, "119 seconds"),
        (120, "2 min"),
        (7_775_987, "89 d 23 h"),
        (10**30, f"{10**30} seconds"),
        ("soon", "soon seconds"),
    ],
)
def test_long_waits_are_readable(seconds: object, wait: str) -> None:
    error = from_rejection(Rejection(Reason.RATE_LIMITED, "No.", {"retryAfterSeconds": seconds}))
    assert error.hint == f"Try again in {wait}."


def faults(number: int) -> list[Fault]:
    return [Fault(f"transactions[{n}].amount", "positive", "must be greater than 0") for n in range(number)]


@each_case(("number", "listed", "more"), [(1, 1, ""), (10, 10, ""), (11, 10, "  and 1 more")])
def test_first_ten_faults_are_listed(number: int, listed: int, more: str) -> None:
    rejection = invalid_params("createTestClock", faults(number))
    first, *rest = from_rejection(rejection).lines
    assert first == ("tickover: 1 value is invalid." if number == 1 else f"tickover: {number} values are invalid.")
    assert rest[:listed] == [f"  transactions[{n}].amount must be greater than 0" for n in range(listed)]
    assert rest[listed:] == ([more] if more else [])


def test_json_error_has_all_faults() -> None:
    error = from_rejection(invalid_params("createTestClock", faults(11))).document["error"]
    assert (error["reason"], error["exitCode"], len(error["errors"])) == ("INVALID_PARAMS", 4, 11)
    assert error["errors"][0] == {"path": "transactions[0].amount", "message": "must be greater than 0"}


@each_case(
    ("client_error", "reason"),
    [(Unreachable("No connection."), "UNREACHABLE"), (InvalidResponse("Not a Tickover server."), "INVALID_RESPONSE")],
)
def test_connection_errors_exit_with_unavailable(client_error: ClientError, reason: str) -> None:
    error = from_client_error(client_error, "http://127.0.0.1:8000")
    assert (error.exit, error.reason, error.message) == (Exit.UNAVAILABLE, reason, str(client_error))
    assert "--url" in error.hint


def test_subclasses_of_client_errors_are_recognized() -> None:
    class InvalidBody(InvalidResponse):
        pass

    assert from_client_error(InvalidBody("Not JSON."), "http://127.0.0.1:8000").reason == "INVALID_RESPONSE"


def test_nothing_left_suggests_a_fork() -> None:
    error = from_client_error(NothingLeft("Nothing."), "http://127.0.0.1:8000")
    assert (error.exit, error.reason) == (Exit.NOTHING_LEFT, "NOTHING_LEFT")
    assert "tickover clock fork" in error.hint


def test_server_message_is_sanitized() -> None:
    error = from_rejection(Rejection(Reason.INTERNAL, "red\x1b[31m\nnext line"))
    assert error.lines == ["tickover: red�[31m�next line"]


def test_json_error_omits_empty_fields() -> None:
    assert CliError(Exit.NOTHING_LEFT, "Done.").document == {
        "error": {"reason": "NOTHING_LEFT", "exitCode": 6, "message": "Done."}
    }
