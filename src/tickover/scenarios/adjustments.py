"""Adjustments of a scenario's dates: variety, weekends, holidays, late payments and skipped ones."""

import re
from collections.abc import Container, Iterable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from typing import Final, Literal

from msgspec import Struct

from tickover.api.durations import Duration
from tickover.scenarios.errors import Advice, quote
from tickover.scenarios.timings import LocalTime, Point, Window

_MILLION: Final = 1_000_000
_COUNTRY: Final = re.compile(r"([A-Z]{2})(?:-([A-Z0-9]{1,4}))?")
_SATURDAY: Final = 5
_MAX_DAYS_OFF: Final = 60

Weekend = Literal["before", "after", "keep"]


class Variety(Struct, frozen=True):
    """Draws for one item of a scenario. They depend only on a seed, a name, a day and a use.

    The algorithm is part of the file format. A change needs a new version, which files choose themselves.
    """

    seed: int
    name: str

    def draw(self, day: date, use: str, count: int) -> int:
        """Return a whole number from 0 to `count` - 1."""
        text = f"tickover variety 1\n{self.seed}\n{self.name}\n{day.isoformat()}\n{use}"
        number = int.from_bytes(sha256(text.encode()).digest()[:8], "big")
        return number * count >> 64

    def happens(self, day: date, chance: Decimal) -> bool:
        return self.draw(day, "chance", _MILLION) < chance * _MILLION

    def jitter(self, day: date, days: int) -> int:
        """Return a number of days from -`days` to `days`."""
        return self.draw(day, "jitter", 2 * days + 1) - days


class AmountRange(Struct, frozen=True):
    """An amount that varies between two amounts in steps."""

    lowest: Decimal
    highest: Decimal
    step: Decimal

    def draw(self, variety: Variety, day: date) -> Decimal:
        count = int((self.highest - self.lowest) / self.step) + 1
        return self.lowest + self.step * variety.draw(day, "amount", count)


class Calendar(Struct, frozen=True):
    """Holidays, and where a date on a weekend or a holiday moves to."""

    weekend: Weekend = "keep"
    holidays: Container[date] = frozenset()

    def move(self, day: date) -> date:
        """Return the day, or the nearest working day before or after it."""
        if self.weekend == "keep":
            return day
        step = timedelta(days=-1 if self.weekend == "before" else 1)
        for _ in range(_MAX_DAYS_OFF):
            if day.weekday() < _SATURDAY and day not in self.holidays:
                return day
            day += step
        raise ValueError(f"holidays leave no working day near {day.isoformat()}")


@lru_cache(maxsize=64)
def country_holidays(code: str) -> Container[date]:
    """Return the public holidays of a country or of a part of it. Raise Advice if the code is unknown."""
    try:
        import holidays  # noqa: PLC0415 - it is an optional dependency
    except ImportError:
        raise Advice(f"holidays = {quote(code)} needs a package: pip install holidays; or list the dates") from None
    found = _COUNTRY.fullmatch(code)
    try:
        if found:
            # It adds years as they are needed.
            return holidays.country_holidays(found[1], subdiv=found[2])
    except NotImplementedError:
        pass
    raise Advice(f'holidays must be a list of dates or a country code such as "DE" or "DE-BY", not {quote(code)}')


class Adjustments(Struct, frozen=True, kw_only=True):
    """Changes of the nominal dates of an item, in this order: skip, chance, jitter, weekend, late payment."""

    variety: Variety
    calendar: Calendar = Calendar()
    jitter_days: int = 0
    chance: Decimal | None = None
    skipped: tuple[Point, ...] = ()
    late_by: Duration | None = None
    late_days: tuple[tuple[Point, Duration], ...] = ()

    def apply(
        self, nominal: Sequence[datetime], local_time: LocalTime, window: Window
    ) -> list[tuple[int, datetime, datetime]]:
        """Return the index, the nominal and the actual instant of each occurrence that is left."""
        days = [local_time.day_of(instant) for instant in nominal]
        skipped = {self._day(point, "skipped", days, local_time, window) for point in self.skipped}
        late = {self._day(point, "late_by", days, local_time, window): by for point, by in self.late_days}
        occurrences = []
        for index, (instant, day) in enumerate(zip(nominal, days, strict=True)):
            if day in skipped or not (self.chance is None or self.variety.happens(day, self.chance)):
                continue
            at = self._move(instant, day, late.get(day, self.late_by), local_time)
            if window.start <= at <= window.end:
                occurrences.append((index, instant, at))
        return occurrences

    def _move(self, instant: datetime, day: date, late_by: Duration | None, local_time: LocalTime) -> datetime:
        moved_day, moved = day, instant
        if self.jitter_days:
            moved_day += timedelta(days=self.variety.jitter(day, self.jitter_days))
        moved_day = self.calendar.move(moved_day)
        if moved_day != day:
            moved = local_time.to_instant(datetime.combine(moved_day, local_time.to_local(instant).time()))
        return local_time.add(moved, late_by) if late_by else moved

    def _day(self, point: Point, key: str, days: Iterable[date], local_time: LocalTime, window: Window) -> date:
        """Return the day of a point. Inside of the scenario, it must be a nominal day of the item."""
        instant = point.instant(local_time, window)
        day = local_time.day_of(instant)
        if day not in days and window.start <= instant <= window.end:
            nearest = min(days, key=lambda one: abs(one - day), default=None)
            hint = f"; the nearest one is {nearest.isoformat()}" if nearest else ""
            raise ValueError(f"{key} {point.text} isn't a date of this item{hint}")
        return day
