"""Adjustments of a scenario's dates: variety, weekends, holidays, late payments and skipped ones."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal

from msgspec import Struct

from tickover.api.durations import Duration
from tickover.scenarios.calendars import Calendar
from tickover.scenarios.timings import LocalTime, Point, Window
from tickover.scenarios.variety import Variety


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
        days = [local_time.to_local(instant).date() for instant in nominal]
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
        jitter = self.variety.jitter(day, self.jitter_days) if self.jitter_days else 0
        moved_day = self.calendar.move(day + timedelta(days=jitter))
        moved = instant
        if moved_day != day:
            moved = local_time.to_instant(datetime.combine(moved_day, local_time.to_local(instant).time()))
        return local_time.add(moved, late_by) if late_by else moved

    def _day(self, point: Point, key: str, days: Iterable[date], local_time: LocalTime, window: Window) -> date:
        """Return the day of a point. Inside of the scenario, it must be a nominal day of the item."""
        instant = point.instant(local_time, window)
        day = local_time.to_local(instant).date()
        if day not in days and window.start <= instant <= window.end:
            nearest = min(days, key=lambda one: abs(one - day), default=None)
            hint = f"; the nearest one is {nearest.isoformat()}" if nearest else ""
            raise ValueError(f"{key} {point.text} isn't a date of this item{hint}")
        return day
