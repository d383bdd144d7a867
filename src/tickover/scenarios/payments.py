"""When transactions, transfers and contributions happen, and how much they are."""

from abc import abstractmethod
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from itertools import islice
from typing import Annotated, Any, Final

from msgspec import field

from tickover.api import timestamps
from tickover.api.command_arguments import to_exact_decimal
from tickover.api.durations import Duration
from tickover.api.limits import SPAN_YEARS
from tickover.scenarios import readers
from tickover.scenarios.adjustments import Weekend, draw, to_working_day
from tickover.scenarios.recurrences import Recurrence
from tickover.scenarios.timings import DEFAULT_TIME, LocalTime, Point, Window
from tickover.scenarios.toml_tables import ByType, InnerTable, Mapped, OneOrMore, TableValues

_CENT: Final = Decimal("0.01")
_MAX_STEPS: Final = 10**12
_MILLION: Final = 1_000_000
PlannedEntry = tuple[Any, datetime]
"""A planned transaction, transfer or contribution, and its nominal instant."""
_BETWEEN: Final = "must have the lowest and the highest amount, as in {between = [40, 90]}"
_RECURRENCE_KEYS: Final = ("from", "until", "times", "weekend", "holidays")


class AmountRange(TableValues, frozen=True, kw_only=True):
    """An amount that varies between two amounts in steps."""

    between: Annotated[tuple[Decimal, ...], OneOrMore(readers.AMOUNT, expected=_BETWEEN)]
    step: Annotated[Decimal, readers.AMOUNT] = _CENT

    def check(self) -> None:
        if len(self.between) != 2 or self.between[0] > self.between[1]:
            self.table.report(f"between {_BETWEEN}")
        elif self.count > _MAX_STEPS:
            self.table.report("step is too small for between; increase it")

    @property
    def count(self) -> int:
        """The number of amounts in the range."""
        return int((self.between[1] - self.between[0]) / self.step) + 1


class Defaults(TableValues, frozen=True, kw_only=True):
    """The keys of a scenario that its items can override."""

    timezone: Annotated[tzinfo, readers.ZONE] = UTC
    weekend: Annotated[Weekend, readers.WEEKEND] = "keep"
    holidays: Annotated[Container[date], readers.HOLIDAYS] = frozenset()
    seed: Annotated[int, readers.SEED] = 0

    def check(self) -> None:
        if "holidays" in self.table and self.weekend == "keep":
            self.table.report('holidays requires weekend = "before" or weekend = "after"', "holidays")


