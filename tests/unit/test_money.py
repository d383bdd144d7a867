"""Exact sums, whole numbers without `.0`, and the progress of goals."""

from collections.abc import Sequence

import pytest
from msgspec import json, msgpack

from tickover.api.arguments import int_if_whole
from tickover.server.schedule.money import Amount, Progress, Savings, compute_savings

SMALLEST = 5e-324
"""The smallest positive double."""


def staircase(target: Amount, initial: Amount, contributions: Sequence[Amount]) -> list[Progress]:
    """Return a goal's progress before the first contribution and after each one, from stored savings."""
    savings = msgpack.decode(msgpack.encode(compute_savings(target, initial, contributions)), type=Savings)
    return [savings.progress(count) for count in range(len(contributions) + 1)]


def progress(target: Amount, initial: Amount, *contributions: Amount) -> Progress:
    """Return a goal's progress after all contributions."""
    return staircase(target, initial, contributions)[-1]


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        pytest.param(1, b"1", id="whole"),
        pytest.param(1.0, b"1", id="whole float"),
        pytest.param(0.0, b"0", id="zero"),
        pytest.param(-0.0, b"0", id="minus zero"),
        pytest.param(-3.0, b"-3", id="below zero"),
        pytest.param(1e9, b"1000000000", id="largest amount"),
        pytest.param(1e15, b"1000000000000000", id="largest percentage"),
        pytest.param(1.5, b"1.5", id="broken"),
        pytest.param(999_999_999.9999999, b"999999999.9999999", id="just below a whole number"),
        pytest.param(SMALLEST, b"5e-324", id="smallest"),
    ],
)
def test_whole_number_has_no_fraction(amount: Amount, written: bytes) -> None:
    assert json.encode(int_if_whole(amount)) == written


@pytest.mark.parametrize(
    ("initial", "contributions", "current"),
    [
        pytest.param(0, [], "0", id="nothing"),
        pytest.param(0.1, [0.2], "0.3", id="0.1 + 0.2"),
        pytest.param(0, [0.1] * 100, "10", id="a hundred times 0.1"),
        pytest.param(0.7, [0.1], "0.8", id="0.7 + 0.1"),
        pytest.param(1.1, [2.2, 3.3], "6.6", id="1.1 + 2.2 + 3.3"),
        pytest.param(0.5, [0.5], "1", id="halves make a whole"),
        pytest.param(1e-7, [2e-7], "3e-7", id="numbers that are written with an exponent"),
        pytest.param(1e-7, [1], "1.0000001", id="an exponent and none"),
        pytest.param(1e9, [0.01], "1000000000.01", id="a cent on the largest amount"),
        pytest.param(1e9, [1e9] * 100, "101000000000", id="the most a goal can come to"),
        pytest.param(999_999_999.9999999, [1e-7], "1000000000", id="sixteen digits to a round number"),
        pytest.param(SMALLEST, [SMALLEST], "1e-323", id="the smallest twice"),
        pytest.param(1e9, [SMALLEST], "1000000000", id="the nearest double, when no double is exact"),
        pytest.param(-0.0, [], "0", id="minus zero"),
    ],
)
def test_current_amount_is_the_exact_sum(initial: Amount, contributions: list[Amount], current: str) -> None:
    found = progress(1_000_000_000, initial, *contributions)
    assert json.encode(found.current_amount).decode() == current


