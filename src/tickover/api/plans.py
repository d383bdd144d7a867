"""Plans for new clocks: parameters of createTestClock as Python types, with datetimes and exact amounts."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from msgspec import UNSET, Struct, UnsetType, json

from tickover.api import timestamps
from tickover.api.results import TransactionType

InstantLike = datetime | str
"""A datetime with a time zone, or an RFC 3339 string."""
Amount = Decimal | int | float


class _PlanStruct(Struct, frozen=True, rename="camel", omit_defaults=True):
    pass


class PlannedTransaction(_PlanStruct, frozen=True):
    at: datetime
    name: str
    amount: Decimal
    currency: str
    type: TransactionType
    category: str | UnsetType = UNSET


class PlannedContribution(_PlanStruct, frozen=True):
    at: datetime
    amount: Decimal


class PlannedGoal(_PlanStruct, frozen=True):
    name: str
    target_amount: Decimal
    initial_amount: Decimal = Decimal(0)
    contributions: Sequence[PlannedContribution] = ()


class Plan(_PlanStruct, frozen=True):
    """The parameters of createTestClock. Without `frozen_time` the clock starts at the server's current time."""

    frozen_time: datetime | UnsetType = UNSET
    transactions: Sequence[PlannedTransaction] = ()
    goals: Sequence[PlannedGoal] = ()

    def __post_init__(self) -> None:
        if self.frozen_time is not UNSET:
            to_instant(self.frozen_time)


def income(
    name: str, amount: Amount, currency: str, at: InstantLike, category: str | None = None
) -> PlannedTransaction:
    """Return a transaction of type INCOME."""
    return _transaction("INCOME", name, amount, currency, at, category)


def expense(
    name: str, amount: Amount, currency: str, at: InstantLike, category: str | None = None
) -> PlannedTransaction:
    """Return a transaction of type EXPENSE. Its amount is positive."""
    return _transaction("EXPENSE", name, amount, currency, at, category)


def contribution(amount: Amount, at: InstantLike) -> PlannedContribution:
    """Return a contribution to a goal."""
    return PlannedContribution(at=to_instant(at), amount=to_exact_decimal(amount))


def goal(
    name: str, target: Amount, initial: Amount = 0, contributions: Sequence[PlannedContribution] = ()
) -> PlannedGoal:
    """Return a savings goal."""
    return PlannedGoal(
        name=name,
        target_amount=to_exact_decimal(target),
        initial_amount=to_exact_decimal(initial),
        contributions=tuple(contributions),
    )


def _transaction(
    type: TransactionType, name: str, amount: Amount, currency: str, at: InstantLike, category: str | None
) -> PlannedTransaction:
    return PlannedTransaction(
        at=to_instant(at),
        name=name,
        amount=to_exact_decimal(amount),
        currency=currency,
        type=type,
        category=UNSET if category is None else category,
    )


def to_instant(value: InstantLike) -> datetime:
    """Convert to a datetime in UTC. Raise ValueError if the value is invalid or has no time zone."""
    if isinstance(value, str):
        try:
            return timestamps.parse(value)
        except ValueError as error:
            raise ValueError(f"{value!r} {error}") from None
    if value.utcoffset() is None:
        raise ValueError(f"{value.isoformat()} has no time zone; add one, for example datetime(..., tzinfo=UTC)")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{value.isoformat()} is outside of the years 0001 to 9999 in UTC") from None


def to_exact_decimal(amount: Amount) -> Decimal:
    """Convert to a decimal. Raise ValueError if a JSON number can't represent the amount exactly."""
    if isinstance(amount, bool) or not isinstance(amount, Decimal | int | float):
        raise ValueError(f"invalid amount {amount!r}; use a Decimal, an int or a float")
    decimal = Decimal(repr(amount)) if isinstance(amount, float) else Decimal(amount)
    if not decimal.is_finite() or not _is_exact_double(decimal):
        raise ValueError(f"{amount} is not finite or has too many digits for a JSON number")
    return decimal


def _is_exact_double(amount: Decimal) -> bool:
    """Return whether the amount is the shortest decimal form of a double."""
    try:
        return Decimal(repr(float(amount))) == amount
    except OverflowError:
        return False


encode_json: Final = json.Encoder(decimal_format="number").encode
"""Encode parameters, such as a plan, as JSON."""
