"""Expectations about a clock's money: parameters of checkTestClock, and functions that build and describe them."""

from datetime import datetime
from decimal import Decimal
from typing import Literal

from msgspec import UNSET, Struct, UnsetType, field

from tickover.api import timestamps
from tickover.api.arguments import Amount, InstantLike, to_exact_decimal, to_instant
from tickover.api.results import TransactionType

Period = Literal["DAY", "WEEK", "MONTH", "ALL"]


class _Rule(Struct, frozen=True, rename="camel", omit_defaults=True):
    pass


class BalanceRule(_Rule, frozen=True):
    """The balance stays within bounds at every instant from `from_` to `until`."""

    currency: str
    at_least: Decimal | UnsetType = UNSET
    at_most: Decimal | UnsetType = UNSET
    from_: datetime | UnsetType = field(default=UNSET, name="from")
    until: datetime | UnsetType = UNSET

    def __str__(self) -> str:
        since = "" if self.from_ is UNSET else f" from {timestamps.write(self.from_)}"
        until = "" if self.until is UNSET else f" until {timestamps.write(self.until)}"
        return f"the {self.currency} balance is {_bounds(self.at_least, self.at_most)}{since}{until}"


class GoalReachedRule(_Rule, frozen=True):
    """A goal is reached at or before `by`."""

    goal: str
    by: datetime

    def __str__(self) -> str:
        return f'goal "{self.goal}" is reached by {timestamps.write(self.by)}'


class TotalRule(_Rule, frozen=True):
    """The total of transactions stays within bounds in every period."""

    type: TransactionType
    currency: str
    per: Period
    category: str | UnsetType = UNSET
    at_least: Decimal | UnsetType = UNSET
    at_most: Decimal | UnsetType = UNSET

    def __str__(self) -> str:
        category = "" if self.category is UNSET else f' for "{self.category}"'
        period = "" if self.per == "ALL" else f" in every {self.per.lower()}"
        bounds = _bounds(self.at_least, self.at_most)
        return f"the total {self.type.lower()} in {self.currency}{category} is {bounds}{period}"


class PostedRule(_Rule, frozen=True):
    """At least `count` transactions with this name are posted at or before `by`."""

    name: str
    by: datetime
    count: int = 1

    def __str__(self) -> str:
        times = "" if self.count == 1 else f" {self.count} times"
        return f'"{self.name}" is posted{times} by {timestamps.write(self.by)}'


class Expectation(_Rule, frozen=True):
    """One expectation. It has exactly one rule. Its text is a sentence."""

    balance: BalanceRule | UnsetType = UNSET
    goal_reached: GoalReachedRule | UnsetType = UNSET
    total: TotalRule | UnsetType = UNSET
    posted: PostedRule | UnsetType = UNSET

    def __str__(self) -> str:
        text = "".join(str(rule) for rule in (self.balance, self.goal_reached, self.total, self.posted) if rule)
        return f"{text[0].upper()}{text[1:]}."


def never_below(
    currency: str, amount: Amount, *, from_: InstantLike | None = None, until: InstantLike | None = None
) -> Expectation:
    """Expect that the balance is at least `amount` at every instant of the range."""
    rule = BalanceRule(currency, at_least=to_exact_decimal(amount), from_=_optional(from_), until=_optional(until))
    return Expectation(balance=rule)


def never_above(
    currency: str, amount: Amount, *, from_: InstantLike | None = None, until: InstantLike | None = None
) -> Expectation:
    """Expect that the balance is at most `amount` at every instant of the range."""
    rule = BalanceRule(currency, at_most=to_exact_decimal(amount), from_=_optional(from_), until=_optional(until))
    return Expectation(balance=rule)


def goal_reached(goal: str, by: InstantLike) -> Expectation:
    """Expect that a goal, named by its ID or its unique name, is reached at or before `by`."""
    return Expectation(goal_reached=GoalReachedRule(goal, to_instant(by)))


def total(
    type: TransactionType,
    currency: str,
    *,
    per: Period = "ALL",
    category: str | None = None,
    at_least: Amount | None = None,
    at_most: Amount | None = None,
) -> Expectation:
    """Expect that the total of incomes or expenses is within bounds: in every day, week or month in UTC, or in all."""
    if at_least is None and at_most is None:
        raise ValueError("total requires at_least, at_most or both")
    rule = TotalRule(
        type,
        currency,
        per,
        category=UNSET if category is None else category,
        at_least=UNSET if at_least is None else to_exact_decimal(at_least),
        at_most=UNSET if at_most is None else to_exact_decimal(at_most),
    )
    return Expectation(total=rule)


def posted(name: str, by: InstantLike, count: int = 1) -> Expectation:
    """Expect that at least `count` transactions with this name are posted at or before `by`."""
    return Expectation(posted=PostedRule(name, to_instant(by), count))


def _optional(value: InstantLike | None) -> datetime | UnsetType:
    return UNSET if value is None else to_instant(value)


def _bounds(at_least: Decimal | UnsetType, at_most: Decimal | UnsetType) -> str:
    bounds = []
    if at_least is not UNSET:
        bounds.append(f"never below {at_least:f}")
    if at_most is not UNSET:
        bounds.append(f"never above {at_most:f}")
    return " and ".join(bounds)
