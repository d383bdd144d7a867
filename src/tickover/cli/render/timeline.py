"""The timeline: an axis, lanes for the items, and a curve for each account or currency."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.text import Text

from tickover.cli import formatting
from tickover.cli.render.axis import Axis, build_axis, ticks
from tickover.cli.render.layout import BAD, FAINT, HAPPENED, INDENT, NOW, SCHEDULED, truncate, wrap
from tickover.client.timeline import HAPPENED_MARK, SCHEDULED_MARK, Item

_NOW_MARK: Final = "│"
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_LANES: Final = ("in", "out", "moves", "goals")
_MIN_LABEL: Final = 5
_MAX_LABEL: Final = 10
_MAX_CURVES: Final = 6


class Flow(NamedTuple):
    """What an item adds to a balance."""

    at: datetime
    amount: Decimal
    happened: bool


def timeline(
    items: Sequence[Item], opening: Mapping[str, Decimal], frozen_time: datetime, width: int, time_label: str = "now"
) -> list[Text]:
    """Render the items over time. Return no lines if there are no items. `time_label` names the frozen time.

    `opening` has the opening balance of each account or currency, which has a curve.
    """
    if not items:
        return []
    times = [items[0].at, items[-1].at, frozen_time]
    label_width = min(_MAX_LABEL, max([_MIN_LABEL, *map(cell_len, opening)]))
    margin = len(INDENT) + label_width + 2
    axis = build_axis(min(times), max(times), max(2, width - margin), margin)
    now = axis.column(frozen_time)
    lanes = [_lane(name, [item for item in items if item.lane == name], axis, now) for name in _LANES]
    return [
        _ruler(axis),
        *filter(None, lanes),
        *_curves(items, opening, axis, now, width, time_label),
        *_legend(items, axis, width, time_label),
    ]


def _ruler(axis: Axis) -> Text:
    ruler = list("─" * axis.columns)
    for column, label in ticks(axis):
        ruler[column : column + len(label)] = label
    return _line(axis, "", Text("".join(ruler), FAINT))


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
    return _line(axis, name, Text().join(lane))


def _count_by_column(items: Iterable[Item], axis: Axis) -> Counter[int]:
    return Counter(axis.column(item.at) for item in items)


def _curves(
    items: Sequence[Item], opening: Mapping[str, Decimal], axis: Axis, now: int, width: int, time_label: str
) -> list[Text]:
    lines: list[Text] = []
    for book in list(opening)[:_MAX_CURVES]:
        flows = [Flow(item.at, amount, item.happened) for item in items for key, amount in item.changes if key == book]
        lines.append(_line(axis, book, _curve(opening[book], flows, axis, now)))
        lines += _indent(axis, _balances(opening[book], flows, time_label), width)
    if len(opening) > _MAX_CURVES:
        more = Text(f"and {len(opening) - _MAX_CURVES} more", FAINT)
        lines.append(_line(axis, "", truncate(more, axis.columns)))
    return lines


def _curve(opening: Decimal, flows: Sequence[Flow], axis: Axis, now: int) -> Text:
    """Render the balance."""
    sums = [Decimal(0)] * axis.columns
    for flow in flows:
        sums[axis.column(flow.at)] += flow.amount
    total, totals = opening, []
    for change in sums:
        total += change
        totals.append(total)
    low, high = min(totals), max(totals)
    top = len(_LEVELS) - 1
    levels = [_LEVELS[int((value - low) * top / (high - low)) if high > low else 0] for value in totals]
    return Text.assemble(("".join(levels[:now]), HAPPENED), (_NOW_MARK, NOW), ("".join(levels[now + 1 :]), SCHEDULED))


def _balances(opening: Decimal, flows: Sequence[Flow], time_label: str) -> list[Text]:
    """Describe the balance at the clock's time and at the end, and the lowest point of the whole schedule."""
    now = sum((flow.amount for flow in flows if flow.happened), opening)
    end = sum((flow.amount for flow in flows), opening)
    balance = Text.assemble((f"{time_label} ", FAINT), (formatting.amount(now), HAPPENED))
    if not all(flow.happened for flow in flows):
        balance.append(" → end ", FAINT).append(formatting.amount(end))
    at, lowest = lowest_point(opening, flows)
    low = Text.assemble(("lowest ", FAINT), (formatting.amount(lowest), BAD if lowest < 0 else ""))
    return [balance, low.append(f" on {formatting.date(at)}" if at else " at the start", FAINT)]


def lowest_point(opening: Decimal, flows: Sequence[Flow]) -> tuple[datetime | None, Decimal]:
    """Return the first instant with the lowest balance, or None for the start. Items at one instant count together."""
    balances: dict[datetime | None, Decimal] = {None: opening}
    balance = opening
    for flow in flows:
        balance += flow.amount
        balances[flow.at] = balance
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
    return _indent(axis, [Text(entry, FAINT) for entry, is_used in entries.items() if is_used], width)


def _indent(axis: Axis, pieces: Iterable[Text], width: int) -> list[Text]:
    """Place the pieces side by side below the columns of the axis."""
    margin = " " * (axis.margin - len(INDENT))
    return [Text(margin).append_text(line) for line in wrap(pieces, width - len(margin))]


def _line(axis: Axis, label: str, content: Text) -> Text:
    line = Text(INDENT).append_text(truncate(Text(label, FAINT), axis.margin - len(INDENT) - 2))
    line.align("left", axis.margin)
    line.append_text(content)
    line.rstrip()
    return line
