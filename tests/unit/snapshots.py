"""Clock snapshots for render tests, built without a server."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from tickover.api.clocks import Contribution, Goal, Snapshot, Transaction
from tickover.api.fields import TransactionType

ID = "clock_01a2d11f-0200-7129-903a-c1d45597fdf1"
NOW = datetime(2027, 1, 1, 12, tzinfo=UTC)
"""The real time."""
EXPIRES_AT = NOW + timedelta(days=6, hours=23, minutes=30)


def day(month: int, number: int, hour: int = 0, year: int = 2027) -> datetime:
    return datetime(year, month, number, hour, tzinfo=UTC)


def transaction(
    at: datetime, name: str, amount: str, type: TransactionType = "EXPENSE", currency: str = "EUR"
) -> Transaction:
    return Transaction(
        id=f"txn_{name}_{at}", at=at, name=name, amount=Decimal(amount), currency=currency, type=type,
        source="SIMULATED_TEST_CLOCK",
    )  # fmt: skip


def goal(
    frozen_time: datetime, name: str, target: str, initial: str = "0", contributions: Sequence[Contribution] = ()
) -> Goal:
    posted = [one for one in contributions if one.at <= frozen_time]
    current = Decimal(initial) + sum((one.amount for one in posted), Decimal(0))
    return Goal(
        id=f"goal_{name}", name=name, target_amount=Decimal(target), current_amount=current,
        remaining_amount=Decimal(target) - current,
        progress_percent=round(current * 100 / Decimal(target), 2).normalize(),
        contributions=posted, upcoming_contributions=[one for one in contributions if one.at > frozen_time],
    )  # fmt: skip


def contribution(at: datetime, amount: str) -> Contribution:
    return Contribution(f"ctb_{at}", at, Decimal(amount))


def snapshot(frozen_time: datetime, transactions: Sequence[Transaction] = (), goals: Sequence[Goal] = ()) -> Snapshot:
    """Return a clock at `frozen_time`."""
    return Snapshot(
        id=ID,
        status="READY",
        frozen_time=frozen_time,
        max_time=day(1, 1, year=2037),
        expires_at=EXPIRES_AT,
        transactions=[one for one in transactions if one.at <= frozen_time],
        pending_transactions=[one for one in transactions if one.at > frozen_time],
        goals=list(goals),
    )
