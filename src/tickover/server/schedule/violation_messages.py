"""Violations of balances and totals in words."""

from datetime import datetime
from typing import Final

from msgspec import UNSET, UnsetType

from tickover.api import timestamps
from tickover.api.expectations import Cause, WorstValue
from tickover.server.schedule.money import Amount

_DECIMALS: Final = 2


def bounds_text(currency: str, at_least: Amount | UnsetType = UNSET, at_most: Amount | UnsetType = UNSET) -> str:
    """Return `below 0.00 EUR`, `above 0.00 EUR`, or with both bounds `outside 0.00 to 5000.00 EUR`."""
    if at_least is not UNSET and at_most is not UNSET:
        return f"outside {_money(at_least)} to {_money(at_most)} {currency}"
    bounds = (("below", at_least), ("above", at_most))
    [text] = [f"{word} {_money(bound)} {currency}" for word, bound in bounds if bound is not UNSET]
    return text


def balance_message(
    what: str,
    at: datetime,
    until: datetime | None,
    actual: Amount,
    cause: Cause[Amount] | None,
    worst: WorstValue[Amount],
) -> str:
    """Return `Below 0.00 EUR from 1 May until 9 May 2027, because of Rent (-90.00): 50.00 -> -40.00. Worst: …`."""
    if until is None:
        time = f"from {_day(at)} on"
    elif at.date() == until.date():
        time = f"from {timestamps.write(at)} until {timestamps.write(until)}"
    else:
        time = f"from {_day(at, until.year)} until {_day(until)}"
    why = f", because of {_item(cause)}: {_change(cause)}" if cause else f": {_money(actual)}"
    return f"{what[0].upper()}{what[1:]} {time}{why}. {_worst(worst, until or at)}"


def total_message(what: str, actual: Amount, cause: Cause[Amount] | None, worst: WorstValue[Amount]) -> str:
    """Return `Expenses above 350.00 EUR in Jan 2027, because of Food (+60.00) on 20 Jan 2027: 320.00 -> 380.00. …`."""
    if cause is None:
        return f"{what}: {_money(actual)}."
    return f"{what}, because of {_item(cause)} on {_day(cause.at)}: {_change(cause)}. {_worst(worst, cause.at)}"


def _item(cause: Cause[Amount]) -> str:
    return f"{cause.name} ({_money(cause.amount, '+')})"


def _change(cause: Cause[Amount]) -> str:
    return f"{_money(cause.before)} -> {_money(cause.after)}"


def _worst(worst: WorstValue[Amount], previous: datetime) -> str:
    return f"Worst: {_money(worst.actual)} on {_day(worst.at, previous.year)}."


def _day(at: datetime, year: int | None = None) -> str:
    """Return `12 Feb 2027`, or `12 Feb` if the sentence has this year already."""
    return f"{at.day} {at:%b}" if at.year == year else f"{at.day} {at:%b %Y}"


def _money(amount: Amount, sign: str = "") -> str:
    """Return an amount with at least two decimals. The sign `+` marks an amount that is added."""
    if round(amount, _DECIMALS) == amount:
        # The sum of -0.0 and 0 is 0.
        return f"{amount + 0:{sign}.{_DECIMALS}f}"
    return f"{amount:{sign}}"
