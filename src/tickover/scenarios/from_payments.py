"""Turns payments into a scenario file: recurrences that it finds, and dated items for the rest."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from hashlib import sha256
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from tickover.api.plans import PlannedAccount
from tickover.scenarios import phrases
from tickover.scenarios.adjustments import Weekend, to_working_day
from tickover.scenarios.recurrences import Recurrence
from tickover.scenarios.statements.history import History
from tickover.scenarios.statements.statement import Payment, plain_number

_MIN_PAYMENTS: Final = 3
_DEFAULT_TIME: Final = time(8)
_MAX_JITTER: Final = timedelta(days=5)
_POSITIONS: Final = ("first", "second", "third", "fourth", "last")
_CENT: Final = Decimal("0.01")


_parse_phrase = cache(phrases.parse)
"""The candidates are few, and parsing one takes longer than comparing its first days."""


def write_scenario(history: History, *, title: str, summarise: bool = False, anonymise: bool = False) -> str:
    """Return a TOML scenario whose plan has the same payments. With `summarise`, irregular ones become variety."""
    if anonymise:
        history = _anonymise(history)
    days = [item.day for item in history.payments]
    authorized = [item.authorized_at.date() for item in history.payments if item.authorized_at is not UNSET]
    start, end = min([days[0], *authorized]), days[-1]
    if summarise:
        # Jitter must not move payments out of the scenario.
        start, end = start - _MAX_JITTER, end + _MAX_JITTER
    length = f"{(end - start).days + 1} days" if end > start else "1 day"
    lines = [f"title = {_quote(title)}", f"start = {start}", f'length = "{length}"']
    if history.opening:
        balances = ", ".join(
            f"{currency} = {plain_number(amount, currency)}" for currency, amount in sorted(history.opening.items())
        )
        lines.append(f"opening = {{{balances}}}")
    for account in history.accounts:
        lines += ["", *_account(account)]
    currencies = {account.key: account.currency for account in history.accounts}
    for group in _groups(history.payments):
        lines += ["", *_item(group, start, end, currencies, summarise=summarise)]
    return "\n".join(lines) + "\n"


def _account(account: PlannedAccount) -> Iterator[str]:
    yield "[[accounts]]"
    yield f'key = "{account.key}"'
    yield f"name = {_quote(account.name)}"
    yield f'type = "{account.type.lower().replace("_", " ")}"'
    yield f'currency = "{account.currency}"'
    yield f"opening_balance = {plain_number(account.opening_balance, account.currency)}"


def _groups(items: Sequence[Payment]) -> Iterable[Sequence[Payment]]:
    """Group items that differ only in their day and their amount. They stay in order."""
    groups: dict[tuple[object, ...], list[Payment]] = {}
    for one in items:
        clock = one.at.time() if isinstance(one.at, datetime) else None
        key = (one.name, one.amount > 0, one.currency, clock, *_members(one))
        groups.setdefault(key, []).append(one)
    return groups.values()


def _item(
    group: Sequence[Payment], start: date, end: date, currencies: Mapping[str, str], *, summarise: bool
) -> Iterator[str]:
    first = group[0]
    yield "[[transactions]]" if first.to is UNSET else "[[transfers]]"
    yield f"name = {_quote(first.name)}"
    amounts = [abs(one.amount) for one in group]
    received = [one.received for one in group if one.received is not UNSET]
    lowest, highest = (plain_number(find(amounts), first.currency) for find in (min, max))
    same_amount = lowest == highest and len(set(received)) < 2
    can_vary = summarise and len(amounts) >= _MIN_PAYMENTS and not received
    timing = list(_recurrence(group, start, end)) if same_amount or can_vary else []
    if not timing and can_vary:
        timing = list(_average_gap(group))
    if same_amount:
        yield f"amount = {lowest}"
    elif timing:
        yield f"amount = {{between = [{lowest}, {highest}]}}"
    else:
        yield f"amount = {_list_numbers(amounts, first.currency)}"
    yield from _members(first)
    if first.to is not UNSET and received:
        currency = currencies[first.to]
        yield f"received = {_list_numbers(received[:1] if same_amount else received, currency)}"
    yield from timing or [f"at = [{', '.join(one.day.isoformat() for one in group)}]"]
    if isinstance(first.at, datetime) and first.at.time() != _DEFAULT_TIME:
        yield f'time = "{first.at:%H:%M:%S}"'


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
    if item.authorized_at is not UNSET and isinstance(item.at, datetime):
        yield f'pending = "{_duration(item.at - item.authorized_at)}"'
    if item.authorized_amount is not UNSET:
        yield f"authorized_amount = {plain_number(item.authorized_amount, item.currency)}"
    if item.authorized_name is not UNSET:
        yield f"authorized_name = {_quote(item.authorized_name)}"


def _duration(delta: timedelta) -> str:
    minutes, seconds = divmod(delta.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    units = {"day": delta.days, "hour": hours, "minute": minutes, "second": seconds}
    return " ".join(f"{count} {unit}{'s' if count > 1 else ''}" for unit, count in units.items() if count)


def _list_numbers(amounts: Sequence[Decimal], currency: str) -> str:
    return f"[{', '.join(plain_number(amount, currency) for amount in amounts)}]"


def _recurrence(group: Sequence[Payment], start: date, end: date) -> Iterator[str]:
    """Yield the keys of the first recurrence that gives exactly the group's days, or nothing."""
    days = [one.day for one in group]
    if len(days) < _MIN_PAYMENTS:
        return
    for phrase, weekend in _candidates(days):
        recurrence = _parse_phrase(phrase)
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


def _average_gap(group: Sequence[Payment]) -> Iterator[str]:
    """Yield the keys of a regular payment with jitter that happens about as often."""
    days = [one.day for one in group]
    gap = max(1, round((days[-1] - days[0]).days / (len(days) - 1)))
    yield f'every = "{gap} days"'
    yield f"from = {days[0]}"
    yield f"times = {len(days)}"
    if gap > 2:
        yield f"jitter_days = {min(_MAX_JITTER.days, gap // 3)}"


def _anonymise(history: History) -> History:
    """Replace names with numbered ones, and scale amounts by a factor that depends on all items."""
    digest = sha256(repr(history.payments).encode()).digest()
    factor = Decimal(50 + int.from_bytes(digest[:4], "big") % 49) / 100
    names: dict[str, str] = {}

    def scale(amount: Decimal) -> Decimal:
        return (amount * factor).quantize(_CENT) or _CENT.copy_sign(amount)

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
    # Unlike JSON, TOML escapes U+007F too.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
