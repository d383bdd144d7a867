"""Exact sums of JSON numbers.

An amount is the decimal number of its shortest text: 0.1 is a tenth, so 0.1 + 0.2 is 0.3. Sums are stored as integers
of a common decimal unit. Only results become doubles.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, pairwise

from msgspec import Struct

from tickover.api.limits import MAX_PROGRESS_PERCENT

Amount = int | float

_CENTS = 100
_MAX_STORED_INT = 2**63 - 1
"""Larger integers are stored as text."""


class Progress(Struct, frozen=True, rename="camel", gc=False):
    """The progress of a goal."""

    current_amount: Amount
    remaining_amount: Amount
    progress_percent: Amount


class Savings(Struct, frozen=True, array_like=True, gc=False):
    """A goal's target, and its sums before the first contribution and after each one, as integers of 1/unit."""

    unit: int | str
    target: int | str
    sums: list[int | str]

    def amounts(self) -> tuple[Amount, Amount, list[Amount]]:
        """Return the target, the initial amount and the contributions."""
        unit, target, sums = int(self.unit), int(self.target), [*map(int, self.sums)]
        steps = [to_number(after - before, unit) for before, after in pairwise(sums)]
        return to_number(target, unit), to_number(sums[0], unit), steps

    @property
    def initial_amount(self) -> Amount:
        return to_number(int(self.sums[0]), int(self.unit))

    def progress(self, contributions: int) -> Progress:
        """Return the progress after this number of contributions."""
        unit, target, current = int(self.unit), int(self.target), int(self.sums[contributions])
        return Progress(to_number(current, unit), to_number(target - current, unit), _percent(current, target))


class Sums(Struct, frozen=True, array_like=True, gc=False):
    """The sums of amounts, after the first one and after each further one, as integers of 1/unit."""

    unit: int | str
    counts: list[int | str]

    def number(self, index: int) -> Amount:
        return to_number(int(self.counts[index]), int(self.unit))


def compute_sums(amounts: list[Amount]) -> Sums:
    """Return exact sums. Amounts can be negative."""
    counts, unit = to_common_unit(amounts)
    stored_unit, *sums = _to_stored([unit, *accumulate(counts)])
    return Sums(stored_unit, sums)


def compute_savings(target: Amount, initial: Amount, contributions: Sequence[Amount]) -> Savings:
    """Return a goal's savings. The sums are exact for all amounts."""
    (goal, *steps), unit = to_common_unit([target, initial, *contributions])
    stored_unit, stored_goal, *sums = _to_stored([unit, goal, *accumulate(steps)])
    return Savings(stored_unit, stored_goal, sums)


def _to_stored(integers: list[int]) -> list[int | str]:
    """Return the integers, or all of them as text if one is too large to be stored."""
    return [str(each) for each in integers] if max(map(abs, integers)) > _MAX_STORED_INT else [*integers]


def to_common_unit(amounts: list[Amount]) -> tuple[list[int], int]:
    """Return the amounts as integers of 1/unit. The unit is a power of ten."""
    # Most amounts are whole cents. If an amount equals a number of cents as a double, it is that number, because no
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
    number = count / unit
    return int(number) if number.is_integer() else number


def _percent(current: int, target: int) -> Amount:
    """Return the percentage with two decimals, rounded half up. It is below 100 until the target is reached."""
    hundredths = (20_000 * current + target) // (2 * target)
    limit = 9_999 if current < target else MAX_PROGRESS_PERCENT * 100
    return to_number(min(hundredths, limit), 100)
