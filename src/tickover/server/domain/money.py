"""Exact sums of JSON numbers.

An amount is the decimal number that its shortest text shows: 0.1 is a tenth, so 0.1 + 0.2 is 0.3. Sums are kept as
whole numbers of a common decimal unit, and only the finished value is written as the nearest double.
"""

from collections.abc import Sequence
from decimal import Decimal
from itertools import accumulate

from msgspec import Struct

from tickover.api.limits import MAX_PROGRESS_PERCENT

Amount = int | float

_CENTS = 100
_LARGEST_KEPT = 2**63 - 1
"""Of whole numbers; larger ones are kept as text."""


class Progress(Struct, frozen=True, rename="camel", gc=False):
    """How far a goal has come."""

    current_amount: Amount
    remaining_amount: Amount
    progress_percent: Amount


class Savings(Struct, frozen=True, array_like=True, gc=False):
    """What a goal needs, and has before its first contribution, after it, and so on; in whole numbers of 1/unit."""

    unit: int | str
    target: int | str
    sums: list[int | str]

    def progress(self, contributions: int) -> Progress:
        """How far the goal has come after so many contributions."""
        unit, target, current = int(self.unit), int(self.target), int(self.sums[contributions])
        return Progress(_number(current, unit), _number(target - current, unit), _percent(current, target))


def whole_if_whole(amount: Amount) -> Amount:
    """The same number, written without `.0` when it is whole."""
    return int(amount) if isinstance(amount, float) and amount.is_integer() else amount


def add_up(target: Amount, initial: Amount, contributions: Sequence[Amount]) -> Savings:
    """A goal's savings, exact whatever the amounts."""
    (goal, *steps), unit = _in_common_unit([target, initial, *contributions])
    sums = list(accumulate(steps))
    if max(unit, goal, sums[-1]) > _LARGEST_KEPT:
        return Savings(str(unit), str(goal), [str(sum) for sum in sums])
    return Savings(unit, goal, [*sums])


def _in_common_unit(amounts: list[Amount]) -> tuple[list[int], int]:
    """The amounts as whole numbers of 1/unit, where unit is a power of ten."""
    # Nearly all are whole cents. An amount that equals a number of cents as a double is that number, because no other
    # of as few digits is nearest to the same double.
    cents = [round(amount * _CENTS) for amount in amounts]
    if [count / _CENTS for count in cents] == amounts:
        return cents, _CENTS
    parts = [_plain_text(amount).partition(".")[::2] for amount in amounts]
    places = max(len(fraction) for _, fraction in parts)
    return [int(whole + fraction.ljust(places, "0")) for whole, fraction in parts], 10**places


def _plain_text(amount: Amount) -> str:
    """The shortest text that reads as this number, without an exponent."""
    text = repr(amount)
    return format(Decimal(text), "f") if "e" in text else text


def _number(count: int, unit: int) -> Amount:
    """count/unit as the nearest double, which is what Python's division of whole numbers gives."""
    return whole_if_whole(count / unit)


def _percent(current: int, target: int) -> Amount:
    """Two decimals, half up; 100 only when the target is reached."""
    hundredths = (20_000 * current + target) // (2 * target)
    if current < target:
        hundredths = min(hundredths, 9_999)
    return _number(min(hundredths, MAX_PROGRESS_PERCENT * 100), 100)
