"""Tests of the rendered timeline: axis, lanes and curves."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.snapshots import day, snapshot, transaction
from tickover.api.clocks import Snapshot
from tickover.cli.render.axis import build_axis, ticks
from tickover.cli.render.timeline import timeline
from tickover.client.timeline import clock_items, opening_books


def drawn(clock: Snapshot, width: int = 80) -> list[str]:
    return [line.plain for line in timeline(clock_items(clock), opening_books(clock), clock.frozen_time, width)]


@pytest.mark.parametrize(
    ("last", "columns", "expected"),
    [
        (day(1, 1, 23), 71, ["01 Jan", "03:00", "06:00", "09:00", "12:00", "15:00", "18:00", "21:00"]),
        (day(2, 1), 71, ["04 Jan", "11 Jan", "18 Jan", "25 Jan"]),
        (day(12, 26), 31, ["2027", "Apr", "Jul", "Oct"]),
        (day(1, 1, year=2037), 31, ["2028", "2030", "2032", "2034", "2036"]),
    ],
)
def test_labels_are_as_dense_as_possible(last: datetime, columns: int, expected: list[str]) -> None:
    assert [label for _, label in ticks(build_axis(day(1, 1), last, columns))] == expected


@given(
    st.datetimes(),
    st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=4000)),
    st.integers(min_value=2, max_value=300),
)
def test_labels_never_overlap(first: datetime, length: timedelta, columns: int) -> None:
    first = first.replace(tzinfo=day(1, 1).tzinfo)
    last = first + min(length, datetime.max.replace(tzinfo=first.tzinfo) - first)
    axis = build_axis(first, last, columns)
    assert axis.column(first) >= 0
    assert axis.column(last) < columns
    end = -1
    for column, label in ticks(axis):
        assert column > end
        end = column + len(label)
    assert end <= columns


def test_items_in_one_column_are_counted() -> None:
    """One item is a dot, two to nine are a digit, more are a plus. Each lane counts its own items."""
    on_days = {1: 1, 3: 2, 5: 9, 7: 10}
    out = [transaction(day(1, number), "Fee", "1") for number, times in on_days.items() for _ in range(times)]
    clock = snapshot(day(1, 1), [*out, transaction(day(1, 3), "Refund", "1", "INCOME")])
    assert drawn(clock, 22)[1:3] == ["  in     │   ○", "  out    ●   2   9   +"]
    assert drawn(clock)[-1] == "         ● happened  ○ scheduled  2 several at once  │ now"


def test_earliest_day_with_the_lowest_balance_is_named() -> None:
    transactions = [
        transaction(day(1, 1), "Pay", "5", "INCOME"),
        transaction(day(1, 2), "Rent", "20"),
        transaction(day(1, 3), "Refund", "0.5", "INCOME"),
        transaction(day(1, 4), "Fee", "0.5"),
    ]
    assert "lowest −15.00 on 2027-01-02" in drawn(snapshot(day(1, 1), transactions))[-2]


def test_each_currency_has_a_curve_and_totals() -> None:
    clock = snapshot(
        day(1, 15),
        [
            transaction(day(1, 1), "Fee", "0.1", currency="USD"),
            transaction(day(1, 11), "Fee", "0.2", currency="USD"),
            transaction(day(1, 31), "Salary", "5", "INCOME", currency="EUR"),
        ],
    )
    lines = drawn(clock, 40)
    assert [line[2:5] for line in lines if line[2:5].isupper()] == ["USD", "EUR"]
    usd, eur = (line[9:] for line in lines if line[2:5].isupper())
    assert (usd[0], usd[-1], eur[0], eur[-1]) == ("█", "▁", "▁", "█")
    assert "         now −0.30" in lines
    assert "         lowest 0.00 at the start" in lines
