"""Turns payments into a scenario file: recurrences that it finds, and dated items for the rest."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from hashlib import sha256
from itertools import islice
from typing import Final

from msgspec import UNSET, Struct
from msgspec.structs import replace

from tickover.api import timestamps
from tickover.api.connections import BankSettings
from tickover.api.limits import SPAN_YEARS
from tickover.api.plans import PlannedAccount
from tickover.scenarios import phrases
from tickover.scenarios.adjustments import Weekend, to_working_day
from tickover.scenarios.bank_files.account_register import plain_number
from tickover.scenarios.bank_files.history import History, Payment
from tickover.scenarios.recurrences import Recurrence
from tickover.scenarios.timings import DEFAULT_TIME, Window
from tickover.scenarios.toml_files import MAX_DOTS_PER_LINE

_MIN_PAYMENTS: Final = 3
_DAY: Final = timedelta(days=1)
_MAX_JITTER: Final = timedelta(days=5)
_POSITIONS: Final = ("first", "second", "third", "fourth", "last")
_NUMBERS_PER_LINE: Final = 20
_CENT: Final = Decimal("0.01")


_parse_phrase = cache(phrases.parse)
"""The candidates are few, and parsing one takes longer than comparing its first days."""


class _Pattern(Struct, frozen=True):
    """A recurrence, and those of its nominal days on which the payments of a group are due."""

    phrase: str
    weekend: Weekend
    days: Sequence[int]
    time: time
    jitter_days: int = 0

    @property
    def last(self) -> datetime:
        return self.instant(self.days[-1])

    def instant(self, day: int) -> datetime:
        return datetime.combine(date.fromordinal(day), self.time, UTC)

    def write(self, window: Window) -> Iterator[str]:
        """Yield the keys with which a scenario has exactly these nominal days."""
        yield f'every = "{self.phrase}"'
        if self.weekend != "keep":
            yield f'weekend = "{self.weekend}"'
        first = window.start.toordinal()
        last = window.end.toordinal()
        possible = _parse_phrase(self.phrase).ordinals(
            first + (self.instant(first) < window.start), last - (self.instant(last) > window.end)
        )
        earliest = list(islice(possible, len(self.days) + 1))
        if earliest[:1] != [self.days[0]]:
            yield f"from = {date.fromordinal(self.days[0])}"
        if earliest != self.days:
            yield f"times = {len(self.days)}"
        if self.jitter_days:
            yield f"jitter_days = {self.jitter_days}"


def write_scenario(history: History, *, title: str, summarise: bool = False, anonymise: bool = False) -> str:
    """Return a TOML scenario whose plan has the same payments. With `summarise`, irregular ones become variety."""
    if anonymise:
        history = _anonymise(history)
    # Jitter must not move payments out of the scenario.
    margin = _MAX_JITTER if summarise else timedelta()
    authorized = [item.authorized_at for item in history.payments if item.authorized_at is not UNSET]
    start = _midnight(min([history.payments[0].instant, *authorized])) - margin
    end = _midnight(history.payments[-1].instant) + _DAY + margin
    if history.latest and end > timestamps.years_after(start):
        start, margin = timestamps.years_after(history.latest, -SPAN_YEARS), timedelta()
    limit = timestamps.years_after(start)
    groups = list(_groups(history.payments))
    patterns = [_find_pattern(group, limit - margin, margin, summarise=summarise) for group in groups]
    ends = [end, *(_midnight(pattern.last) + _DAY + margin for pattern in patterns if pattern)]
    window = Window(start, min(limit, max(ends)))
    is_aligned = start == _midnight(start)
    lines = [
        f"title = {_quote(title)}",
        f"start = {start.date() if is_aligned else timestamps.write(start)}",
        f'length = "{_length(window)}"',
    ]
    if history.opening:
        balances = ", ".join(
            f"{currency} = {plain_number(amount, currency)}" for currency, amount in sorted(history.opening.items())
        )
        lines.append(f"opening = {{{balances}}}")
    for account in history.accounts:
        lines += ["", *_account(account)]
    currencies = {account.key: account.currency for account in history.accounts}
    for group, pattern in zip(groups, patterns, strict=True):
        lines += ["", *_item(group, pattern, window, currencies)]
    if history.bank_defaults is not None:
        lines += ["", *_bank(history.bank_defaults)]
    return "\n".join(lines) + "\n"


def _midnight(instant: datetime) -> datetime:
    return datetime.combine(instant.date(), time(), UTC)


def _length(window: Window) -> str:
    if window.end == timestamps.years_after(window.start):
        return f"{SPAN_YEARS} years"
    days = (window.end - window.start).days
    return f"{days} day{'s' if days > 1 else ''}"


def _account(account: PlannedAccount) -> Iterator[str]:
    yield "[[accounts]]"
    yield f'key = "{account.key}"'
    yield f"name = {_quote(account.name)}"
    yield f'type = "{account.type.lower().replace("_", " ")}"'
    yield f'currency = "{account.currency}"'
    yield f"opening_balance = {plain_number(account.opening_balance, account.currency)}"


def _bank(settings: BankSettings) -> Iterator[str]:
    yield "[bank]"
    if settings.quirks is not UNSET:
        yield f"quirks = {json.dumps(list(settings.quirks))}"
    if settings.consent_days is not UNSET:
        yield f"consentDays = {settings.consent_days}"
    if settings.calls_per_day is not UNSET:
        yield f"callsPerDay = {settings.calls_per_day}"
    if settings.bank_faults is not UNSET and not settings.bank_faults:
        yield "faults = []"
    for fault in settings.bank_faults or ():
        yield from ("", "[[bank.faults]]", f'kind = "{fault.kind}"', f"from = {timestamps.write(fault.from_)}")
        if fault.until is not UNSET:
            yield f"until = {timestamps.write(fault.until)}"


def _groups(items: Sequence[Payment]) -> Iterable[Sequence[Payment]]:
    """Group items that differ only in their day and their amount. They stay in order."""
    groups: dict[tuple[object, ...], list[Payment]] = {}
    for one in items:
        key = (one.name, one.amount > 0, one.currency, one.instant.time(), *_members(one))
        groups.setdefault(key, []).append(one)
    return groups.values()


def _item(
    group: Sequence[Payment], pattern: _Pattern | None, window: Window, currencies: Mapping[str, str]
) -> Iterator[str]:
    first = group[0]
    yield "[[transactions]]" if first.to is UNSET else "[[transfers]]"
    yield f"name = {_quote(first.name)}"
    amounts = [abs(one.amount) for one in group]
    received = [one.received for one in group if one.received is not UNSET]
    if _is_same(group):
        amounts, received = amounts[:1], received[:1]
    if len(amounts) == 1:
        yield f"amount = {plain_number(amounts[0], first.currency)}"
    elif pattern:
        lowest, highest = (plain_number(find(amounts), first.currency) for find in (min, max))
        yield f"amount = {{between = [{lowest}, {highest}]}}"
    else:
        yield f"amount = {_list_numbers(amounts, first.currency)}"
    yield from _members(first)
    if first.to is not UNSET and received:
        yield f"received = {_list_numbers(received, currencies[first.to])}"
    yield from pattern.write(window) if pattern else [f"at = [{', '.join(one.day.isoformat() for one in group)}]"]
    if first.instant.time() != DEFAULT_TIME:
        yield f'time = "{first.instant.time().isoformat()}"'


def _is_same(group: Sequence[Payment]) -> bool:
    """Return whether all amounts are the same."""
    return len({(one.amount, one.received) for one in group}) == 1


def _members(item: Payment) -> Iterator[str]:
    """Yield the keys that all items of a group share, besides the name and the timing."""
    if item.to is not UNSET:
        yield f'from_account = "{item.account}"'
        yield f'to_account = "{item.to}"'
        return
    yield f'type = "{"income" if item.amount > 0 else "expense"}"'
    yield f'account = "{item.account}"' if item.account else f'currency = "{item.currency}"'
    if item.category:
        yield f"category = {_quote(item.category)}"
    if item.authorized_at is not UNSET:
        pending = item.instant - item.authorized_at
        if _is_duration(pending):
            yield f'pending = "{_duration(pending)}"'
        else:
            yield f"authorized_at = {timestamps.write(item.authorized_at)}"
    if item.authorized_amount is not UNSET:
        yield f"authorized_amount = {plain_number(item.authorized_amount, item.currency)}"
    if item.authorized_name is not UNSET:
        yield f"authorized_name = {_quote(item.authorized_name)}"


def _is_duration(delta: timedelta) -> bool:
    """Return whether a scenario can express it as a duration. They have whole seconds, and none is zero."""
    return bool(delta) and not delta.microseconds


def _duration(delta: timedelta) -> str:
    minutes, seconds = divmod(delta.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    units = {"day": delta.days, "hour": hours, "minute": minutes, "second": seconds}
    return " ".join(f"{count} {unit}{'s' if count > 1 else ''}" for unit, count in units.items() if count)


def _list_numbers(amounts: Sequence[Decimal], currency: str) -> str:
    numbers = [plain_number(amount, currency) for amount in amounts]
    lines = [", ".join(numbers[at : at + _NUMBERS_PER_LINE]) for at in range(0, len(numbers), _NUMBERS_PER_LINE)]
    return f"[{f',{chr(10)}  '.join(lines)}]"


def _find_pattern(group: Sequence[Payment], limit: datetime, margin: timedelta, *, summarise: bool) -> _Pattern | None:
    """Return the first recurrence that gives exactly the group's days, or, to summarise them, about as many."""
    first = group[0]
    varies = summarise and first.received is UNSET
    if len(group) < _MIN_PAYMENTS or not (varies or _is_same(group)):
        return None
    if first.authorized_at is not UNSET and not _is_duration(first.instant - first.authorized_at):
        return None
    days, time_of_day = [one.day for one in group], first.instant.time()
    for phrase, weekend in _candidates(days):
        pattern = _Pattern(phrase, weekend, _nominal_days(_parse_phrase(phrase), days, weekend), time_of_day)
        if pattern.days and pattern.last <= limit:
            return pattern
    return _average_gap(days, time_of_day, margin) if varies else None


