"""Parameters of the clock operations: their types, fast checks, and faults."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from tickover.api import ids, timestamps
from tickover.api.errors import Fault, truncate
from tickover.api.limits import (
    DEFAULT_PAGE,
    MAX_ADDED,
    MAX_AMOUNT,
    MAX_CANCELLED,
    MAX_CATEGORY,
    MAX_CLOCK_NAME,
    MAX_CONTRIBUTIONS,
    MAX_GOALS,
    MAX_LABEL_NAME,
    MAX_LABEL_VALUE,
    MAX_LABELS,
    MAX_NAME,
    MAX_PAGE,
    MAX_TRANSACTIONS,
    SPAN_YEARS,
)
from tickover.api.timestamps import Instant
from tickover.server.domain.money import int_if_whole
from tickover.server.domain.params import Params, Text

_POSITIVE: Final = Meta(gt=0, le=MAX_AMOUNT)
_NOT_NEGATIVE: Final = Meta(ge=0, le=MAX_AMOUNT)

Name = Annotated[Text, Meta(min_length=1, max_length=MAX_NAME)]
Category = Annotated[Text, Meta(max_length=MAX_CATEGORY)]
# Only `explain` and the published schema use the pattern. `passes_fast_checks` checks all currencies at once, which is
# faster than a pattern in the decoder.
Currency = Annotated[
    str,
    Meta(
        min_length=3,
        max_length=3,
        description="three uppercase letters",
        extra_json_schema={"pattern": "^[A-Z]{3}$"},
    ),
]
PositiveAmount = Annotated[int, _POSITIVE] | Annotated[float, _POSITIVE]
InitialAmount = Annotated[int, _NOT_NEGATIVE] | Annotated[float, _NOT_NEGATIVE]
ClockName = Annotated[Text, Meta(min_length=1, max_length=MAX_CLOCK_NAME)]
# The pattern excludes a line break at the end, which `$` would allow.
LabelName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MAX_LABEL_NAME,
        pattern=r"^[A-Za-z0-9._/-]+(?!\n)$",
        description=f"1 to {MAX_LABEL_NAME} characters of A-Z, a-z, 0-9, '.', '_', '-' and '/'",
    ),
]
LabelValue = Annotated[Text, Meta(max_length=MAX_LABEL_VALUE)]
Labels = Annotated[dict[LabelName, LabelValue], Meta(max_length=MAX_LABELS)]
TransactionType = Literal["INCOME", "EXPENSE"]


class TransactionParams(Params, frozen=True):
    at: Instant
    name: Name
    amount: PositiveAmount
    currency: Currency
    type: TransactionType
    category: Category | UnsetType = UNSET


class ContributionParams(Params, frozen=True):
    at: Instant
    amount: PositiveAmount


class AddedContributionParams(ContributionParams, frozen=True, kw_only=True):
    goal_id: Text


ItemParams = TransactionParams | ContributionParams


class GoalParams(Params, frozen=True):
    name: Name
    target_amount: PositiveAmount
    initial_amount: InitialAmount = 0
    contributions: Annotated[list[ContributionParams], Meta(max_length=MAX_CONTRIBUTIONS)] = []


class CreateTestClockParams(Params, frozen=True):
    """The parameters of createTestClock."""

    frozen_time: Instant | UnsetType = UNSET
    transactions: Annotated[list[TransactionParams], Meta(max_length=MAX_TRANSACTIONS)] = []
    goals: Annotated[list[GoalParams], Meta(max_length=MAX_GOALS)] = []
    name: ClockName | UnsetType = UNSET
    labels: Labels | UnsetType = UNSET

    def passes_fast_checks(self, now: Instant) -> bool:
        start = now if self.frozen_time is UNSET else self.frozen_time
        ats = [item.at for item in self.transactions]
        for goal in self.goals:
            if goal.initial_amount > goal.target_amount:
                return False
            ats += [item.at for item in goal.contributions]
        return (
            abs(start.year - now.year) < SPAN_YEARS
            and (not ats or (start <= min(ats) and max(ats) <= timestamps.years_after(start)))
            and have_valid_currencies(self.transactions)
        )

    def faults(self, now: Instant) -> Iterator[Fault]:
        start = now if self.frozen_time is UNSET else self.frozen_time
        yield from initial_amount_faults(self.goals)
        if start is None:
            return
        earliest, latest = timestamps.years_after(now, -SPAN_YEARS), timestamps.years_after(now)
        if not earliest <= start <= latest:
            limits = f"{timestamps.write(earliest)} to {timestamps.write(latest)}"
            message = f"must be within {SPAN_YEARS} years of now ({limits})"
            yield Fault("frozenTime", "range", message, timestamps.write(start))
            return
        end = timestamps.years_after(start)
        yield from range_faults("transactions", self.transactions, start, end)
        for index, goal in enumerate(self.goals or ()):
            if goal is not None:
                yield from range_faults(f"goals[{index}].contributions", goal.contributions, start, end)


def have_valid_currencies(transactions: Sequence[TransactionParams]) -> bool:
    currencies = "".join([item.currency for item in transactions])
    return not currencies or (currencies.isascii() and currencies.isalpha() and currencies.isupper())


def initial_amount_faults(goals: Sequence[GoalParams], path: str = "goals") -> Iterator[Fault]:
    for index, goal in enumerate(goals or ()):
        if goal is None or goal.target_amount is None or goal.initial_amount is None:
            continue
        if goal.initial_amount > goal.target_amount:
            message = f"must not exceed targetAmount ({int_if_whole(goal.target_amount)})"
            yield Fault(f"{path}[{index}].initialAmount", "max", message, goal.initial_amount)


def range_faults(path: str, items: Sequence[ItemParams], start: Instant, end: Instant) -> Iterator[Fault]:
    for index, item in enumerate(items or ()):
        if item is None or item.at is None or start <= item.at <= end:
            continue
        message = f"must be between frozenTime and maxTime ({timestamps.write(start)} to {timestamps.write(end)})"
        yield Fault(f"{path}[{index}].at", "range", message, timestamps.write(item.at))


class AddParams(Params, frozen=True):
    """Items to add to a clock. Contributions are to goals that the clock already has."""

    transactions: Annotated[list[TransactionParams], Meta(max_length=MAX_ADDED)] = []
    goals: Annotated[list[GoalParams], Meta(max_length=MAX_ADDED)] = []
    contributions: Annotated[list[AddedContributionParams], Meta(max_length=MAX_ADDED)] = []


class AmendTestClockParams(Params, frozen=True):
    """The parameters of amendTestClock."""

    id: Text
    add: AddParams | UnsetType = UNSET
    cancel: Annotated[list[Text], Meta(max_length=MAX_CANCELLED)] | UnsetType = UNSET

    def passes_fast_checks(self, now: Instant) -> bool:
        valid = self.add is UNSET or have_valid_currencies(self.add.transactions)
        return valid and not list(self.faults(now))

    def faults(self, now: Instant) -> Iterator[Fault]:
        add = self.add if isinstance(self.add, AddParams) else AddParams()
        lists = (self.cancel, add.transactions, add.goals, add.contributions)
        # Invalid members are None. They have faults of their own.
        if self.add is not None and all(each is UNSET or each == [] for each in lists):
            yield Fault("add", "required", "add or cancel at least one item")
        yield from initial_amount_faults(add.goals, "add.goals")


class AdvanceTestClockParams(Params, frozen=True):
    """The parameters of advanceTestClock."""

    id: Text
    frozen_time: Instant


class GetTestClockParams(Params, frozen=True):
    """The parameters of getTestClock. With `at`, the result is a preview."""

    id: Text
    at: Instant | UnsetType = UNSET
    details: bool = False


class ListTestClocksParams(Params, frozen=True):
    """The parameters of listTestClocks."""

    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = DEFAULT_PAGE
    cursor: Text | UnsetType = UNSET
    labels: Labels = {}
    details: bool = False

    def faults(self, now: Instant) -> Iterator[Fault]:
        if isinstance(self.cursor, str) and ids.read_cursor(self.cursor) is None:
            message = "must be a nextCursor from a listTestClocks result"
            yield Fault("cursor", "format", message, truncate(self.cursor))


class DeleteTestClockParams(Params, frozen=True):
    """The parameters of deleteTestClock."""

    id: Text


class ForkTestClockParams(Params, frozen=True):
    """The parameters of forkTestClock."""

    id: Text
    at: Instant | UnsetType = UNSET
    name: ClockName | UnsetType = UNSET
    labels: Labels | UnsetType = UNSET


class UpdateTestClockParams(Params, frozen=True):
    """The parameters of updateTestClock. None removes a member."""

    id: Text
    name: ClockName | None | UnsetType = UNSET
    labels: Labels | None | UnsetType = UNSET
