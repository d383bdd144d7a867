"""Plans for new clocks: parameters of createTestClock with exact amounts, and functions that build them."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Final, Generic, TypedDict, TypeVar

from msgspec import UNSET, UnsetType, json, structs
from msgspec.structs import force_setattr

from tickover.api.clocks import (
    AccountEntry,
    ContributionEntry,
    GoalEntry,
    ScheduleEntry,
    TransactionEntry,
    TransferEntry,
)
from tickover.api.command_arguments import Amount, InstantLike, to_exact_decimal, to_instant
from tickover.api.expectations import Expectation
from tickover.api.fields import AccountType, Result, doc

PlannedTransaction = TransactionEntry[Decimal]
PlannedGoal = GoalEntry[Decimal, Decimal]
PlannedAccount = AccountEntry[Decimal]
PlannedTransfer = TransferEntry[Decimal]


class PlannedContribution(ContributionEntry[Decimal], frozen=True):
    """A payment towards a goal."""

    goal: str | UnsetType = UNSET
    """The ID or the name of a goal, if the contribution is added to a clock that has the goal already."""


PlannedItem = PlannedTransaction | PlannedTransfer | PlannedGoal | PlannedContribution
"""An item that can be added to a clock."""


class Plan(ScheduleEntry[Decimal, Decimal, Decimal, Decimal, Decimal], frozen=True):
    """A clock to create."""

    opening_balances: Mapping[str, Amount] | UnsetType = UNSET  # type: ignore[assignment]
    expectations: Sequence[Expectation] = ()

    def __post_init__(self) -> None:
        if self.frozen_time is not UNSET:
            force_setattr(self, "frozen_time", to_instant(self.frozen_time))
        if self.opening_balances is not UNSET:
            force_setattr(self, "opening_balances", to_exact_balances(self.opening_balances))
        # An empty list of expectations is invalid in a request. An empty tuple is left out.
        force_setattr(self, "expectations", tuple(self.expectations))


class PlanParts(TypedDict, total=False):
    """The parts of a plan that a call can have instead of a plan."""

    frozen_time: InstantLike
    transactions: Sequence[PlannedTransaction]
    goals: Sequence[PlannedGoal]
    accounts: Sequence[PlannedAccount]
    transfers: Sequence[PlannedTransfer]
    opening_balances: Mapping[str, Amount]
    expectations: Sequence[Expectation]


ScheduleT = TypeVar("ScheduleT")
ExpectationT = TypeVar("ExpectationT")


class ExpandedScenario(Result, Generic[ScheduleT, ExpectationT], frozen=True):
    """The parameters of a clock, and its expectations."""

    params: ScheduleT
    expectations: Annotated[Sequence[ExpectationT], doc("The expectations of the scenario, as in `checkTestClock`.")]


class StatementScenario(Result, frozen=True):
    """A scenario with the payments of a bank's file."""

    text: Annotated[str, doc("The scenario in TOML.")]


def income(
    name: str, amount: Amount, currency: str, at: InstantLike, category: str | None = None, account: str | None = None
) -> PlannedTransaction:
    """Return a transaction of type INCOME. `account` is the key of an account of the clock."""
    return structs.replace(expense(name, amount, currency, at, category, account), type="INCOME")


def expense(  # noqa: PLR0913 - one parameter for each member
    name: str,
    amount: Amount,
    currency: str,
    at: InstantLike,
    category: str | None = None,
    account: str | None = None,
    *,
    authorized_at: InstantLike | None = None,
    authorized_amount: Amount | None = None,
    authorized_name: str | None = None,
) -> PlannedTransaction:
    """Return a transaction of type EXPENSE. Its amount is positive. A bank shows it as pending from `authorized_at`."""
    return TransactionEntry(
        at=to_instant(at),
        name=name,
        amount=to_exact_decimal(amount),
        currency=currency,
        type="EXPENSE",
        category=UNSET if category is None else category,
        account=UNSET if account is None else account,
        authorized_at=UNSET if authorized_at is None else to_instant(authorized_at),
        authorized_amount=UNSET if authorized_amount is None else to_exact_decimal(authorized_amount),
        authorized_name=UNSET if authorized_name is None else authorized_name,
    )


def account(
    key: str, name: str, currency: str, type: AccountType = "CHECKING", opening_balance: Amount = 0
) -> PlannedAccount:
    """Return an account. Transactions and transfers name it by its key."""
    return AccountEntry(key, name, currency, type, to_exact_decimal(opening_balance))


def transfer(
    name: str, amount: Amount, from_: str, to: str, at: InstantLike, received: Amount | None = None
) -> PlannedTransfer:
    """Return a transfer between accounts. Between currencies, `received` is the amount that arrives."""
    arrives = UNSET if received is None else to_exact_decimal(received)
    return TransferEntry(to_instant(at), name, from_, to, to_exact_decimal(amount), arrives)


def contribution(amount: Amount, at: InstantLike, goal: str | None = None) -> PlannedContribution:
    """Return a contribution to a goal. Pass `goal`, its ID or name, to add it to a clock that has the goal."""
    return PlannedContribution(at=to_instant(at), amount=to_exact_decimal(amount), goal=UNSET if goal is None else goal)


def goal(
    name: str, target: Amount, initial: Amount = 0, contributions: Sequence[PlannedContribution] = ()
) -> PlannedGoal:
    """Return a savings goal."""
    if any(item.goal is not UNSET for item in contributions):
        raise ValueError("contributions of a new goal have no goal; pass it only to add them to a clock")
    return GoalEntry(
        name=name,
        target_amount=to_exact_decimal(target),
        initial_amount=to_exact_decimal(initial),
        contributions=tuple(contributions),
    )


def to_exact_balances(balances: Mapping[str, Amount]) -> dict[str, Decimal]:
    """Convert opening balances, one for each currency, to decimals."""
    return {currency: to_exact_decimal(amount) for currency, amount in balances.items()}


encode_json: Final = json.Encoder(decimal_format="number").encode
"""Encode parameters, such as those of a plan, as JSON."""
