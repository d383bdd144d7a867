"""Parameters of the operations on balances, events and expectations."""

from collections.abc import Iterator
from typing import Annotated, Final

from msgspec import UNSET, Meta, UnsetType, field

from tickover.api.errors import Fault, truncate
from tickover.api.limits import (
    DEFAULT_EVENTS,
    MAX_BOUND,
    MAX_EVENTS,
    MAX_EXPECTATIONS,
    MAX_OPENING_BALANCE,
    MAX_OPENING_BALANCES,
    MAX_POSTED_COUNT,
)
from tickover.api.timestamps import Instant
from tickover.server.domain.clock_params import Category, Currency, Name, TransactionType
from tickover.server.domain.events import read_cursor
from tickover.server.domain.params import Params, Text
from tickover.server.domain.totals import Per

_OPENING: Final = Meta(ge=-MAX_OPENING_BALANCE, le=MAX_OPENING_BALANCE)
_BOUND: Final = Meta(ge=-MAX_BOUND, le=MAX_BOUND)
_TOTAL: Final = Meta(ge=0, le=MAX_BOUND)

OpeningBalance = Annotated[int, _OPENING] | Annotated[float, _OPENING]
OpeningBalances = Annotated[dict[Currency, OpeningBalance], Meta(max_length=MAX_OPENING_BALANCES)]
Bound = Annotated[int, _BOUND] | Annotated[float, _BOUND]
TotalBound = Annotated[int, _TOTAL] | Annotated[float, _TOTAL]


def is_currency(text: str) -> bool:
    return text.isascii() and text.isalpha() and text.isupper()


class GetTestClockBalancesParams(Params, frozen=True):
    """The parameters of getTestClockBalances."""

    id: Text
    at: Instant | UnsetType = UNSET
    opening_balances: OpeningBalances = {}

    def passes_fast_checks(self, now: Instant) -> bool:
        return all(map(is_currency, self.opening_balances))


class ListTestClockEventsParams(Params, frozen=True):
    """The parameters of listTestClockEvents."""

    id: Text
    after: Instant | UnsetType = UNSET
    until: Instant | UnsetType = UNSET
    opening_balances: OpeningBalances = {}
    limit: Annotated[int, Meta(ge=1, le=MAX_EVENTS)] = DEFAULT_EVENTS
    cursor: Text | UnsetType = UNSET

    def passes_fast_checks(self, now: Instant) -> bool:
        return all(map(is_currency, self.opening_balances)) and not list(self.faults(now))

    def faults(self, now: Instant) -> Iterator[Fault]:
        if isinstance(self.cursor, str) and read_cursor(self.cursor) is None:
            message = "must be a nextCursor from a listTestClockEvents result"
            yield Fault("cursor", "format", message, truncate(self.cursor))


class BalanceExpectation(Params, frozen=True):
    """The balance stays within bounds at every instant from `from` to `until`."""

    currency: Currency
    at_least: Bound | UnsetType = UNSET
    at_most: Bound | UnsetType = UNSET
    from_: Instant | UnsetType = field(default=UNSET, name="from")
    until: Instant | UnsetType = UNSET


class GoalReachedExpectation(Params, frozen=True):
    """A goal is reached at or before `by`."""

    goal: Name
    by: Instant


class TotalExpectation(Params, frozen=True):
    """The total of transactions stays within bounds in every period."""

    type: TransactionType
    currency: Currency
    per: Per
    category: Category | UnsetType = UNSET
    at_least: TotalBound | UnsetType = UNSET
    at_most: TotalBound | UnsetType = UNSET


class PostedExpectation(Params, frozen=True):
    """At least `count` transactions with this name are posted at or before `by`."""

    name: Name
    by: Instant
    count: Annotated[int, Meta(ge=1, le=MAX_POSTED_COUNT)] = 1


class Expectation(Params, frozen=True):
    """One expectation. It has exactly one member."""

    balance: BalanceExpectation | UnsetType = UNSET
    goal_reached: GoalReachedExpectation | UnsetType = UNSET
    total: TotalExpectation | UnsetType = UNSET
    posted: PostedExpectation | UnsetType = UNSET

    def faults_at(self, path: str) -> Iterator[Fault]:
        given = [self.balance, self.goal_reached, self.total, self.posted]
        if sum(member is not UNSET for member in given) != 1:
            yield Fault(path, "oneOf", "must have exactly one of balance, goalReached, total and posted")
        for name, member in (("balance", self.balance), ("total", self.total)):
            if isinstance(member, BalanceExpectation | TotalExpectation) and (
                member.at_least is UNSET and member.at_most is UNSET
            ):
                yield Fault(f"{path}.{name}", "bound", "must have atLeast, atMost or both")


class CheckTestClockParams(Params, frozen=True):
    """The parameters of checkTestClock."""

    id: Text
    expectations: Annotated[list[Expectation], Meta(min_length=1, max_length=MAX_EXPECTATIONS)]
    until: Instant | UnsetType = UNSET
    opening_balances: OpeningBalances = {}

    def passes_fast_checks(self, now: Instant) -> bool:
        members = [member for each in self.expectations for member in (each.balance, each.total)]
        currencies = [member.currency for member in members if not isinstance(member, UnsetType)]
        return all(map(is_currency, [*currencies, *self.opening_balances])) and not list(self.faults(now))

    def faults(self, now: Instant) -> Iterator[Fault]:
        for index, expectation in enumerate(self.expectations or ()):
            if expectation is not None:
                yield from expectation.faults_at(f"expectations[{index}]")
