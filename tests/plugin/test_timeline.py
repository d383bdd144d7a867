"""A clock as plain text, as the report of a failed test shows it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from tickover.core.results import Contribution, Goal, Snapshot, Transaction, TransactionType
from tickover.pytest_plugin.timeline import draw

NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    return NEW_YEAR + timedelta(days=number)


def money(number: int, amount: str, name: str = "Tea", type: TransactionType = "EXPENSE") -> Transaction:
    return Transaction(
        id=f"transaction_{number}", at=day(number), name=name, amount=Decimal(amount), currency="EUR", type=type,
        source="SIMULATED_TEST_CLOCK",
    )  # fmt: skip


def clock(
    happened: Sequence[Transaction] = (), pending: Sequence[Transaction] = (), goals: Sequence[Goal] = ()
) -> Snapshot:
    return Snapshot(
        id="clock_1", status="READY", frozen_time=day(10), max_time=day(3652), expires_at=day(7),
        transactions=happened, pending_transactions=pending, goals=goals,
    )  # fmt: skip


def test_what_happened_comes_before_what_is_scheduled_each_in_order_of_time() -> None:
    trip = Goal(
        id="goal_1", name="Trip", target_amount=Decimal(3000), current_amount=Decimal(310),
        remaining_amount=Decimal(2690), progress_percent=Decimal("10.33"),
        contributions=[Contribution("contribution_1", day(2), Decimal(310))],
        upcoming_contributions=[Contribution("contribution_2", day(12), Decimal("0.5"))],
    )  # fmt: skip
    happened = [money(1, "1150", "Rent"), money(3, "2800.10", "Salary", "INCOME")]
    assert draw(clock(happened, [money(11, "3.50")], [trip])).splitlines() == [
        "clock_1 at 2027-01-11T00:00:00Z",
        "  ● 2027-01-02T00:00:00Z     -1150 EUR  Rent",
        "  ● 2027-01-03T00:00:00Z      +310      Trip (goal)",
        "  ● 2027-01-04T00:00:00Z  +2800.10 EUR  Salary",
        "  ○ 2027-01-12T00:00:00Z     -3.50 EUR  Tea",
        "  ○ 2027-01-13T00:00:00Z     +0.50      Trip (goal)",
    ]


def test_a_clock_without_anything_says_so() -> None:
    assert draw(clock()).splitlines()[1:] == ["  (nothing has happened, and nothing is scheduled)"]


@pytest.mark.parametrize(("count", "first", "last"), [(6, "day 0", "day 5"), (7, "… 1 earlier", "day 6")])
def test_of_what_happened_the_last_is_shown(count: int, first: str, last: str) -> None:
    lines = draw(clock([money(number, "1", f"day {number}") for number in range(count)])).splitlines()[1:]
    assert (lines[0].endswith(first), lines[-1].endswith(last)) == (True, True)
    assert len([line for line in lines if "●" in line]) == 6


@pytest.mark.parametrize(("count", "last"), [(6, "-1 EUR  day 16"), (7, "… 1 later, the last at 2027-01-18T00:00:00Z")])
def test_of_what_is_scheduled_the_next_is_shown(count: int, last: str) -> None:
    lines = draw(clock(pending=[money(11 + number, "1", f"day {11 + number}") for number in range(count)])).splitlines()
    assert lines[1].endswith("day 11")
    assert lines[-1].endswith(last)
    assert len([line for line in lines if "○" in line]) == 6


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("n" * 40, "n" * 40),
        ("n" * 41, "n" * 39 + "…"),
        ("café 🏠", "café 🏠"),
        ("\x1b[2J", "'\\x1b[2J'"),
        ("two\nlines", "'two\\nlines'"),
    ],
)
def test_a_name_is_short_and_harmless(name: str, shown: str) -> None:
    assert draw(clock([money(1, "1", name)])).splitlines()[1:] == [f"  ● 2027-01-02T00:00:00Z  -1 EUR  {shown}"]


@pytest.mark.parametrize(
    ("amount", "shown"), [("1E+9", "1000000000"), ("88.6", "88.60"), ("88.605", "88.605"), ("0.0000001", "0.0000001")]
)
def test_amounts_are_written_out(amount: str, shown: str) -> None:
    assert f"-{shown} EUR" in draw(clock([money(1, amount)]))
