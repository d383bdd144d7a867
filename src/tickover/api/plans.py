"""Plans for new clocks: parameters of createTestClock as Python types, with datetimes and exact amounts."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final

from msgspec import UNSET, Struct, UnsetType, json, structs
from msgspec.structs import force_setattr

from tickover.api.arguments import Amount, InstantLike, to_exact_decimal, to_instant
from tickover.api.expectations import Expectation
from tickover.api.results import Transaction, TransactionType

OPENING_BALANCE: Final = "Opening balance"
"""The category of a transaction at a clock's start that is the balance before it: neither income nor expense."""


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
    goal: str | UnsetType = UNSET
    """The ID or the name of a goal, if the contribution is added to a clock that has the goal already."""


class PlannedGoal(_PlanStruct, frozen=True):
    name: str
    target_amount: Decimal
    initial_amount: Decimal = Decimal(0)
    contributions: Sequence[PlannedContribution] = ()


PlannedItem = PlannedTransaction | PlannedGoal | PlannedContribution
"""An item that can be added to a clock."""


class CreateClockParams(_PlanStruct, frozen=True):
    """The parameters of createTestClock. Without `frozen_time` the clock starts at the server's current time."""

    frozen_time: datetime | UnsetType = UNSET
    transactions: Sequence[PlannedTransaction] = ()
    goals: Sequence[PlannedGoal] = ()
    name: str | UnsetType = UNSET
    labels: Mapping[str, str] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.frozen_time is not UNSET:
            force_setattr(self, "frozen_time", to_instant(self.frozen_time))


class Plan(CreateClockParams, frozen=True):
    """A clock to create, with the opening balances and expectations to check it with. The server stores neither."""

    opening: Mapping[str, Amount] = {}
    expectations: Sequence[Expectation] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        force_setattr(self, "opening", to_exact_balances(self.opening))

    @property
    def params(self) -> CreateClockParams:
        """The parameters of createTestClock."""
        return CreateClockParams(*(getattr(self, name) for name in CreateClockParams.__struct_fields__))


class ExpandedScenario(_PlanStruct, frozen=True):
    """The result of expandScenario."""

    params: CreateClockParams
    expectations: Sequence[Expectation] = ()

    @property
    def plan(self) -> Plan:
        return Plan(**structs.asdict(self.params), expectations=self.expectations)


def is_opening_balance(transaction: PlannedTransaction | Transaction) -> bool:
    """Return whether a transaction has the category of opening balances. Only one at the clock's start is one."""
    return transaction.category == OPENING_BALANCE


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


def contribution(amount: Amount, at: InstantLike, goal: str | None = None) -> PlannedContribution:
    """Return a contribution to a goal. Pass `goal`, its ID or name, to add it to a clock that has the goal."""
    return PlannedContribution(at=to_instant(at), amount=to_exact_decimal(amount), goal=UNSET if goal is None else goal)


def goal(
    name: str, target: Amount, initial: Amount = 0, contributions: Sequence[PlannedContribution] = ()
) -> PlannedGoal:
    """Return a savings goal."""
    if any(item.goal is not UNSET for item in contributions):
        raise ValueError("contributions of a new goal have no goal; pass it only to add them to a clock")
    return PlannedGoal(
        name=name,
        target_amount=to_exact_decimal(target),
        initial_amount=to_exact_decimal(initial),
        contributions=tuple(contributions),
    )


def to_exact_balances(balances: Mapping[str, Amount]) -> dict[str, Decimal]:
    """Convert opening balances, one for each currency, to decimals."""
    return {currency: to_exact_decimal(amount) for currency, amount in balances.items()}


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


encode_json: Final = json.Encoder(decimal_format="number").encode
"""Encode parameters, such as those of a plan, as JSON."""
