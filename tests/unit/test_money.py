"""Exact sums, and the progress of goals. test_properties.py compares whole views with a model."""

from collections.abc import Sequence

import pytest
from msgspec import json

from tickover.server.schedule.money import Amount, Progress, compute_savings

SMALLEST = 5e-324
"""The smallest positive double."""


def staircase(target: Amount, initial: Amount, contributions: Sequence[Amount]) -> list[Progress]:
    """Return a goal's progress before the first contribution and after each one."""
    savings = compute_savings(target, initial, contributions)
    return [savings.progress(count) for count in range(len(contributions) + 1)]


def progress(target: Amount, initial: Amount, *contributions: Amount) -> Progress:
    """Return a goal's progress after all contributions."""
    return staircase(target, initial, contributions)[-1]


@pytest.mark.parametrize(
    ("initial", "contributions", "current"),
    [
        pytest.param(0.1, [0.2], "0.3", id="0.1 + 0.2"),
        pytest.param(1e9, [0.01], "1000000000.01", id="a cent on the largest amount"),
        pytest.param(1e9, [1e9] * 100, "101000000000", id="the most a goal can come to"),
        pytest.param(999_999_999.9999999, [1e-7], "1000000000", id="sixteen digits to a round number"),
        pytest.param(1e9, [SMALLEST], "1000000000", id="the nearest double, when no double is exact"),
    ],
)
def test_current_amount_is_the_exact_sum(initial: Amount, contributions: list[Amount], current: str) -> None:
    found = progress(1_000_000_000, initial, *contributions)
    assert json.encode(found.current_amount).decode() == current


@pytest.mark.parametrize(
    ("current", "target", "percent"),
    [
        pytest.param(1, 3, "33.33", id="a third is rounded down"),
        pytest.param(2, 3, "66.67", id="two thirds are rounded up"),
        pytest.param(0.00005, 1, "0.01", id="half a hundredth goes up"),
        pytest.param(0.00004999, 1, "0", id="less than half a hundredth goes down"),
        pytest.param(1.005, 100, "1.01", id="1.005, which as a double is a little less"),
        pytest.param(99.995, 100, "99.99", id="99.995 is not yet 100"),
        pytest.param(100.005, 100, "100.01", id="over by half a hundredth"),
        pytest.param(0.9999, 1e-13, "999900000000000", id="just below the cap"),
        pytest.param(1.0001, 1e-13, "1000000000000000", id="just above the cap"),
    ],
)
def test_progress_has_two_decimals(current: Amount, target: Amount, percent: str) -> None:
    assert json.encode(progress(target, 0, current).progress_percent).decode() == percent
