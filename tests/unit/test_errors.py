"""Rejections: messages and details."""

from typing import Any

import pytest
from msgspec import UNSET, json

from tickover.api.errors import Fault, Reason, invalid_params, unavailable


def test_unavailable_has_retry_after_one_second() -> None:
    rejection = unavailable("The queue is full.")
    assert (rejection.reason, rejection.message) == (Reason.UNAVAILABLE, "The queue is full.")
    assert rejection.details == {"retryAfterSeconds": 1}
    assert rejection.faults == ()


@pytest.mark.parametrize(("got", "shown"), [(UNSET, {}), (None, {"got": None}), (0, {"got": 0}), ("", {"got": ""})])
def test_fault_is_encoded_with_got_if_set(got: Any, shown: dict[str, object]) -> None:
    plain = {"path": "goals[0].name", "rule": "required", "message": "is required"}
    assert json.decode(json.encode(Fault("goals[0].name", "required", "is required", got))) == plain | shown


@pytest.mark.parametrize(
    ("count", "first"),
    [
        (1, "1 field of createTestClock is invalid."),
        (10, "10 fields of createTestClock are invalid."),
        (12, "12 fields of createTestClock are invalid."),
    ],
)
def test_rejection_of_params_lists_ten_faults(count: int, first: str) -> None:
    faults = [Fault(f"a[{place}]", "rule", "is wrong") for place in range(count)]
    rejection = invalid_params("createTestClock", faults)
    assert rejection.reason is Reason.INVALID_PARAMS
    assert rejection.details == {"errors": faults}
    assert rejection.faults == tuple(faults)
    listed = [f"  a[{place}] is wrong" for place in range(min(count, 10))]
    assert str(rejection).splitlines() == [first, *listed, *["  and 2 more"] * (count > 10)]
