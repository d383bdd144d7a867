"""A plain model of views: filtered lists and fractions.

It shares only the form of ids with the server, so a bug in one is not a bug in the other.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import takewhile
from math import floor
from typing import Any, TypeAlias
from uuid import UUID

Json: TypeAlias = Any


def read_sent(written: bytes) -> Json:
    """Return parameters as plain JSON with exact numbers. A fraction has the value that its double shows."""
    return json.loads(written, parse_int=Decimal, parse_float=lambda text: Decimal(repr(float(text))))


def read_seen(view: bytes) -> Json:
    """Return a view as plain JSON with exact numbers. Check that no whole number has a fraction."""

    def read_fraction(text: str) -> Decimal:
        assert not text.endswith(".0")
        return Decimal(text)

    return json.loads(view, parse_int=Decimal, parse_float=read_fraction)


def read_instant(timestamp: str) -> datetime:
    whole, rest = timestamp[:19].upper(), timestamp[19:].upper()
    digits = "".join(takewhile(str.isdigit, rest[1:])) if rest.startswith(".") else ""
    zone = rest[1 + len(digits) :] if digits else rest
    moment = datetime.strptime(whole + zone, "%Y-%m-%dT%H:%M:%S%z").astimezone(UTC)
    return moment.replace(microsecond=int(digits[:6].ljust(6, "0")))


def write_instant(moment: datetime) -> str:
    fraction = f".{moment.microsecond:06}" if moment.microsecond else ""
    return f"{moment.year:04}-{moment:%m-%dT%H:%M:%S}{fraction}Z"


def view(params: Json, key: bytes, now: datetime, frozen_time: datetime) -> Json:
    start = read_instant(params["frozenTime"]) if "frozenTime" in params else now
    birth = now - timedelta(microseconds=now.microsecond % 1000)
    transactions = [_with_account(item, params) for item in params.get("transactions", [])]
    visible, pending = _items(transactions, f"txn_{key.hex()}", frozen_time)
    goals = enumerate(params.get("goals", []))
    return {
        "id": f"clock_{UUID(bytes=key)}",
        "status": "READY",
        "frozenTime": write_instant(frozen_time),
        "maxTime": write_instant(_ten_years_after(start)),
        "expiresAt": write_instant(birth + timedelta(days=7)),
        "transactions": [item | {"source": "SIMULATED_TEST_CLOCK"} for item in visible],
        "pendingTransactions": [item | {"source": "SIMULATED_TEST_CLOCK"} for item in pending],
        "goals": [_goal(goal, f"{key.hex()}_{index}", frozen_time) for index, goal in goals],
        **_extensions(params, key, frozen_time),
    }


def _with_account(item: Json, params: Json) -> Json:
    item = dict(item)
    if "accounts" in params:
        first = next(each["key"] for each in params["accounts"] if each["currency"] == item["currency"])
        item.setdefault("account", first)
    if "authorizedAt" in item:
        item["authorizedAt"] = write_instant(read_instant(item["authorizedAt"]))
    if "authorizedAmount" in item:
        item["authorizedAmount"] = _to_double(item["authorizedAmount"])
    return item


def _extensions(params: Json, key: bytes, frozen_time: datetime) -> Json:
    if "openingBalances" in params:
        return {"openingBalances": {code: _to_double(amount) for code, amount in params["openingBalances"].items()}}
    if "accounts" not in params:
        return {}
    currencies = {each["key"]: each["currency"] for each in params["accounts"]}
    transfers = [_transfer(item, currencies) for item in params["transfers"]]
    posted, pending = _items(transfers, f"tfr_{key.hex()}", frozen_time)
    return {
        "accounts": [_account(each, params, frozen_time) for each in params["accounts"]],
        "transfers": posted,
        "pendingTransfers": pending,
    }


def _transfer(item: Json, currencies: Json) -> Json:
    item = item | {"currency": currencies[item["from"]], "source": "SIMULATED_TEST_CLOCK"}
    if "received" not in item:
        return item
    return item | {"received": _to_double(item["received"]), "receivedCurrency": currencies[item["to"]]}


def _account(account: Json, params: Json, frozen_time: datetime) -> Json:
    opening = account.get("openingBalance", Decimal(0))
    balance = Fraction(opening)
    for item in params.get("transactions", []):
        if _with_account(item, params)["account"] == account["key"] and read_instant(item["at"]) <= frozen_time:
            balance += Fraction(item["amount"]) * (1 if item["type"] == "INCOME" else -1)
    for item in params["transfers"]:
        if read_instant(item["at"]) <= frozen_time:
            balance -= Fraction(item["amount"]) if item["from"] == account["key"] else 0
            balance += Fraction(item.get("received", item["amount"])) if item["to"] == account["key"] else 0
    return {"type": "CHECKING", **account, "openingBalance": _to_double(opening), "balance": _to_double(balance)}


def _ten_years_after(moment: datetime) -> datetime:
    is_leap_day = (moment.month, moment.day) == (2, 29)
    return (moment - timedelta(days=1) if is_leap_day else moment).replace(year=moment.year + 10)


def _items(items: Sequence[Json], id: str, frozen_time: datetime) -> tuple[list[Json], list[Json]]:
    """Return the items at or before `frozen_time`, and those after it."""
    numbered = [
        item | {"id": f"{id}_{index}", "amount": _to_double(item["amount"])} for index, item in enumerate(items)
    ]
    passed: list[Json] = []
    future: list[Json] = []
    for at in sorted({read_instant(item["at"]) for item in items}):
        at_this_instant = [item | {"at": write_instant(at)} for item in numbered if read_instant(item["at"]) == at]
        (passed if at <= frozen_time else future).extend(at_this_instant)
    return passed, future


def _goal(goal: Json, id: str, frozen_time: datetime) -> Json:
    contributions = goal.get("contributions", [])
    posted, upcoming = _items(contributions, f"ctb_{id}", frozen_time)
    amounts = [Fraction(item["amount"]) for item in contributions if read_instant(item["at"]) <= frozen_time]
    target, current = Fraction(goal["targetAmount"]), Fraction(goal.get("initialAmount", 0)) + sum(amounts)
    percent = Fraction(floor(current / target * 10_000 + Fraction(1, 2)), 100)
    limit = Fraction("99.99") if current < target else Fraction(10**15)
    return {
        "id": f"goal_{id}",
        "name": goal["name"],
        "targetAmount": _to_double(target),
        "currentAmount": _to_double(current),
        "remainingAmount": _to_double(target - current),
        "progressPercent": _to_double(min(percent, limit)),
        "contributions": posted,
        "upcomingContributions": upcoming,
    }


def _to_double(amount: Fraction | Decimal) -> Decimal:
    """Return the amount as its nearest double shows it."""
    return Decimal(repr(float(amount)))
