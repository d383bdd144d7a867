"""The limits on the number of items of a scenario."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from tickover.api.limits import (
    MAX_ACCOUNTS,
    MAX_CLOCK_GOALS,
    MAX_CLOCK_TRANSACTIONS,
    MAX_CONTRIBUTIONS,
    MAX_EXPECTATIONS,
    MAX_GOAL_CONTRIBUTIONS,
    MAX_GOALS,
    MAX_TRANSACTIONS,
    MAX_TRANSFERS,
)


class Limit(Struct, frozen=True):
    """The maximum number of items of one kind."""

    items: str
    maximum: int
    owner: str
    max_nominal: int = 0
    """Dates before adjustments. It bounds the time that a plan takes."""

    def error_text(self, count: int, where: str = "") -> str:
        return f"{count:,} {self.items}{where} exceed the limit of {self.maximum:,} per {self.owner}"


ACCOUNTS: Final = Limit("accounts", MAX_ACCOUNTS, "scenario")
EXPECTATIONS: Final = Limit("expectations", MAX_EXPECTATIONS, "scenario")


class Limits(Struct, frozen=True):
    """How many items a plan can have."""

    transactions: Limit
    transfers: Limit
    goals: Limit
    contributions: Limit


CLOCK: Final = Limits(
    Limit("transactions", MAX_CLOCK_TRANSACTIONS, "clock", max_nominal=5_000),
    Limit("transfers", MAX_CLOCK_TRANSACTIONS, "clock", max_nominal=5_000),
    Limit("goals", MAX_CLOCK_GOALS, "clock"),
    Limit("contributions", MAX_GOAL_CONTRIBUTIONS, "goal", max_nominal=1_000),
)
"""What a clock can hold."""
ONE_CALL: Final = Limits(
    replace(CLOCK.transactions, maximum=MAX_TRANSACTIONS, owner="call"),
    replace(CLOCK.transfers, maximum=MAX_TRANSFERS, owner="call"),
    replace(CLOCK.goals, maximum=MAX_GOALS, owner="call"),
    replace(CLOCK.contributions, maximum=MAX_CONTRIBUTIONS, owner="goal of a call"),
)
"""What createTestClock accepts."""
