"""Recurrences: the days on which something happens again and again. Knows no words and no times of day.

Days are whole numbers here, as `date.toordinal` counts them, because there are no dates past the last of the calendar.
"""

from abc import abstractmethod
from calendar import monthrange
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final

from msgspec import Struct

EVERY_DAY: Final = frozenset(range(7))
LAST: Final = 31
"""The place of the last: there are never more days than that, so it is always cut to how many there are."""


class Recurrence(Struct, frozen=True):
    """Certain days of every period, or of every second, third and so on: of days, weeks, months or years."""

    step: int = 1

    @abstractmethod
    def ordinals(self, first: int, last: int) -> Iterable[int]:
        """Its days from `first` to `last`, both included. Periods are counted from that of the first such day."""

    def settled(self, day: date) -> "Recurrence":
        """The recurrence itself, or, where it names no days, the one that happens on days like this one."""
        return self


class Days(Recurrence, frozen=True):
    def ordinals(self, first: int, last: int) -> Iterable[int]:
        return range(first, last + 1, self.step)


class _Periods(Recurrence, frozen=True):
    """What happens on certain days of longer periods."""

    def ordinals(self, first: int, last: int) -> Iterator[int]:
        if first > last:
            return
        begin = self._period_of(first)
        if all(day < first for day in self._days_of(begin)):
            begin += 1
        for period in range(begin, self._period_of(last) + 1, self.step):
            yield from (day for day in sorted(set(self._days_of(period))) if first <= day <= last)

    @abstractmethod
    def _period_of(self, ordinal: int) -> int:
        """The number of the period in which a day lies."""

    @abstractmethod
    def _days_of(self, period: int) -> list[int]:
        """The days of a period that are meant, in any order; there is at least one."""


class Weeks(_Periods, frozen=True):
    """Weeks begin on Monday, which is weekday 0."""

    weekdays: frozenset[int] = frozenset()

    def settled(self, day: date) -> Recurrence:
        return self if self.weekdays else Weeks(self.step, frozenset({day.weekday()}))

    def _period_of(self, ordinal: int) -> int:
        # Day 1 of the calendar is a Monday.
        return (ordinal - 1) // 7

    def _days_of(self, period: int) -> list[int]:
        return [7 * period + 1 + weekday for weekday in self.weekdays]


class MonthDay(Struct, frozen=True):
    """The first, second … of those days of a month that are such weekdays; where it has not so many, their last."""

    place: int
    weekdays: frozenset[int] = EVERY_DAY

    def of(self, year: int, month: int) -> int:
        weekday, length = monthrange(year, month)
        fitting = [day for day in range(1, length + 1) if (weekday + day - 1) % 7 in self.weekdays]
        return date(year, month, fitting[min(self.place, len(fitting)) - 1]).toordinal()


class Months(_Periods, frozen=True):
    days: tuple[MonthDay, ...] = ()

    def settled(self, day: date) -> Recurrence:
        return self if self.days else Months(self.step, (MonthDay(day.day),))

    def _period_of(self, ordinal: int) -> int:
        day = date.fromordinal(ordinal)
        return 12 * day.year + day.month - 1

    def _days_of(self, period: int) -> list[int]:
        year, month = divmod(period, 12)
        return [day.of(year, month + 1) for day in self.days]


class Years(_Periods, frozen=True):
    days: tuple[tuple[int, MonthDay], ...] = ()
    """Each with its month."""

    def settled(self, day: date) -> Recurrence:
        return self if self.days else Years(self.step, ((day.month, MonthDay(day.day)),))

    def _period_of(self, ordinal: int) -> int:
        return date.fromordinal(ordinal).year

    def _days_of(self, period: int) -> list[int]:
        return [day.of(period, month) for month, day in self.days]
