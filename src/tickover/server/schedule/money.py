"""Exact sums of JSON numbers.

An amount is the decimal number of its shortest text: 0.1 is a tenth, so 0.1 + 0.2 is 0.3. Sums are integers of a
common decimal unit. Only results become doubles.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple, cast

from tickover.api.limits import MAX_PROGRESS_PERCENT

Amount = int | float

_CENTS = 100
_MAX_EXACT = 2**53
"""Doubles have all integers up to it."""


class Progress(NamedTuple):
    """The progress of a goal."""

    current_amount: Amount
    remaining_amount: Amount
    progress_percent: Amount


class Savings(NamedTuple):
    """A goal's target, and its sums before the first contribution and after each one, as integers of 1/unit."""

    unit: int
    target: int
    sums: Sequence[int]

    @property
    def initial_amount(self) -> Amount:
        return to_number(self.sums[0], self.unit)

    def progress(self, contributions: int) -> Progress:
        """Return the progress after this number of contributions."""
        return _progress(self.target, self.sums[contributions], self.unit)


def compute_progress(target: Amount, amounts: Sequence[Amount]) -> Progress:
    """Return the progress of a goal with an initial amount and contributions."""
    counts, unit = to_common_unit([target, *amounts])
    goal = counts[0]
    return _progress(goal, sum(counts) - goal, unit)


def _progress(target: int, current: int, unit: int) -> Progress:
    return Progress(to_number(current, unit), to_number(target - current, unit), _percent(current, target))


def compute_savings(target: Amount, initial: Amount, contributions: Sequence[Amount]) -> Savings:
    """Return a goal's savings. The sums are exact for all amounts."""
    (goal, *steps), unit = to_common_unit([target, initial, *contributions])
    return Savings(unit, goal, list(accumulate(steps)))


def to_common_unit(amounts: list[Amount]) -> tuple[list[int], int]:
    """Return the amounts as integers of 1/unit. The unit is a power of ten."""
    if {*map(type, amounts)} == {int}:
        return cast("list[int]", amounts), 1
    # Most others are whole cents. If an amount equals a number of cents as a double, it is that number, because no
    # other decimal with as few digits has the same nearest double.
    cents = [round(amount * _CENTS) for amount in amounts]
    if [count / _CENTS for count in cents] == amounts:
        return cents, _CENTS
    parts = [_plain_text(amount).partition(".")[::2] for amount in amounts]
    places = max(len(fraction) for _, fraction in parts)
    return [int(whole + fraction.ljust(places, "0")) for whole, fraction in parts], 10**places


def to_fraction(amount: Amount) -> Fraction:
    """Return the exact value of this number's shortest text."""
    # Fractions parse text more slowly.
    return Fraction(Decimal(repr(amount)))


def _plain_text(amount: Amount) -> str:
    """Return the shortest text of this number, without an exponent."""
    text = repr(amount)
    return format(Decimal(text), "f") if "e" in text else text


def to_number(count: int, unit: int) -> Amount:
    """Return the double nearest to count/unit. Python's integer division rounds correctly."""
    if unit == 1 and -_MAX_EXACT <= count <= _MAX_EXACT:
        return count
    number = count / unit
    return int(number) if number.is_integer() else number


def _percent(current: int, target: int) -> Amount:
    """Return the percentage with two decimals, rounded half up. It is below 100 until the target is reached."""
    hundredths = (20_000 * current + target) // (2 * target)
    limit = 9_999 if current < target else MAX_PROGRESS_PERCENT * 100
    return to_number(min(hundredths, limit), 100)