class Payments(Defaults, frozen=True, kw_only=True):
    """The keys that transactions, transfers and contributions share."""

    name: str
    """Of the item. The same name gives the same draws."""
    amount: Annotated[
        tuple[Decimal, ...] | AmountRange,
        ByType(dict, InnerTable(AmountRange), OneOrMore(readers.AMOUNT), expected=readers.AMOUNT.expected),
    ]
    every: Annotated[Recurrence | None, readers.RECURRENCE] = None
    rrule: Annotated[Recurrence | None, readers.RRULE] = None
    from_: Annotated[Point | None, readers.POINT] = field(default=None, name="from")
    until: Annotated[Point | None, readers.POINT] = None
    times: Annotated[int | None, readers.TIMES] = None
    at: Annotated[tuple[Point, ...], OneOrMore(readers.POINT)] = ()
    time_of_day: Annotated[time, readers.TIME_OF_DAY] = field(default=DEFAULT_TIME, name="time")
    jitter_days: Annotated[int, readers.JITTER_DAYS] = 0
    chance: Annotated[Decimal | None, readers.CHANCE] = None
    late_by: Annotated[
        Duration | Mapping[Point, Duration] | None,
        ByType(dict, Mapped(readers.DATE_KEY, readers.DURATION, '{2027-02-25 = "3 days"}'), readers.DURATION),
    ] = None
    skipped: Annotated[tuple[Point, ...], OneOrMore(readers.POINT)] = ()

    def check(self) -> None:
        timings = [key for key in ("every", "rrule", "at") if key in self.table]
        if len(timings) != 1:
            self.table.report(
                'must have only one of every, for example "month on the 25th", at, for example "+10 days", and rrule'
            )
        if timings == ["at"]:
            for key in _RECURRENCE_KEYS:
                if key in self.table:
                    self.table.report(f"{key} requires every or rrule and can't be used with at; remove it", key)
        super().check()
        if isinstance(self.table.values["amount"], list):
            self._check_amounts(self.table.values["amount"])

    def _check_amounts(self, amounts: Sequence[object]) -> None:
        if not self.at:
            self.table.report("amount must be one number; a list of amounts requires at", "amount")
        elif len(amounts) != len(self.at):
            problem = f"amount must have as many entries as at: {len(self.at):,}, not {len(amounts):,}"
            self.table.report(problem, "amount")

    @property
    def local_time(self) -> LocalTime:
        return LocalTime(self.time_of_day, self.timezone)

    def nominal_instants(self, window: Window) -> list[datetime]:
        """Return all instants before any adjustment. Raise ScenarioError if one isn't possible."""
        with self.table.wrap_errors():
            recurrence = self.every or self.rrule
            if recurrence is None:
                return [self._listed_instant(point, window) for point in self.at]
            return self._recurring_instants(recurrence, window)

    def _listed_instant(self, point: Point, window: Window) -> datetime:
        instant = point.instant(self.local_time, window)
        if instant < window.start:
            problem = f'before the start, {timestamps.write(window.start)}; use "start" or later'
        elif instant > window.end:
            problem = f"after the end, {timestamps.write(window.end)}; use an earlier time, or increase length"
        else:
            return instant
        raise ValueError(f"at {point.text} is {timestamps.write(instant)}, {problem}")

    def _recurring_instants(self, recurrence: Recurrence, window: Window) -> list[datetime]:
        """Return the instants inside of the window. Those before the start count towards `times`."""
        local_time = self.local_time
        begin = self.from_.instant(local_time, window) if self.from_ else window.start
        end = self.until.instant(local_time, window) if self.until else window.end
        if self.from_ and begin < timestamps.years_after(window.start, -SPAN_YEARS):
            raise ValueError(f"from {self.from_.text} is more than {SPAN_YEARS} years before the start")
        if self.from_ and self.until and end < begin:
            raise ValueError(f"until {self.until.text} is before from {self.from_.text}")
        end = min(end, window.end)
        first, last = local_time.day_of(begin), local_time.day_of(end)
        days = recurrence.with_default_day(first).ordinals(
            first.toordinal() + (local_time.on(first) < begin),
            last.toordinal() - (local_time.on(last) > end),
        )
        # Converting a day takes longer than finding it.
        earliest = local_time.day_of(window.start).toordinal()
        found = (local_time.on(date.fromordinal(day)) for day in islice(days, self.times) if day >= earliest)
        return [instant for instant in found if instant >= window.start]

    def entries(self, nominal: Sequence[datetime], window: Window) -> list[PlannedEntry]:
        """Adjust the nominal instants: skip, chance, jitter, weekend, late payment, in this order."""
        local_time = self.local_time
        entries: list[PlannedEntry] = []
        with self.table.wrap_errors():
            days = dict.fromkeys(map(local_time.day_of, nominal))
            skipped = {self._nominal_day(point, "skipped", days, window) for point in self.skipped}
            late_days = self.late_by if isinstance(self.late_by, Mapping) else {}
            late = {self._nominal_day(point, "late_by", days, window): by for point, by in late_days.items()}
            late_by = self.late_by if isinstance(self.late_by, Duration) else None
            for index, instant in enumerate(nominal):
                day = local_time.day_of(instant)
                if day in skipped or not self._happens(day):
                    continue
                at = self._move(instant, day, late.get(day, late_by))
                if window.start <= at <= window.end:
                    entries.append((self.entry(at, self._amount(index, day), index, window), instant))
        return entries

    @abstractmethod
    def entry(self, at: datetime, amount: Decimal, index: int, window: Window) -> Any:
        """Return the transaction, transfer or contribution of a nominal instant, given the instant's index."""

    def _nominal_day(self, point: Point, key: str, days: Iterable[date], window: Window) -> date:
        """Return the day of a point. Inside of the scenario, it must be a nominal day of the item."""
        instant = point.instant(self.local_time, window)
        day = self.local_time.day_of(instant)
        if day not in days and window.start <= instant <= window.end:
            nearest = min(days, key=lambda one: abs(one - day), default=None)
            hint = f"; the nearest one is {nearest.isoformat()}" if nearest else ""
            raise ValueError(f"{key} {point.text} isn't a date of this item{hint}")
        return day

    def _happens(self, day: date) -> bool:
        return self.chance is None or self._draw(day, "chance", _MILLION) < self.chance * _MILLION

    def _move(self, instant: datetime, day: date, delay: Duration | None) -> datetime:
        moved = day
        if self.jitter_days:
            moved += timedelta(days=self._draw(day, "jitter", 2 * self.jitter_days + 1) - self.jitter_days)
        if not self.at:
            moved = to_working_day(moved, self.weekend, self.holidays)
        if moved == day and not delay:
            return instant
        # If the clocks go forward past the time of day, they do so on the nominal day only.
        is_at_time = instant == self.local_time.on(day)
        time_of_day = self.time_of_day if is_at_time else self.local_time.to_local(instant).time()
        local = datetime.combine(moved, time_of_day)
        return self.local_time.to_instant(delay.add_to(local) if delay else local)

    def _amount(self, index: int, day: date) -> Decimal:
        if not isinstance(self.amount, AmountRange):
            return nth(self.amount, index)
        lowest, step = self.amount.between[0], self.amount.step
        return to_exact_decimal(lowest + step * self._draw(day, "amount", self.amount.count))

    def _draw(self, day: date, use: str, count: int) -> int:
        return draw(self.seed, self.name, day, use, count)


def nth(amounts: Sequence[Decimal], index: int) -> Decimal:
    """Return an amount of a list, or the only one."""
    return amounts[index] if len(amounts) > 1 else amounts[0]
