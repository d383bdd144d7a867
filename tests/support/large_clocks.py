"""The largest clocks that the limits allow."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.console import Console
from tickover.api.limits import (
    MAX_AMOUNT,
    MAX_CATEGORY,
    MAX_CLOCK_ITEMS,
    MAX_CLOCK_TRANSACTIONS,
    MAX_CONTRIBUTIONS,
    MAX_GOALS,
    MAX_NAME,
    MAX_TRANSACTIONS,
)

START = datetime(2027, 1, 1, tzinfo=UTC)
SPAN = timedelta(days=3650)


def at(fraction: float) -> str:
    return f"{START + SPAN * fraction:%Y-%m-%dT%H:%M:%SZ}"


def currency_code(number: int) -> str:
    return "".join(chr(ord("A") + number // base % 26) for base in (676, 26, 1))


def largest_clock(currencies: int) -> dict[str, Any]:
    """Return the params of a clock that reaches every limit."""
    return {
        "frozenTime": at(0),
        "transactions": [
            {
                "name": f"{number} ".ljust(MAX_NAME, "n"),
                "category": "c" * MAX_CATEGORY,
                "amount": MAX_AMOUNT - number / 100,
                "currency": currency_code(number % currencies + 1000),
                "type": "INCOME" if number % 3 else "EXPENSE",
                "at": at((number + 1) / MAX_TRANSACTIONS),
            }
            for number in range(MAX_TRANSACTIONS)
        ],
        "goals": [
            {
                "name": f"{goal} ".ljust(MAX_NAME, "g"),
                "targetAmount": MAX_AMOUNT,
                "contributions": [
                    {"amount": 12345.67, "at": at((number + goal / MAX_GOALS + 0.01) / MAX_CONTRIBUTIONS)}
                    for number in range(MAX_CONTRIBUTIONS)
                ],
            }
            for goal in range(MAX_GOALS)
        ],
    }


def create_grown_clock(console: Console) -> str:
    """Create a clock with as many items as amendments allow, and return its id."""
    times = [f"{START + timedelta(hours=17 * number):%Y-%m-%dT%H:%M:%SZ}" for number in range(1, MAX_CLOCK_ITEMS + 1)]
    transactions = [
        {
            "name": f"Item {number}",
            "amount": 10 + number % 90,
            "currency": "EUR",
            "type": "INCOME" if number % 3 == 0 else "EXPENSE",
            "at": times[number * 2],
        }
        for number in range(MAX_CLOCK_TRANSACTIONS)
    ]
    goals = [{"name": f"Goal {number}", "targetAmount": 50_000} for number in range(6)]
    clock = console.call("createTestClock", frozenTime=at(0), goals=goals)["clock"]
    contributions = [
        {"goalId": clock["goals"][number % 6]["id"], "amount": 5, "at": times[number]}
        for number in range(MAX_CLOCK_ITEMS - MAX_CLOCK_TRANSACTIONS)
    ]
    for first in range(0, len(contributions), 100):
        add = {"contributions": contributions[first : first + 100], "transactions": transactions[first : first + 100]}
        console.call("amendTestClock", id=clock["id"], add=add)
    return str(clock["id"])
