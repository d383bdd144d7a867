"""Totals of transactions for each calendar day, week or month in UTC, and over all."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from msgspec import Struct

from tickover.api.expectations import Period
from tickover.api.fields import TransactionType
from tickover.api.timestamps import Instant
from tickover.server.schedule.ledger import Ledger
from tickover.server.schedule.money import Amount, to_common_unit

_MICROSECOND: Final = timedelta(microseconds=1)


class Calendar(NamedTuple):
    """Numbers the periods of one length."""

    number_of: Callable[[Instant], int]
    first_day: Callable[[int], date]
    describe: Callable[[date], str]

    def start(self, number: int) -> Instant:
        return datetime.combine(self.first_day(number), time(), UTC)

    def end(self, number: int) -> Instant:
        """Return the last microsecond of the period."""
        return self.start(number + 1) - _MICROSECOND

    def name(self, number: int) -> str:
        return self.describe(self.first_day(number))


# The first day of the calendar, 0001-01-01, has the ordinal 1 and is a Monday.
CALENDARS: Final = {
    "DAY": Calendar(lambda at: at.toordinal(), date.fromordinal, lambda day: f"on {day.day} {day:%b %Y}"),
    "WEEK": Calendar(
        lambda at: (at.toordinal() - 1) // 7,
        lambda number: date.fromordinal(number * 7 + 1),
        lambda day: f"in the week from {day.day} {day:%b %Y}",
    ),
    "MONTH": Calendar(
        lambda at: at.year * 12 + at.month - 1,
        lambda number: date(number // 12, number % 12 + 1, 1),
        lambda day: f"in {day:%b %Y}",
    ),
}


class Periods(Struct, frozen=True):
    """The periods that have transactions."""

    numbers: Sequence[int]
    bounds: Sequence[int]
    """The number of transactions before each period, and the number of all transactions."""
    totals: Sequence[int]


class Series:
    """Transactions of one type and currency, in order, and possibly of one category."""

    def __init__(self, positions: Sequence[int], instants: Sequence[Instant], amounts: list[Amount]) -> None:
        self.positions = positions
        self.instants = instants
        counts, self.unit = to_common_unit(amounts)
        self.sums = list(accumulate(counts, initial=0))
        self._periods: dict[str, Periods] = {}

    def periods(self, per: str) -> Periods:
        if per not in self._periods:
            self._periods[per] = self._split(per)
        return self._periods[per]

    def _split(self, per: str) -> Periods:
        numbers = list(map(CALENDARS[per].number_of, self.instants))
        distinct = sorted(set(numbers))
        bounds = [*(bisect_left(numbers, number) for number in distinct), len(numbers)]
        return Periods(distinct, bounds, [self.sums[end] - self.sums[start] for start, end in pairwise(bounds)])


class Totals:
    """The series of one ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._positions: dict[tuple[str, str], dict[str | None, list[int]]] = {}
        """By type and currency, and then by category. Those of None have any category, or none."""
        for position, transaction in enumerate(ledger.transactions):
            by_category = self._positions.setdefault((transaction.type, transaction.currency), {})
            for category in {None, transaction.category}:
                by_category.setdefault(category, []).append(position)
        self._series: dict[tuple[str, str, str | None], Series] = {}

    def categories(self, type: TransactionType, currency: str) -> Sequence[str]:
        """Return the categories of the transactions of this type and currency."""
        return [category for category in self._positions.get((type, currency), ()) if category is not None]

    def series(self, type: TransactionType, currency: str, category: str | None) -> Series:
        """Return the transactions of this type, currency and category; of any category if it is None."""
        key = type, currency, category
        found = self._series.get(key)
        if found is None:
            positions = self._positions.get((type, currency), {}).get(category, ())
            items = [self._ledger.transactions[position] for position in positions]
            found = Series(positions, [item.at for item in items], [item.amount for item in items])
            if positions:
                self._series[key] = found
        return found


class TotalViolation(NamedTuple):
    """Where a total first violates a bound: the instant, the period, and the range of transactions that count."""

    at: Instant
    period: str
    first: int
    end: int
    last_end: int
    """The end of the transactions of the whole period."""
    cause: int | None = None
    """The transaction that exceeded the limit."""
    until: Instant | None = None
    """The end of the period of an excess."""


def first_above(series: Series, per: Period, until: Instant, limit: int) -> TotalViolation | None:
    """Return where a total first exceeds `limit`. Partial periods count."""
    count = bisect_right(series.instants, until)
    if per == "ALL":
        return _first_excess(series, 0, count, limit, "in total", None)
    calendar, periods = CALENDARS[per], series.periods(per)
    # The last period can have transactions after `until`.
    index = first_beyond(periods.totals, 0, bisect_left(periods.bounds, count), limit, max)
    if index is None:
        return None
    number, first, end = periods.numbers[index], periods.bounds[index], min(periods.bounds[index + 1], count)
    last = calendar.end(number)
    return _first_excess(series, first, end, limit, calendar.name(number), last if last <= until else None)


def _first_excess(
    series: Series, first: int, end: int, limit: int, period: str, until: Instant | None
) -> TotalViolation | None:
    """Return where the total of transactions `first` to `end` first exceeds `limit`. An instant counts as a whole."""
    index = bisect_right(series.sums, series.sums[first] + limit, first, end + 1)
    if index > end:
        return None
    at = series.instants[index - 1]
    return TotalViolation(at, period, first, bisect_right(series.instants, at, index, end), end, index - 1, until)


def first_below(series: Series, per: Period, start: Instant, until: Instant, minimum: int) -> TotalViolation | None:
    """Return the first complete period whose total is below `minimum`."""
    if per == "ALL":
        count = bisect_right(series.instants, until)
        return TotalViolation(until, "in total", 0, count, count) if series.sums[count] < minimum else None
    calendar, periods = CALENDARS[per], series.periods(per)
    first, last = calendar.number_of(start), calendar.number_of(until)
    first += calendar.start(first) < start
    last -= until < calendar.end(last)
    low, high = bisect_left(periods.numbers, first), bisect_right(periods.numbers, last)
    # Up to `gap`, every period has transactions, so numbers and indexes grow together.
    gap = low + bisect_right(range(low, high), first - low, key=lambda index: periods.numbers[index] - index)
    index = first_beyond(periods.totals, low, gap, minimum, min)
    number = first + (gap if index is None else index) - low
    if number > last or minimum <= 0:
        return None
    first, end = (periods.bounds[bound] for bound in ((gap, gap) if index is None else (index, index + 1)))
    return TotalViolation(calendar.end(number), calendar.name(number), first, end, end)


def first_beyond(values: Sequence[int], start: int, end: int, bound: int, extreme: Callable[..., int]) -> int | None:
    """Return the index of the first value beyond a bound: below it with `min`, above it with `max`.

    Halves the range instead of looking at each value, because `min` and `max` are much faster than a loop.
    """

    def has_beyond(start: int, end: int) -> bool:
        return start < end and extreme(bound, extreme(values[start:end])) != bound

    if not has_beyond(start, end):
        return None
    while end - start > 1:
        middle = (start + end) // 2
        if has_beyond(start, middle):
            end = middle
        else:
            start = middle
    return start
