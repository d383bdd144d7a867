"""Arguments of the tools, described for the model. The server checks their values."""

from typing import Annotated, Final, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

ClockId = Annotated[str, Field(description="The clock's ID. It starts with clock_.")]
Time = Annotated[str, Field(description="RFC 3339 with an offset, such as 2027-01-31T09:00:00Z, or a date in UTC.")]
Timestamp = Annotated[str, Field(description="RFC 3339 with an offset, such as 2027-01-31T09:00:00Z.")]
Money = Annotated[float, Field(description="A positive amount, such as 1150.50.")]
Currency = Annotated[str, Field(description="Three uppercase letters, such as EUR.")]
OpeningBalances = Annotated[
    dict[str, float] | None, Field(description="The balance of each currency before the clock's start: {'EUR': 1200}.")
]
Labels = Annotated[dict[str, str] | None, Field(description="Your own labels, for example {'test': 'overdraft'}.")]

_STRICT: Final = ConfigDict(extra="forbid")
"""A misspelled member is an error."""


@with_config(_STRICT)
class TransactionInput(TypedDict):
    """Income or an expense. At the clock's start, the category "Opening balance" makes it neither."""

    at: Timestamp
    name: str
    amount: Money
    currency: Currency
    type: Literal["INCOME", "EXPENSE"]
    category: NotRequired[str]


@with_config(_STRICT)
class ContributionInput(TypedDict):
    """A payment towards a goal."""

    at: Timestamp
    amount: Money


@with_config(_STRICT)
class AddedContributionInput(ContributionInput):
    """A payment towards a goal that the clock already has."""

    goalId: Annotated[str, Field(description="The goal's ID, from show_clock. It starts with goal_.")]


@with_config(_STRICT)
class GoalInput(TypedDict):
    """A savings goal."""

    name: str
    targetAmount: Money
    initialAmount: NotRequired[float]
    contributions: NotRequired[list[ContributionInput]]


# `from` is a keyword, so it can't be a member of a class.
_RangeInput = TypedDict("_RangeInput", {"from": NotRequired[Timestamp], "until": NotRequired[Timestamp]})


@with_config(_STRICT)
class BalanceInput(_RangeInput, TypedDict):
    """The balance stays within bounds at every instant of a range. At least one bound is required."""

    currency: Currency
    atLeast: NotRequired[float]
    atMost: NotRequired[float]


@with_config(_STRICT)
class GoalReachedInput(TypedDict):
    """A goal, by its name or ID, is reached at or before an instant."""

    goal: str
    by: Timestamp


@with_config(_STRICT)
class TotalInput(TypedDict):
    """The total of income or expenses stays within bounds in every period."""

    type: Literal["INCOME", "EXPENSE"]
    currency: Currency
    category: NotRequired[str]
    per: Literal["DAY", "WEEK", "MONTH", "ALL"]
    atLeast: NotRequired[float]
    atMost: NotRequired[float]


@with_config(_STRICT)
class PostedInput(TypedDict):
    """A transaction with this name happens at or before an instant, `count` times (default 1)."""

    name: str
    by: Timestamp
    count: NotRequired[int]


@with_config(_STRICT)
class ExpectationInput(TypedDict, total=False):
    """One expectation. It has exactly one member."""

    balance: BalanceInput
    goalReached: GoalReachedInput
    total: TotalInput
    posted: PostedInput
