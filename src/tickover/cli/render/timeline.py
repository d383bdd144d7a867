"""The timeline: an axis, a lane each for money in, money out and goals, and a curve for each currency."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final

from rich.text import Text

from tickover.cli import formatting
from tickover.cli.render.axis import Axis, axis_over, ticks
from tickover.cli.render.items import Item
from tickover.cli.render.lines import FAINT, HAPPENED, INDENT, NOW, SCHEDULED, cut, flow

HAPPENED_MARK: Final = "●"
SCHEDULED_MARK: Final = "○"
_NOW_MARK: Final = "│"
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_LANES: Final = ("in", "out", "goals")
_LONGEST_LABEL: Final = 5
_GUTTER: Final = len(INDENT) + _LONGEST_LABEL + 2
_MOST_CURRENCIES: Final = 6


def timeline(items: Sequence[Item], frozen_time: datetime, width: int) -> list[Text]:
    """All the items over time, in lines that are at most so wide; nothing when there are none."""
    if not items:
        return []
    instants = [items[0].at, items[-1].at, frozen_time]
    axis = axis_over(min(instants), max(instants), max(2, width - _GUTTER))
    now = axis.column(frozen_time)
    lanes = [_lane(name, [item for item in items if item.lane == name], axis, now) for name in _LANES]
    return [_labels(axis), *filter(None, lanes), *_curves(items, axis, now, width), *_legend(items, axis, width)]


def _labels(axis: Axis) -> Text:
    ruler = list("─" * axis.columns)
    for column, label in ticks(axis):
        ruler[column : column + len(label)] = label
    return _line("", Text("".join(ruler), FAINT))


def _lane(name: str, items: Sequence[Item], axis: Axis, now: int) -> Text | None:
    if not items:
        return None
    lane = [Text(" ")] * axis.columns
    lane[now] = Text(_NOW_MARK, NOW)
    for column, number in _numbers(items, axis).items():
        happened = all(item.happened for item in items if axis.column(item.at) == column)
        one = HAPPENED_MARK if happened else SCHEDULED_MARK
        mark = one if number == 1 else str(number) if number <= 9 else "+"
        lane[column] = Text(mark, HAPPENED if happened else SCHEDULED)
    return _line(name, Text().join(lane))


def _numbers(items: Iterable[Item], axis: Axis) -> Counter[int]:
    return Counter(axis.column(item.at) for item in items)


def _curves(items: Sequence[Item], axis: Axis, now: int, width: int) -> list[Text]:
    currencies = list(dict.fromkeys(item.currency for item in items if item.currency))
    lines: list[Text] = []
    for currency in currencies[:_MOST_CURRENCIES]:
        flows = [item for item in items if item.currency == currency]
        lines.append(_line(currency, _curve(flows, axis, now)))
        lines.append(cut(_line("", _told(flows)), width))
    if len(currencies) > _MOST_CURRENCIES:
        more = formatting.count(len(currencies) - _MOST_CURRENCIES, "more currency", "more currencies")
        lines.append(_line("", Text(f"and {more}", FAINT)))
    return lines


def _curve(flows: Sequence[Item], axis: Axis, now: int) -> Text:
    """What all that comes in and goes out makes together, from column to column."""
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


def _told(flows: Sequence[Item]) -> Text:
    now = sum((item.amount for item in flows if item.happened), Decimal(0))
    end = sum((item.amount for item in flows), Decimal(0))
    told = Text.assemble(("now ", FAINT), (formatting.signed(now), HAPPENED))
    if not all(item.happened for item in flows):
        told.append(" → end ", FAINT).append(formatting.signed(end))
    return told


def _legend(items: Sequence[Item], axis: Axis, width: int) -> list[Text]:
    explained = {
        f"{HAPPENED_MARK} happened": any(item.happened for item in items),
        f"{SCHEDULED_MARK} scheduled": not all(item.happened for item in items),
        "2 several at once": any(
            number > 1 for lane in _LANES for number in _numbers((i for i in items if i.lane == lane), axis).values()
        ),
        f"{_NOW_MARK} now": True,
        "▒ to be saved": any(item.lane == "goals" and not item.happened for item in items),
    }
    lead = " " * (_GUTTER - len(INDENT))
    pieces = flow((Text(piece, FAINT) for piece, is_there in explained.items() if is_there), width - len(lead))
    return [Text(lead).append_text(piece) for piece in pieces]


def _line(label: str, drawn: Text) -> Text:
    gutter = Text(INDENT).append_text(cut(Text(label, FAINT), _LONGEST_LABEL))
    gutter.align("left", _GUTTER)
    line = gutter.append_text(drawn)
    line.rstrip()
    return line
