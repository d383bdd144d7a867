"""Rejections: messages and details."""

from typing import Any

import pytest
from msgspec import UNSET, json

from tickover.api.errors import Fault, Reason, unavailable


def test_unavailable_has_retry_after_one_second() -> None:
    rejection = unavailable("The queue is full.")
    assert (rejection.reason, rejection.message) == (Reason.UNAVAILABLE, "The queue is full.")
    assert rejection.details == {"retryAfterSeconds": 1}
    assert rejection.faults == ()


@pytest.mark.parametrize(("got", "shown"), [(UNSET, {}), (None, {"got": None}), (0, {"got": 0}), ("", {"got": ""})])
def test_fault_is_encoded_with_got_if_set(got: Any, shown: dict[str, object]) -> None:
    plain = {"path": "goals[0].name", "rule": "required", "message": "is required"}
    assert json.decode(json.encode(Fault("goals[0].name", "required", "is required", got))) == plain | shown
