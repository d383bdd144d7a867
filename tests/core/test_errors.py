"""Rejections: what one says to a person, and what it carries for a program."""

import pytest
from msgspec import json

from tickover.api.errors import Fault, Reason, Rejection, invalid_params, unavailable

FAULT = Fault("goals[0].name", "required", "is required")


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (1, "1 field of createTestClock is invalid."),
        (2, "2 fields of createTestClock are invalid."),
        (10_000, "10000 fields of createTestClock are invalid."),
    ],
)
def test_invalid_params_counts_the_fields_and_carries_every_fault(count: int, message: str) -> None:
    rejection = invalid_params("createTestClock", [FAULT] * count)
    assert rejection.reason is Reason.INVALID_PARAMS
    assert rejection.message == message
    assert rejection.details == {"errors": [FAULT] * count}


def test_a_rejection_gives_its_faults_in_order() -> None:
    other = Fault("goals[1].name", "max_length", "must have at most 120 characters", "x")
    assert invalid_params("createTestClock", [FAULT, other]).faults == (FAULT, other)


def test_a_rejection_of_another_kind_has_no_faults() -> None:
    assert unavailable("The queue is full.").faults == ()


def test_unavailable_asks_for_another_try_in_a_second() -> None:
    rejection = unavailable("The queue is full.")
    assert rejection.reason is Reason.UNAVAILABLE
    assert rejection.message == "The queue is full."
    assert rejection.details == {"retryAfterSeconds": 1}


def test_a_rejection_without_details_carries_none() -> None:
    assert Rejection(Reason.CLOCK_NOT_FOUND, "You have no clock with this id.").details == {}


@pytest.mark.parametrize(
    ("fault", "written"),
    [
        pytest.param(FAULT, {}, id="nothing to show"),
        pytest.param(Fault("goals[0].name", "required", "is required", None), {"got": None}, id="null"),
        pytest.param(Fault("goals[0].name", "required", "is required", 0), {"got": 0}, id="zero"),
        pytest.param(Fault("goals[0].name", "required", "is required", ""), {"got": ""}, id="empty string"),
    ],
)
def test_a_fault_shows_what_was_given_when_there_is_something_to_show(fault: Fault, written: dict[str, object]) -> None:
    plain = {"path": "goals[0].name", "rule": "required", "message": "is required"}
    assert json.decode(json.encode(fault)) == plain | written


@pytest.mark.parametrize("reason", Reason)
def test_a_reason_is_its_own_name(reason: Reason) -> None:
    assert reason.value == reason.name


@pytest.mark.parametrize(
    ("count", "lines"),
    [
        (0, ["0 fields of createTestClock are invalid."]),
        (1, ["1 field of createTestClock is invalid.", "  a[0] is wrong"]),
        (10, ["10 fields of createTestClock are invalid.", *(f"  a[{place}] is wrong" for place in range(10))]),
        (
            12,
            [
                "12 fields of createTestClock are invalid.",
                *(f"  a[{place}] is wrong" for place in range(10)),
                "  and 2 more",
            ],
        ),
    ],
)
def test_a_rejection_says_which_fields_are_wrong(count: int, lines: list[str]) -> None:
    faults = [Fault(f"a[{place}]", "rule", "is wrong") for place in range(count)]
    assert str(invalid_params("createTestClock", faults)).splitlines() == lines
