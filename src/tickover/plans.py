"""What a new clock is to hold, in a program's own types: datetimes, and amounts that lose nothing on their way."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from msgspec import UNSET, Struct, UnsetType, json

from tickover.core import moments
from tickover.core.results import TransactionType

InstantLike = datetime | str
"""An instant: a datetime with a time zone, or RFC 3339 text."""
Amount = Decimal | int | float


class _Planned(Struct, frozen=True, rename="camel", omit_defaults=True):
    pass


class PlannedTransaction(_Planned, frozen=True):
    at: datetime
    name: str
    amount: Decimal
    currency: str
    type: TransactionType
    category: str | UnsetType = UNSET


class PlannedContribution(_Planned, frozen=True):
    at: datetime
    amount: Decimal


class PlannedGoal(_Planned, frozen=True):
    name: str
    target_amount: Decimal
    initial_amount: Decimal = Decimal(0)
    contributions: Sequence[PlannedContribution] = ()


class Plan(_Planned, frozen=True):
    """All that createTestClock takes. Without `frozen_time` the clock starts at the server's own now."""

    frozen_time: datetime | UnsetType = UNSET
    transactions: Sequence[PlannedTransaction] = ()
    goals: Sequence[PlannedGoal] = ()

    def __post_init__(self) -> None:
        if self.frozen_time is not UNSET:
            to_instant(self.frozen_time)


def income(
    name: str, amount: Amount, currency: str, at: InstantLike, category: str | None = None
) -> PlannedTransaction:
    """Money that comes in."""
    return _transaction("INCOME", name, amount, currency, at, category)


def expense(
    name: str, amount: Amount, currency: str, at: InstantLike, category: str | None = None
) -> PlannedTransaction:
    """Money that goes out; its amount is positive all the same."""
    return _transaction("EXPENSE", name, amount, currency, at, category)


def contribution(amount: Amount, at: InstantLike) -> PlannedContribution:
    """Money that is put aside for a goal."""
    return PlannedContribution(at=to_instant(at), amount=to_exact_decimal(amount))


def goal(
    name: str, target: Amount, initial: Amount = 0, contributions: Sequence[PlannedContribution] = ()
) -> PlannedGoal:
    """Something to save for."""
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


def to_instant(when: InstantLike) -> datetime:
    """The instant in UTC; ValueError when it is none, as a datetime without a time zone is."""
    if isinstance(when, str):
        try:
            return moments.parse(when)
        except ValueError as error:
            raise ValueError(f"{when!r} {error}") from None
    if when.utcoffset() is None:
        raise ValueError(f"{when.isoformat()} has no time zone; say which, such as datetime(..., tzinfo=UTC)")
    try:
        return when.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{when.isoformat()} is not in the years 0001 to 9999 when written in UTC") from None


def to_exact_decimal(amount: Amount) -> Decimal:
    """The amount as a decimal; ValueError when it would not arrive as it is, because amounts travel as JSON numbers."""
    if isinstance(amount, bool) or not isinstance(amount, Decimal | int | float):
        raise ValueError(f"{amount!r} is no amount; give a Decimal, an int or a float")
    written = Decimal(repr(amount)) if isinstance(amount, float) else Decimal(amount)
    if not written.is_finite() or not _survives(written):
        raise ValueError(f"{amount} has more digits than a JSON number keeps, or is no number")
    return written


def _survives(amount: Decimal) -> bool:
    """Whether it is the shortest text of the double that a server reads it as."""
    try:
        return Decimal(repr(float(amount))) == amount
    except OverflowError:
        return False


encode_json: Final = json.Encoder(decimal_format="number").encode
"""Write parameters, a plan among them, as JSON."""
