"""Tests of the totals and curves of the rendered timeline."""

from tests.unit.snapshots import day, snapshot, transaction
from tickover.api.clocks import Snapshot
from tickover.cli.render.timeline_text import timeline
from tickover.client.timeline import clock_items, opening_books


def drawn(clock: Snapshot, width: int = 80) -> list[str]:
    return [line.plain for line in timeline(clock_items(clock), opening_books(clock), clock.frozen_time, width)]


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
