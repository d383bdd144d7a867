"""Recurrences: rules that select dates by day, week, month or year. They have no words and no times of day.

Days are proleptic ordinals as in `date.toordinal`, because dates end in the year 9999.
"""

from abc import abstractmethod
from calendar import monthrange
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final

from msgspec import Struct

EVERY_DAY: Final = frozenset(range(7))
LAST: Final = 31
"""The position of the last day. No month has more days, and a position is capped at the number of days."""


class Recurrence(Struct, frozen=True):
    """Certain days of every `step`-th period. Periods are days, weeks, months or years."""

    step: int = 1

    @abstractmethod
    def ordinals(self, first: int, last: int) -> Iterable[int]:
        """Return its days from `first` to `last`, both included. Periods count from the first matching day."""

    def with_default_day(self, day: date) -> "Recurrence":
        """Return this recurrence. If it names no days, use the weekday or the date of `day`."""
        return self


class Days(Recurrence, frozen=True):
    def ordinals(self, first: int, last: int) -> Iterable[int]:
        return range(first, last + 1, self.step)


class _Periods(Recurrence, frozen=True):
    """Base class for certain days of weeks, months or years."""

    def ordinals(self, first: int, last: int) -> Iterator[int]:
        if first > last:
            return
        begin = self._period_of(first)
        if all(day < first for day in self._days_in(begin)):
            begin += 1
        for period in range(begin, self._period_of(last) + 1, self.step):
            yield from (day for day in sorted(set(self._days_in(period))) if first <= day <= last)

    @abstractmethod
    def _period_of(self, ordinal: int) -> int:
        """Return the number of the period that contains a day."""

    @abstractmethod
    def _days_in(self, period: int) -> list[int]:
        """Return the selected days of a period in any order. There is at least one."""


class Weeks(_Periods, frozen=True):
    """Weekdays of weeks. Weeks start on Monday, which is weekday 0."""

    weekdays: frozenset[int] = frozenset()

    def with_default_day(self, day: date) -> Recurrence:
        return self if self.weekdays else Weeks(self.step, frozenset({day.weekday()}))

    def _period_of(self, ordinal: int) -> int:
        # Ordinal 1 is a Monday.
        return (ordinal - 1) // 7

    def _days_in(self, period: int) -> list[int]:
        return [7 * period + 1 + weekday for weekday in self.weekdays]


class MonthDay(Struct, frozen=True):
    """The n-th of the days of a month that fall on the given weekdays, or the last if the month has fewer."""

    position: int
    weekdays: frozenset[int] = EVERY_DAY
    month: int = 0
    """The number of months before this one in the period."""

    def in_period(self, first_month: int) -> int:
        """Return the ordinal of this day, given the number of months before the period."""
        year, month = divmod(first_month + self.month, 12)
        first_weekday, length = monthrange(year, month + 1)
        matching = [day for day in range(1, length + 1) if (first_weekday + day - 1) % 7 in self.weekdays]
        return date(year, month + 1, matching[min(self.position, len(matching)) - 1]).toordinal()


class Months(_Periods, frozen=True):
    """Days of months, or of years, which are periods of 12 months."""

    days: tuple[MonthDay, ...] = ()
    length: int = 1

    def with_default_day(self, day: date) -> Recurrence:
        default = MonthDay(day.day, month=(day.month - 1) % self.length)
        return self if self.days else Months(self.step, (default,), self.length)

    def _period_of(self, ordinal: int) -> int:
        day = date.fromordinal(ordinal)
        return (12 * day.year + day.month - 1) // self.length

    def _days_in(self, period: int) -> list[int]:
        return [day.in_period(self.length * period) for day in self.days]
