"""The timeline: an axis, lanes for income, expenses and goals, and a curve for each currency."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final

from rich.text import Text

from tickover.cli import formatting
from tickover.cli.render.axis import Axis, build_axis, ticks
from tickover.cli.render.layout import BAD, FAINT, HAPPENED, INDENT, NOW, SCHEDULED, truncate, wrap
from tickover.client.timeline import HAPPENED_MARK, SCHEDULED_MARK, Item

_NOW_MARK: Final = "│"
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_LANES: Final = ("in", "out", "goals")
_MAX_LABEL: Final = 5
_GUTTER: Final = len(INDENT) + _MAX_LABEL + 2
_MAX_CURRENCIES: Final = 6


def timeline(items: Sequence[Item], frozen_time: datetime, width: int, time_label: str = "now") -> list[Text]:
    """Render the items over time. Return no lines if there are no items. `time_label` names the frozen time."""
    if not items:
        return []
    times = [items[0].at, items[-1].at, frozen_time]
    axis = build_axis(min(times), max(times), max(2, width - _GUTTER))
    now = axis.column(frozen_time)
    lanes = [_lane(name, [item for item in items if item.lane == name], axis, now) for name in _LANES]
    return [
        _ruler(axis),
        *filter(None, lanes),
        *_curves(items, axis, now, width, time_label),
        *_legend(items, axis, width, time_label),
    ]


def _ruler(axis: Axis) -> Text:
    ruler = list("─" * axis.columns)
    for column, label in ticks(axis):
        ruler[column : column + len(label)] = label
    return _line("", Text("".join(ruler), FAINT))


def _lane(name: str, items: Sequence[Item], axis: Axis, now: int) -> Text | None:
    if not items:
        return None
    lane = [Text(" ")] * axis.columns
    lane[now] = Text(_NOW_MARK, NOW)
    scheduled = {axis.column(item.at) for item in items if not item.happened}
    for column, number in _count_by_column(items, axis).items():
        happened = column not in scheduled
        single = HAPPENED_MARK if happened else SCHEDULED_MARK
        mark = single if number == 1 else str(number) if number <= 9 else "+"
        lane[column] = Text(mark, HAPPENED if happened else SCHEDULED)
    return _line(name, Text().join(lane))


def _count_by_column(items: Iterable[Item], axis: Axis) -> Counter[int]:
    return Counter(axis.column(item.at) for item in items)


def _curves(items: Sequence[Item], axis: Axis, now: int, width: int, time_label: str) -> list[Text]:
    currencies = list(dict.fromkeys(item.currency for item in items if item.currency))
    lines: list[Text] = []
    for currency in currencies[:_MAX_CURRENCIES]:
        flows = [item for item in items if item.currency == currency]
        lines.append(_line(currency, _curve(flows, axis, now)))
        lines += _indent(_balances(flows, time_label), width)
    if len(currencies) > _MAX_CURRENCIES:
        more = formatting.count(len(currencies) - _MAX_CURRENCIES, "more currency", "more currencies")
        lines.append(_line("", Text(f"and {more}", FAINT)))
    return lines


def _curve(flows: Sequence[Item], axis: Axis, now: int) -> Text:
    """Render the running total of one currency."""
    sums = [Decimal(0)] * axis.columns
    for item in flows:
        sums[axis.column(item.at)] += item.amount
    total, totals = Decimal(0), []
    for change in sums:
        total += change
        totals.append(total)
    low, high = min(totals), max(totals)
    top = len(_LEVELS) - 1
    levels = [_LEVELS[int((value - low) * top / (high - low)) if high > low else 0] for value in totals]
    return Text.assemble(("".join(levels[:now]), HAPPENED), (_NOW_MARK, NOW), ("".join(levels[now + 1 :]), SCHEDULED))


def _balances(flows: Sequence[Item], time_label: str) -> list[Text]:
    """Describe the balance at the clock's time and at the end, and the lowest point of the whole schedule."""
    now = sum((item.amount for item in flows if item.happened), Decimal(0))
    end = sum((item.amount for item in flows), Decimal(0))
    balance = Text.assemble((f"{time_label} ", FAINT), (formatting.amount(now), HAPPENED))
    if not all(item.happened for item in flows):
        balance.append(" → end ", FAINT).append(formatting.amount(end))
    at, lowest = lowest_point(flows)
    low = Text.assemble(("lowest ", FAINT), (formatting.amount(lowest), BAD if lowest < 0 else ""))
    return [balance, low.append(f" on {formatting.date(at)}", FAINT)]


def lowest_point(flows: Sequence[Item]) -> tuple[datetime, Decimal]:
    """Return the first instant with the lowest balance of one currency. Items at one instant count together."""
    balances: dict[datetime, Decimal] = {}
    balance = Decimal(0)
    for item in flows:
        balance += item.amount
        balances[item.at] = balance
    at = min(balances, key=balances.__getitem__)
    return at, balances[at]


def _legend(items: Sequence[Item], axis: Axis, width: int, time_label: str) -> list[Text]:
    entries = {
        f"{HAPPENED_MARK} happened": any(item.happened for item in items),
        f"{SCHEDULED_MARK} scheduled": not all(item.happened for item in items),
        "2 several at once": any(
            number > 1
            for lane in _LANES
            for number in _count_by_column((i for i in items if i.lane == lane), axis).values()
        ),
        f"{_NOW_MARK} {time_label}": True,
        "▒ to be saved": any(item.lane == "goals" and not item.happened for item in items),
    }
    return _indent([Text(entry, FAINT) for entry, is_used in entries.items() if is_used], width)


def _indent(pieces: Iterable[Text], width: int) -> list[Text]:
    """Place the pieces side by side below the columns of the axis."""
    margin = " " * (_GUTTER - len(INDENT))
    return [Text(margin).append_text(line) for line in wrap(pieces, width - len(margin))]


def _line(label: str, content: Text) -> Text:
    gutter = Text(INDENT).append_text(truncate(Text(label, FAINT), _MAX_LABEL))
    gutter.align("left", _GUTTER)
    line = gutter.append_text(content)
    line.rstrip()
    return line
