"""Creating, advancing and viewing clocks."""

# mypy: disable-error-code=import-not-found, no-warn-return-any

from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import TypeVar
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import selectinload

from lab.bench.baselines.default.errors import Reason, RpcError
from lab.bench.baselines.default.models import Clock, Contribution, Goal, Transaction
from lab.bench.baselines.default.schemas import (
    AdvanceClock,
    ClockView,
    ContributionEntry,
    ContributionView,
    CreateClock,
    GoalView,
    TransactionEntry,
    TransactionView,
)

AnyEntry = TypeVar("AnyEntry", TransactionEntry, ContributionEntry)

_LIFE = timedelta(days=7)
_MAX_PERCENT = Decimal(10**15)


def create_clock(session: AsyncSession, user_id: UUID, params: CreateClock) -> Clock:
    clock = Clock(
        user_id=user_id,
        frozen_time=params.frozen_time,
        max_time=params.max_time,
        expires_at=datetime.now(UTC) + _LIFE,
        transactions=[
            Transaction(
                position=position,
                at=entry.at,
                name=entry.name,
                amount=entry.amount,
                currency=entry.currency,
                type=entry.type,
                category=entry.category,
            )
            for position, entry in enumerate(_in_order(params.transactions))
        ],
        goals=[
            Goal(
                position=position,
                name=goal.name,
                target_amount=goal.target_amount,
                initial_amount=goal.initial_amount,
                contributions=[
                    Contribution(position=index, at=entry.at, amount=entry.amount)
                    for index, entry in enumerate(_in_order(goal.contributions))
                ],
            )
            for position, goal in enumerate(params.goals)
        ],
    )
    session.add(clock)
    return clock


async def advance_clock(session: AsyncSession, user_id: UUID, params: AdvanceClock) -> Clock:
    clock = await session.scalar(
        select(Clock)
        .where(Clock.id == _key(params.id), Clock.user_id == user_id)
        .options(selectinload(Clock.transactions), selectinload(Clock.goals).selectinload(Goal.contributions))
        .with_for_update()
    )
    if clock is None:
        raise _not_found()
    if clock.expires_at <= datetime.now(UTC):
        raise RpcError(Reason.CLOCK_EXPIRED, "This clock has expired.")
    if params.frozen_time < clock.frozen_time:
        current = _timestamp(clock.frozen_time)
        raise RpcError(Reason.TIME_BEFORE_CURRENT, "A clock only moves forward.", currentFrozenTime=current)
    if params.frozen_time > clock.max_time:
        raise RpcError(Reason.TIME_AFTER_MAX, "That is after maxTime.", maxTime=_timestamp(clock.max_time))
    clock.frozen_time = params.frozen_time
    return clock


def _in_order(entries: list[AnyEntry]) -> list[AnyEntry]:
    """Sort by time, and by position for the same time."""
    return sorted(entries, key=lambda entry: entry.at)


def _key(id: str) -> UUID:
    try:
        return UUID(id.removeprefix("clock_"))
    except ValueError:
        raise _not_found() from None


def _not_found() -> RpcError:
    return RpcError(Reason.CLOCK_NOT_FOUND, "There is no clock of this id.")


def _timestamp(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")


def view(clock: Clock) -> ClockView:
    return ClockView(
        id=f"clock_{clock.id}",
        frozen_time=clock.frozen_time,
        max_time=clock.max_time,
        expires_at=clock.expires_at,
        transactions=[_transaction(item) for item in clock.transactions if item.at <= clock.frozen_time],
        pending_transactions=[_transaction(item) for item in clock.transactions if item.at > clock.frozen_time],
        goals=[_goal(goal, clock.frozen_time) for goal in clock.goals],
    )


def _transaction(item: Transaction) -> TransactionView:
    return TransactionView(
        id=f"txn_{item.id}",
        at=item.at,
        name=item.name,
        amount=item.amount,
        currency=item.currency,
        type=item.type,
        category=item.category,
    )


def _goal(goal: Goal, now: datetime) -> GoalView:
    posted = [item for item in goal.contributions if item.at <= now]
    upcoming = [item for item in goal.contributions if item.at > now]
    target = _decimal(goal.target_amount)
    current = sum((_decimal(item.amount) for item in posted), start=_decimal(goal.initial_amount))
    return GoalView(
        id=f"goal_{goal.id}",
        name=goal.name,
        target_amount=goal.target_amount,
        current_amount=float(current),
        remaining_amount=float(target - current),
        progress_percent=float(_percent(current, target)),
        contributions=[_contribution(item) for item in posted],
        upcoming_contributions=[_contribution(item) for item in upcoming],
    )


def _contribution(item: Contribution) -> ContributionView:
    return ContributionView(id=f"ctb_{item.id}", at=item.at, amount=item.amount)


def _decimal(amount: float) -> Decimal:
    """Return the number that the caller wrote: exactly 0.1, and not the nearest double."""
    return Decimal(str(amount))


def _percent(current: Decimal, target: Decimal) -> Decimal:
    """Round half up to two decimals. It is 100 only if the target is reached."""
    percent = min(current * 100 / target, _MAX_PERCENT).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return min(percent, Decimal("99.99")) if current < target else percent
