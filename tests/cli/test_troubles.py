"""What went wrong, in one sentence with what to do next, and an exit code for each kind."""

import pytest

from tickover.cli.errors import EXITS, Exit, Trouble, of_client, of_rejection
from tickover.client import ClientError, InvalidResponse, NothingLeft, Unreachable
from tickover.core.errors import Fault, Reason, Rejection, invalid_params


def test_every_reason_has_its_exit_code() -> None:
    assert set(EXITS) == set(Reason)


@pytest.mark.parametrize(
    ("exit", "reasons"),
    [
        (Exit.NOT_SIGNED_IN, {Reason.UNAUTHENTICATED, Reason.LOGIN_REFUSED}),
        (
            Exit.REFUSED,
            {Reason.INVALID_PARAMS, Reason.BODY_TOO_LARGE, Reason.TIME_BEFORE_CURRENT, Reason.TIME_AFTER_MAX},
        ),
        (Exit.GONE, {Reason.CLOCK_EXPIRED, Reason.CLOCK_NOT_FOUND}),
        (Exit.AWAY, {Reason.UNAVAILABLE, Reason.INTERNAL}),
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
def test_reasons_of_one_kind_have_one_exit_code(exit: Exit, reasons: set[Reason]) -> None:
    assert {reason for reason, code in EXITS.items() if code == exit} == reasons


def test_the_exit_codes_are_those_that_were_promised() -> None:
    assert {exit.name: exit.value for exit in Exit} == {
        "DONE": 0,
        "UNEXPECTED": 1,
        "WRONG_COMMAND": 2,
        "NOT_SIGNED_IN": 3,
        "REFUSED": 4,
        "GONE": 5,
        "SPENT": 6,
        "AWAY": 7,
        "LATER": 8,
        "BROKEN_OFF": 130,
    }


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_told_in_a_sentence_without_gaps(reason: Reason) -> None:
    trouble = of_rejection(Rejection(reason, "The server's own words {so}."))
    assert trouble.reason == reason
    assert trouble.sentence.endswith(".")
    assert "{" not in trouble.sentence.replace("{so}", "") + trouble.hint


@pytest.mark.parametrize(
    ("rejection", "lines"),
    [
        (
            Rejection(Reason.TIME_BEFORE_CURRENT, "No.", {"currentFrozenTime": "2027-02-01T00:00:00Z"}),
            [
                "tickover: The clock is already at 2027-02-01, and time only moves forward.",
                "  To go back, make a copy that stands earlier: tickover clock fork --at TIME",
            ],
        ),
        (
            Rejection(Reason.TIME_AFTER_MAX, "No.", {"maxTime": "2037-01-01T09:30:00Z"}),
            ["tickover: The clock can go no further than 2037-01-01 09:30 UTC."],
        ),
        (
            Rejection(Reason.RESEND_TOO_SOON, "No.", {"retryAfterSeconds": 42}),
            [
                "tickover: A letter was sent to ana@example.test a moment ago; the next may follow in 42 seconds.",
                "  If its code is not used yet: tickover login ana@example.test --code CODE",
            ],
        ),
        (
            Rejection(Reason.UNAVAILABLE, "The database is away.", {"retryAfterSeconds": 1}),
            ["tickover: The database is away.", "  Try again in 1 second."],
        ),
        (
            Rejection(Reason.UNAUTHENTICATED, "No."),
            [
                "tickover: The server does not take this token, or takes it no more.",
                "  Sign in with: tickover login ana@example.test",
            ],
        ),
    ],
)
def test_a_refusal_says_what_to_do_next(rejection: Rejection, lines: list[str]) -> None:
    assert of_rejection(rejection, "ana@example.test").lines == lines


def faults(number: int) -> list[Fault]:
    return [Fault(f"transactions[{n}].amount", "positive", "must be greater than 0") for n in range(number)]


@pytest.mark.parametrize(("number", "told", "more"), [(1, 1, ""), (10, 10, ""), (11, 10, "  and 1 more")])
def test_faults_are_listed_with_their_paths_until_they_are_too_many(number: int, told: int, more: str) -> None:
    rejection = invalid_params("createTestClock", faults(number))
    first, *listed = of_rejection(rejection).lines
    assert first == f"tickover: {rejection.message}"
    assert listed[:told] == [f"  transactions[{n}].amount must be greater than 0" for n in range(told)]
    assert listed[told:] == ([more] if more else [])


def test_a_program_is_told_all_faults() -> None:
    error = of_rejection(invalid_params("createTestClock", faults(11))).document["error"]
    assert (error["reason"], error["exitCode"], len(error["errors"])) == ("INVALID_PARAMS", 4, 11)
    assert error["errors"][0] == {"path": "transactions[0].amount", "message": "must be greater than 0"}


@pytest.mark.parametrize(
    ("error", "reason"),
    [(Unreachable("It is away."), "UNREACHABLE"), (InvalidResponse("It is another."), "BAD_ANSWER")],
)
def test_a_server_that_does_not_answer_is_away(error: ClientError, reason: str) -> None:
    trouble = of_client(error, "http://127.0.0.1:8000")
    assert (trouble.exit, trouble.reason, trouble.sentence) == (Exit.AWAY, reason, str(error))
    assert "--url" in trouble.hint


def test_a_clock_on_which_nothing_is_left_is_spent() -> None:
    trouble = of_client(NothingLeft("Nothing."), "http://127.0.0.1:8000")
    assert (trouble.exit, trouble.reason) == (Exit.SPENT, "NOTHING_LEFT")
    assert "tickover clock fork" in trouble.hint


def test_what_a_server_says_cannot_command_a_terminal() -> None:
    trouble = of_rejection(Rejection(Reason.INTERNAL, "red\x1b[31m\nnext line"))
    assert trouble.lines == ["tickover: red�[31m�next line"]


def test_a_document_has_no_more_than_there_is_to_say() -> None:
    assert Trouble(Exit.SPENT, "Done.").document == {"error": {"reason": "SPENT", "exitCode": 6, "message": "Done."}}