@pytest.mark.parametrize(
    ("target", "initial", "contributions", "remaining"),
    [
        pytest.param(1000, 0, [], "1000", id="all of it"),
        pytest.param(0.3, 0.1, [0.2], "0", id="nothing after 0.1 + 0.2 of 0.3"),
        pytest.param(0.3, 0, [0.1], "0.2", id="0.3 - 0.1"),
        pytest.param(1000.1, 1000, [], "0.1", id="a tenth"),
        pytest.param(1, 0, [1.1], "-0.1", id="over-funded by a tenth"),
        pytest.param(1, 1, [1e9], "-1000000000", id="over-funded by the largest amount"),
        pytest.param(1e9, 0, [SMALLEST], "1000000000", id="the nearest double, when no double is exact"),
        pytest.param(SMALLEST, 0, [], "5e-324", id="smallest target"),
        pytest.param(SMALLEST, 0, [1e-323], "-5e-324", id="smallest target, over-funded by as much"),
    ],
)
def test_remaining_amount_is_target_minus_current(
    target: Amount, initial: Amount, contributions: list[Amount], remaining: str
) -> None:
    found = progress(target, initial, *contributions)
    assert json.encode(found.remaining_amount).decode() == remaining


@pytest.mark.parametrize(
    ("current", "target", "percent"),
    [
        pytest.param(0, 1000, "0", id="nothing"),
        pytest.param(250, 1000, "25", id="a quarter"),
        pytest.param(1, 8, "12.5", id="one decimal"),
        pytest.param(1, 3, "33.33", id="a third is rounded down"),
        pytest.param(2, 3, "66.67", id="two thirds are rounded up"),
        pytest.param(0.00005, 1, "0.01", id="half a hundredth goes up"),
        pytest.param(0.00004999, 1, "0", id="less than half a hundredth goes down"),
        pytest.param(0.12345, 1, "12.35", id="12.345"),
        pytest.param(0.1234499999, 1, "12.34", id="just below 12.345"),
        pytest.param(0.00285, 1, "0.29", id="0.285, which as a double is a little less"),
        pytest.param(1.005, 100, "1.01", id="1.005, which as a double is a little less"),
        pytest.param(99.985, 100, "99.99", id="99.985"),
        pytest.param(99.99, 100, "99.99", id="99.99"),
        pytest.param(99.995, 100, "99.99", id="99.995 is not yet 100"),
        pytest.param(99.99999999999999, 100, "99.99", id="almost 100 is not yet 100"),
        pytest.param(999_999_999.9999999, 1e9, "99.99", id="almost the largest target"),
        pytest.param(100, 100, "100", id="reached"),
        pytest.param(0.3, 0.3, "100", id="reached with a broken number"),
        pytest.param(SMALLEST, SMALLEST, "100", id="smallest target reached"),
        pytest.param(100.00499, 100, "100", id="a little over"),
        pytest.param(100.005, 100, "100.01", id="over by half a hundredth"),
        pytest.param(250, 100, "250", id="over-funded"),
        pytest.param(1e9, 3, "33333333333.33", id="over-funded by a lot"),
        pytest.param(SMALLEST, 1e9, "0", id="smallest part of the largest target"),
        pytest.param(0.9999, 1e-13, "999900000000000", id="just below the cap"),
        pytest.param(1, 1e-13, "1000000000000000", id="at the cap"),
        pytest.param(1.0001, 1e-13, "1000000000000000", id="just above the cap"),
        pytest.param(1e9, SMALLEST, "1000000000000000", id="far above the cap"),
    ],
)
def test_progress_has_two_decimals(current: Amount, target: Amount, percent: str) -> None:
    found = progress(target, 0, current) if current else progress(target, 0)
    assert json.encode(found.progress_percent).decode() == percent


def test_progress_is_100_only_when_target_is_reached() -> None:
    steps = staircase(1, 0, [0.1] * 11)
    percents = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110]
    assert [step.progress_percent for step in steps] == percents
    assert steps[10].remaining_amount == 0


def test_progress_exists_before_and_after_each_contribution() -> None:
    assert staircase(1000, 100, [200, 0.5]) == [
        Progress(100, 900, 10),
        Progress(300, 700, 30),
        Progress(300.5, 699.5, 30.05),
    ]


def test_progress_is_encoded_with_interface_names() -> None:
    assert json.encode(progress(1000, 250.0)) == b'{"currentAmount":250,"remainingAmount":750,"progressPercent":25}'
