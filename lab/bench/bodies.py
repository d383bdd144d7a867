"""The requests of the benchmark as plain JSON: a typical clock, the largest clock, and sizes in between.

All clocks start at START, and their items are in the year after it.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

Json = dict[str, Any]

START = "2027-01-01T00:00:00Z"
MAX_TRANSACTIONS = 100
MAX_GOALS = 25
MAX_CONTRIBUTIONS = 100
GROWN_ITEMS = 5000
"""The most transactions and contributions of a clock that was amended."""
END = "2028-01-01T00:00:00Z"
"""All items are before it."""
MAX_GROWN_TRANSACTIONS = 2000

_START = datetime(2027, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)

# Name, amount, type and category. The category is optional.
_TRANSACTIONS: tuple[tuple[str, float, str, str], ...] = (
    ("Salary Northwind Ltd", 3184.27, "INCOME", "Salary"),
    ("Rent Lindenstrasse 14", 1150, "EXPENSE", "Housing"),
    ("Stadtwerke electricity", 86.4, "EXPENSE", "Utilities"),
    ("Groceries Saturday market", 64.85, "EXPENSE", "Food & drink"),
    ("Monthly train pass", 63, "EXPENSE", "Transport"),
    ("Café Zentral", 7.9, "EXPENSE", ""),
    ("Health insurance", 241.13, "EXPENSE", "Insurance"),
    ("Refund winter coat", 119.95, "INCOME", "Clothing"),
    ("Mobile phone plan", 14.99, "EXPENSE", "Utilities"),
    ("Freelance invoice 2027-031", 420.5, "INCOME", "Side income"),
)
_GOALS: tuple[tuple[str, float, float], ...] = (
    ("Summer in Lisbon", 2400, 310.25),
    ("Emergency fund", 9000, 0),
    ("New bicycle", 1349.9, 200),
    ("Laptop", 1899, 49.99),
    ("Kitchen table", 640.75, 0),
)


def typical() -> Json:
    """Return ten transactions and two goals with six contributions each: a request of 2 KB, a response of 4 KB."""
    return {"frozenTime": START, "transactions": _transactions(10), "goals": [_goal(number, 6) for number in range(2)]}


def largest() -> Json:
    """Return as many items as a clock may have."""
    goals = [_goal(number, MAX_CONTRIBUTIONS) for number in range(MAX_GOALS)]
    return {"frozenTime": START, "transactions": _transactions(MAX_TRANSACTIONS), "goals": goals}


def additions(goals: list[str]) -> Iterator[Json]:
    """Return amendments of the largest clock until it has GROWN_ITEMS, each with as many items as a call may have."""
    transactions = _transactions(MAX_GROWN_TRANSACTIONS - MAX_TRANSACTIONS)
    yield from ({"transactions": some} for some in _in_parts(transactions, MAX_TRANSACTIONS))
    left = GROWN_ITEMS - MAX_GROWN_TRANSACTIONS - MAX_GOALS * MAX_CONTRIBUTIONS
    contributions = [
        {"goalId": goals[number % len(goals)], "at": _spread(number, left), "amount": 5} for number in range(left)
    ]
    yield from ({"contributions": some} for some in _in_parts(contributions, MAX_CONTRIBUTIONS))


def grown_transactions() -> Json:
    """Return the parameters of createTestClock, and the additions of amendments, for the most transactions."""
    first, *others = _in_parts(_transactions(MAX_GROWN_TRANSACTIONS), MAX_TRANSACTIONS)
    return {"create": {"frozenTime": START, "transactions": first}, "add": others}


def scenario() -> str:
    """Return a scenario with as many transactions."""
    names = [name for name, *_ in _TRANSACTIONS]
    head = f'title = "Many"\ncurrency = "EUR"\nstart = {START[:10]}\nlength = "{MAX_GROWN_TRANSACTIONS // 10} days"\n'
    item = '[[transactions]]\nname = "{}"\namount = 5.25\ntype = "expense"\nevery = "day"\n'
    return head + "".join(item.format(name) for name in names)


def observed() -> list[Json]:
    """Return the transactions of the grown clock as an app records them."""
    transactions = [*largest()["transactions"], *_transactions(MAX_GROWN_TRANSACTIONS - MAX_TRANSACTIONS)]
    sign = {"INCOME": 1, "EXPENSE": -1}
    return [{"at": one["at"], "name": one["name"], "amount": sign[one["type"]] * one["amount"]} for one in transactions]


def expectations() -> list[Json]:
    """Return as many expectations as a call may have, of all kinds. All of them hold."""
    balances = [{"balance": {"currency": "EUR", "atLeast": -1e9 - number}} for number in range(15)]
    categories = sorted({(category, type) for *_, type, category in _TRANSACTIONS if category})
    totals = [
        {"total": {"type": type, "currency": "EUR", "category": category, "per": per, "atMost": 1e9}}
        for per in ("DAY", "WEEK", "MONTH")
        for category, type in categories
    ][:15]
    posted = [{"posted": {"name": name, "by": END}} for name, *_ in _TRANSACTIONS]
    reached = [{"goalReached": {"goal": name, "by": END}} for name, *_ in _GOALS]
    others = [{"goalReached": {"goal": f"{name} 2", "by": END}} for name, *_ in _GOALS]
    return [*balances, *totals, *posted, *reached, *others]


def count_items(params: Json) -> int:
    """Return the number of transactions and contributions."""
    return len(params["transactions"]) + sum(len(goal["contributions"]) for goal in params["goals"])


def _transactions(count: int) -> list[Json]:
    return [_transaction(number, _spread(number, count)) for number in range(count)]


def _transaction(number: int, at: str) -> Json:
    name, amount, type, category = _TRANSACTIONS[number % len(_TRANSACTIONS)]
    varied = _cents(amount + number // len(_TRANSACTIONS) * 1.37)
    entry: Json = {"at": at, "name": name, "amount": varied, "currency": "EUR", "type": type}
    return {**entry, "category": category} if category else entry


def _goal(number: int, contributions: int) -> Json:
    name, target, initial = _GOALS[number % len(_GOALS)]
    return {
        "name": name if number < len(_GOALS) else f"{name} {number // len(_GOALS) + 1}",
        "targetAmount": target,
        "initialAmount": initial,
        "contributions": [
            {"at": _spread(item, contributions), "amount": _cents(target / 12 + item % 7 * 0.33)}
            for item in range(contributions)
        ],
    }


def _spread(number: int, count: int) -> str:
    """Return this many instants, evenly over the year, each at a full hour."""
    at = _START + (number + 1) * 364 * _DAY / count
    return f"{at:%Y-%m-%dT%H:00:00Z}"


def _in_parts(items: list[Json], size: int) -> Iterator[list[Json]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _cents(amount: float) -> float:
    """Return the amount with two decimals, or without decimals if it is whole, as most clients write it."""
    rounded = round(amount, 2)
    return int(rounded) if rounded.is_integer() else rounded