def _nominal_days(recurrence: Recurrence, days: Sequence[date], weekend: Weekend) -> list[int]:
    """Return the first days of a recurrence if they are the given ones. Most recurrences differ on an early one."""
    nominal: list[int] = []
    for ordinal, day in zip(recurrence.ordinals(days[0].toordinal(), days[-1].toordinal() + 3), days, strict=False):
        if to_working_day(date.fromordinal(ordinal), weekend) != day:
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


def _average_gap(days: Sequence[date], time_of_day: time, margin: timedelta) -> _Pattern | None:
    """Return a recurrence with jitter that happens about as often, unless there are several payments a day."""
    gap = (days[-1] - days[0]).days // (len(days) - 1)
    if not gap:
        return None
    nominal = [days[0].toordinal() + gap * number for number in range(len(days))]
    return _Pattern(f"{gap} days", "keep", nominal, time_of_day, min(margin.days, gap // 3))


def _anonymise(history: History) -> History:
    """Replace names with numbered ones, and scale amounts by a factor that depends on all items."""
    digest = sha256(repr(history.payments).encode()).digest()
    factor = Decimal(50 + int.from_bytes(digest[:4], "big") % 49) / 100
    names: dict[str, str] = {}

    def scale(amount: Decimal) -> Decimal:
        return amount and ((amount * factor).quantize(_CENT) or _CENT.copy_sign(amount))

    def rename(item: Payment) -> Payment:
        kind = "Transfer" if item.to is not UNSET else "Income" if item.amount > 0 else "Expense"
        changes: dict[str, object] = {"amount": scale(item.amount), "category": ""}
        for field, name in (("name", item.name), ("authorized_name", item.authorized_name)):
            if name:
                changes[field] = names.setdefault(name, f"{kind} {len(names) + 1}")
        for field, amount in (("received", item.received), ("authorized_amount", item.authorized_amount)):
            if amount is not UNSET:
                changes[field] = scale(amount)
        return replace(item, **changes)

    return History(
        payments=[rename(item) for item in history.payments],
        opening={currency: scale(amount) for currency, amount in history.opening.items()},
        accounts=[
            replace(account, name=f"Account {number}", opening_balance=scale(account.opening_balance))
            for number, account in enumerate(history.accounts, 1)
        ],
    )


def _quote(text: str) -> str:
    """Return a string of TOML on one line, also for programs that end lines at U+2028."""
    quoted = json.dumps(text, ensure_ascii=False)
    if text.count(".") > MAX_DOTS_PER_LINE // 2:
        quoted = quoted.replace(".", "\\u002e")
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in quoted)
