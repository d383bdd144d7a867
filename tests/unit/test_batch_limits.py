"""Memory limits of batches."""

import pytest

from tickover.api.errors import Rejection
from tickover.api.limits import MAX_BATCH, MAX_BATCH_BYTES
from tickover.server.rpc.batch_limits import BatchLimits, BatchResponse

ROOM = MAX_BATCH_BYTES - 200 - MAX_BATCH * 1024
"""The space for results to a request of 200 bytes."""


def rejection_reason(response: BatchResponse, size: int) -> str | None:
    try:
        response.check_fits(size)
    except Rejection as rejection:
        return rejection.reason
    return None


def test_response_of_the_largest_size_fits_and_one_byte_more_does_not() -> None:
    with BatchResponse(BatchLimits(), 200) as response:
        assert rejection_reason(response, ROOM) is None
        assert rejection_reason(response, ROOM + 1) == "INVALID_REQUEST"


def test_earlier_responses_count_towards_the_limit() -> None:
    with BatchResponse(BatchLimits(), 200) as response:
        response.add(b"x" * 7)
        assert rejection_reason(response, ROOM - 7) is None
        assert rejection_reason(response, ROOM - 6) == "INVALID_REQUEST"


def test_interrupted_response_stops_counting() -> None:
    limits = BatchLimits()

    def break_off() -> None:
        with BatchResponse(limits, 200) as response:
            response.add(b"x" * 8_000)
            raise KeyError

    with pytest.raises(KeyError):
        break_off()
    assert limits.unfinished == 0
