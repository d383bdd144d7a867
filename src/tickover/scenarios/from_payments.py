"""Turns payments into a scenario file: recurrences that it finds, and dated items for the rest."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from hashlib import sha256
from typing import Final

from msgspec.structs import replace

from tickover.api.plans import OPENING_BALANCE
from tickover.scenarios import phrases
from tickover.scenarios.adjustments import Calendar, Weekend
from tickover.scenarios.recurrences import Recurrence
from tickover.scenarios.statements.statement import Payment, plain_number

_MIN_PAYMENTS: Final = 3
_DEFAULT_TIME: Final = time(8)
_MAX_JITTER: Final = timedelta(days=5)
_POSITIONS: Final = ("first", "second", "third", "fourth", "last")
_CENT: Final = Decimal("0.01")


_parse_phrase = cache(phrases.parse)
"""The candidates are few, and parsing one takes longer than comparing its first days."""


def write_scenario(payments: Sequence[Payment], *, title: str, summarise: bool = False, anonymise: bool = False) -> str:
    """Return a TOML scenario whose plan has the same payments. With `summarise`, irregular ones become variety."""
    if anonymise:
        payments = _anonymise(payments)
    opening: defaultdict[str, Decimal] = defaultdict(Decimal)
    for one in payments:
        if one.name == OPENING_BALANCE:
            opening[one.currency] += one.amount
    others = [one for one in payments if one.name != OPENING_BALANCE]
    start = min(one.day for one in payments)
    end = max(one.day for one in payments)
    if summarise:
        # Jitter must not move payments out of the scenario.
        start, end = start - _MAX_JITTER, end + _MAX_JITTER
    length = f"{(end - start).days + 1} days" if end > start else "1 day"
    lines = [f"title = {_quote(title)}", f"start = {start}", f'length = "{length}"']
    if opening:
        balances = ", ".join(
            f"{currency} = {plain_number(amount, currency)}" for currency, amount in sorted(opening.items())
        )
        lines.append(f"opening = {{{balances}}}")
    for group in _groups(others):
        lines += ["", *_item(group, start, end, summarise=summarise)]
    return "\n".join(lines) + "\n"


def _groups(payments: Sequence[Payment]) -> Iterable[Sequence[Payment]]:
    """Group payments with the same name, direction, currency, category and time of day. They stay in order."""
    groups: dict[tuple[str, bool, str, str, time | None], list[Payment]] = {}
    for one in payments:
        clock = one.at.time() if isinstance(one.at, datetime) else None
        groups.setdefault((one.name, one.amount > 0, one.currency, one.category, clock), []).append(one)
    return groups.values()


def _item(group: Sequence[Payment], start: date, end: date, *, summarise: bool) -> Iterator[str]:
    first = group[0]
    yield "[[transactions]]"
    yield f"name = {_quote(first.name)}"
    amounts = [abs(one.amount) for one in group]
    lowest, highest = (plain_number(find(amounts), first.currency) for find in (min, max))
    same_amount = lowest == highest
    can_vary = summarise and len(amounts) >= _MIN_PAYMENTS
    timing = list(_recurrence(group, start, end)) if same_amount or can_vary else []
    if not timing and can_vary:
        timing = list(_average_gap(group))
    if same_amount:
        yield f"amount = {lowest}"
    elif timing:
        yield f"amount = {{between = [{lowest}, {highest}]}}"
    else:
        yield f"amount = [{', '.join(plain_number(amount, first.currency) for amount in amounts)}]"
    yield f'type = "{"income" if first.amount > 0 else "expense"}"'
    yield f'currency = "{first.currency}"'
    if first.category:
        yield f"category = {_quote(first.category)}"
    yield from timing or [f"at = [{', '.join(one.day.isoformat() for one in group)}]"]
    if isinstance(first.at, datetime) and first.at.time() != _DEFAULT_TIME:
        yield f'time = "{first.at:%H:%M:%S}"'


def _recurrence(group: Sequence[Payment], start: date, end: date) -> Iterator[str]:
    """Yield the keys of the first recurrence that gives exactly the group's days, or nothing."""
    days = [one.day for one in group]
    if len(days) < _MIN_PAYMENTS:
        return
    for phrase, weekend in _candidates(days):
        recurrence = _parse_phrase(phrase).with_default_day(days[0])
        nominal = _nominal_days(recurrence, days, weekend)
        if nominal:
            yield f'every = "{phrase}"'
            if weekend != "keep":
                yield f'weekend = "{weekend}"'
            possible = list(recurrence.ordinals(start.toordinal(), end.toordinal()))
            if possible[:1] != nominal[:1]:
                yield f"from = {date.fromordinal(nominal[0])}"
            if possible[-1] > nominal[-1]:
                yield f"times = {len(days)}"
            return


def _nominal_days(recurrence: Recurrence, days: Sequence[date], weekend: Weekend) -> list[int]:
    """Return the first days of a recurrence if they are the given ones. Most recurrences differ on an early one."""
    calendar = Calendar(weekend)
    nominal: list[int] = []
    for ordinal, day in zip(recurrence.ordinals(days[0].toordinal(), days[-1].toordinal() + 3), days, strict=False):
        if calendar.move(date.fromordinal(ordinal)) != day:
            return []
        nominal.append(ordinal)
    return nominal if len(nominal) == len(days) else []


def _candidates(days: Sequence[date]) -> Iterator[tuple[str, Weekend]]:
    weekday = phrases.WEEKDAY_NAMES[days[0].weekday()]
    last = phrases.ordinal(max(day.day for day in days))
    yield "day", "keep"
    yield "weekday", "keep"
    for weeks in ("week", "2 weeks", "4 weeks"):
        yield f"{weeks} on {weekday}", "keep"
    for months in ("month", "quarter", "2 months", "6 months"):
        yield f"{months} on the {last}", "keep"
    for day in ("last day", "last weekday", *(f"{nth} {weekday}" for nth in _POSITIONS)):
        yield f"month on the {day}", "keep"
    for nominal in map(phrases.ordinal, sorted({day.day for day in days})):
        yield f"month on the {nominal}", "before"
        yield f"month on the {nominal}", "after"


def _average_gap(group: Sequence[Payment]) -> Iterator[str]:
    """Yield the keys of a regular payment with jitter that happens about as often."""
    days = [one.day for one in group]
    gap = max(1, round((days[-1] - days[0]).days / (len(days) - 1)))
    yield f'every = "{gap} days"'
    yield f"from = {days[0]}"
    yield f"times = {len(days)}"
    if gap > 2:
        yield f"jitter_days = {min(_MAX_JITTER.days, gap // 3)}"


def _anonymise(payments: Sequence[Payment]) -> list[Payment]:
    """Replace names with numbered ones, and scale amounts by a factor that depends on all payments."""
    digest = sha256(repr(list(payments)).encode()).digest()
    factor = Decimal(50 + int.from_bytes(digest[:4], "big") % 49) / 100
    names: dict[str, str] = {OPENING_BALANCE: OPENING_BALANCE}
    renamed = []
    for one in payments:
        kind = "Income" if one.amount > 0 else "Expense"
        name = names.setdefault(one.name, f"{kind} {len(names)}")
        amount = (one.amount * factor).quantize(_CENT) or _CENT.copy_sign(one.amount)
        renamed.append(replace(one, name=name, amount=amount, category=""))
    return renamed


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
