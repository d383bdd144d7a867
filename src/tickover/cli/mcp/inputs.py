"""Arguments of the tools, described for the model. The server checks their values."""

from typing import Annotated, Literal

from pydantic import Field
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


class TransactionInput(TypedDict, total=False):
    """Income or an expense. Everything except the category is required."""

    at: Timestamp
    name: str
    amount: Money
    currency: Currency
    type: Literal["INCOME", "EXPENSE"]
    category: str


class ContributionInput(TypedDict):
    """A payment towards a goal."""

    at: Timestamp
    amount: Money


class AddedContributionInput(ContributionInput):
    """A payment towards a goal that the clock already has."""

    goalId: Annotated[str, Field(description="The goal's ID, from show_clock. It starts with goal_.")]


class GoalInput(TypedDict, total=False):
    """A savings goal. Its name and target are required."""

    name: str
    targetAmount: Money
    initialAmount: float
    contributions: list[ContributionInput]


class BalanceInput(TypedDict, total=False):
    """The balance stays within bounds at every instant. The currency and at least one bound are required."""

    currency: Currency
    atLeast: float
    atMost: float


class GoalReachedInput(TypedDict):
    """A goal, by its name or ID, is reached at or before an instant."""

    goal: str
    by: Timestamp


class TotalInput(TypedDict, total=False):
    """The total of income or expenses stays within bounds in every period."""

    type: Literal["INCOME", "EXPENSE"]
    currency: Currency
    category: str
    per: Literal["DAY", "WEEK", "MONTH", "ALL"]
    atLeast: float
    atMost: float


class PostedInput(TypedDict, total=False):
    """A transaction with this name happens at or before an instant, `count` times (default 1)."""

    name: str
    by: Timestamp
    count: int


class ExpectationInput(TypedDict, total=False):
    """One expectation. It has exactly one member."""

    balance: BalanceInput
    goalReached: GoalReachedInput
    total: TotalInput
    posted: PostedInput
