"""Rejections: messages and details."""

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
def test_invalid_params_counts_fields_and_contains_all_faults(count: int, message: str) -> None:
    rejection = invalid_params("createTestClock", [FAULT] * count)
    assert rejection.reason is Reason.INVALID_PARAMS
    assert rejection.message == message
    assert rejection.details == {"errors": [FAULT] * count}


def test_rejection_keeps_the_order_of_faults() -> None:
    other = Fault("goals[1].name", "max_length", "must have at most 120 characters", "x")
    assert invalid_params("createTestClock", [FAULT, other]).faults == (FAULT, other)


def test_other_rejection_has_no_faults() -> None:
    assert unavailable("The queue is full.").faults == ()


def test_unavailable_has_retry_after_one_second() -> None:
    rejection = unavailable("The queue is full.")
    assert rejection.reason is Reason.UNAVAILABLE
    assert rejection.message == "The queue is full."
    assert rejection.details == {"retryAfterSeconds": 1}


def test_rejection_without_details_has_empty_details() -> None:
    assert Rejection(Reason.CLOCK_NOT_FOUND, "You have no clock with this ID.").details == {}


@pytest.mark.parametrize(
    ("fault", "written"),
    [
        pytest.param(FAULT, {}, id="nothing to show"),
        pytest.param(Fault("goals[0].name", "required", "is required", None), {"got": None}, id="null"),
        pytest.param(Fault("goals[0].name", "required", "is required", 0), {"got": 0}, id="zero"),
        pytest.param(Fault("goals[0].name", "required", "is required", ""), {"got": ""}, id="empty string"),
    ],
)
def test_fault_is_encoded_with_got_if_set(fault: Fault, written: dict[str, object]) -> None:
    plain = {"path": "goals[0].name", "rule": "required", "message": "is required"}
    assert json.decode(json.encode(fault)) == plain | written


@pytest.mark.parametrize("reason", Reason)
def test_reason_equals_its_name(reason: Reason) -> None:
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
def test_str_of_rejection_lists_faults(count: int, lines: list[str]) -> None:
    faults = [Fault(f"a[{place}]", "rule", "is wrong") for place in range(count)]
    assert str(invalid_params("createTestClock", faults)).splitlines() == lines
