"""Finds where a balance is out of bounds."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tickover.server.schedule.ledger import Book
from tickover.server.schedule.totals import first_beyond


class BalanceViolation(NamedTuple):
    """Where a balance is first out of bounds, as indexes of the states of its book."""

    first: int
    end: int
    """The next state within the bounds, or the end of the range."""
    worst: int
    """The first state that is farthest from the bounds."""


class _Bound(NamedTuple):
    bound: int
    balances: Sequence[int]
    extremes: Sequence[int]
    """The lowest or highest balance up to each state."""
    extreme: Callable[..., int]

    def excess(self, balance: int) -> int:
        """Return how far a balance is beyond the bound, or 0."""
        return abs(self.extreme(self.bound, balance) - self.bound)

    def first_beyond(self, low: int, high: int) -> int:
        """Return the first state beyond the bound, or `high`."""
        if low and self.excess(self.extremes[low - 1]):
            # The extremes tell nothing about the range, because an older state is beyond the bound.
            index = first_beyond(self.balances, low, high, self.bound, self.extreme)
            return high if index is None else index
        return bisect_left(self.extremes, True, low, high, key=lambda balance: self.excess(balance) > 0)

    def worst(self, low: int, high: int) -> tuple[int, int]:
        """Return the negative excess and the index of the first state that is farthest beyond the bound."""
        farthest = self.extremes[high - 1]
        if low and farthest == self.extremes[low - 1]:
            farthest = self.extreme(self.balances[low:high])
            return -self.excess(farthest), self.balances.index(farthest, low)
        return -self.excess(farthest), bisect_left(self.extremes, True, low, high, key=farthest.__eq__)


def find_violation(book: Book, low: int, high: int, minimum: int, maximum: int) -> BalanceViolation | None:
    """Return the first violation in the states from `low` to `high`."""
    lowest, highest = book.lowest[high - 1], book.highest[high - 1]
    if minimum <= lowest and highest <= maximum:
        return None
    balances, bounds = book.balances, []
    if lowest < minimum:
        bounds.append(_Bound(minimum, balances, book.lowest, min))
    if highest > maximum:
        bounds.append(_Bound(maximum, balances, book.highest, max))
    first = min(bound.first_beyond(low, high) for bound in bounds)
    if first == high:
        return None
    end = first + 1
    for balance in balances[end:high]:
        if minimum <= balance <= maximum:
            break
        end += 1
    _, worst = min(bound.worst(first, end) for bound in bounds)
    return BalanceViolation(first, end, worst)
