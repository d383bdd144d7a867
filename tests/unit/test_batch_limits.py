"""Memory limits of batches."""

import pytest

from tickover.api.errors import Rejection
from tickover.api.limits import MAX_BATCH_BYTES
from tickover.server.rpc.batch_limits import MAX_ERROR, BatchLimits, BatchResponse

SIZES = [100, 100]
ROOM = MAX_BATCH_BYTES - sum(MAX_ERROR + size + 2 for size in SIZES)
"""The space for results beyond the reserved errors."""


def rejection_reason(response: BatchResponse, size: int) -> str | None:
    try:
        response.check_fits(100, size)
    except Rejection as rejection:
        return rejection.reason
    return None


def test_response_of_the_largest_size_fits_and_one_byte_more_does_not() -> None:
    with BatchLimits().open_response(SIZES) as response:
        assert rejection_reason(response, ROOM + MAX_ERROR + 100) is None
        assert rejection_reason(response, ROOM + MAX_ERROR + 101) == "INVALID_REQUEST"


def test_earlier_responses_count_towards_the_limit() -> None:
    with BatchLimits().open_response(SIZES) as response:
        response.add(100, b"x" * (MAX_ERROR + 100 + 7))
        assert rejection_reason(response, ROOM + MAX_ERROR + 100 - 7) is None
        assert rejection_reason(response, ROOM + MAX_ERROR + 100 - 6) == "INVALID_REQUEST"


def test_errors_always_fit_and_batch_stays_within_limit() -> None:
    with BatchLimits().open_response(SIZES) as response:
        response.add(100, b"x" * (ROOM + MAX_ERROR + 100))
        assert rejection_reason(response, MAX_ERROR + 101) == "INVALID_REQUEST"
        assert rejection_reason(response, MAX_ERROR + 100) is None
        response.add(100, b"y" * (MAX_ERROR + 100))
        assert len(response.join()) == MAX_BATCH_BYTES - 1


def test_interrupted_response_stops_counting() -> None:
    limits = BatchLimits()

    def break_off() -> None:
        with limits.open_response(SIZES) as response:
            response.add(100, b"x" * 8_000)
            raise KeyError

    with pytest.raises(KeyError):
        break_off()
    assert limits.unfinished == 0
