"""A clock as a whole: its head, its timeline, its goals, what has happened, and what could be done next."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from rich.text import Text

from tickover.cli import formatting
from tickover.cli.render.items import Item, items_of
from tickover.cli.render.lines import BAD, FAINT, GOOD, HAPPENED, NOW, SCHEDULED, Column, cut, flow, table
from tickover.cli.render.timeline import HAPPENED_MARK, SCHEDULED_MARK, timeline
from tickover.core.results import Goal, Snapshot, Summary

_MOST_ROWS: Final = 12
_MOST_GOALS: Final = 8
_AROUND_NOW: Final = 4
_SOON: Final = timedelta(days=1)
_LONGEST_BAR: Final = 30
_SHORTEST_BAR: Final = 6
_CLOSE_TOGETHER: Final = timedelta(days=2)
_WIDTH_OF_TIMES: Final = 60


def picture(
    snapshot: Snapshot, width: int, now: datetime, *, can_go_on: bool = True, whole: bool = False
) -> list[Text]:
    """The clock as it is, with all items or a few around its time, and how to go on from there if one can."""
    items = items_of(snapshot)
    return [
        *head(snapshot, width, now),
        *_spaced(
            timeline(items, snapshot.frozen_time, width),
            goals(snapshot.goals, width, whole=whole),
            ledger(items, width, whole=True) if whole else around_now(items, width),
            hint(items, width) if can_go_on else [],
        ),
    ]


def advanced(
    snapshot: Snapshot, before: datetime, happened: Sequence[Item], width: int, now: datetime, *, whole: bool = False
) -> list[Text]:
    """The clock after an advance, and what that made happen."""
    moved = f"{formatting.moment(before)} → {formatting.moment(snapshot.frozen_time)}"
    title = flow([Text.assemble(("✓ ", GOOD), (moved, HAPPENED)), Text(summed_up(happened))], width)
    items = items_of(snapshot)
    return [
        *head(snapshot, width, now),
        *_spaced(
            timeline(items, snapshot.frozen_time, width),
            goals(snapshot.goals, width, whole=whole),
            [*title, *ledger(happened, width, whole=whole)],
            hint(items, width),
        ),
    ]


def _spaced(*parts: list[Text]) -> list[Text]:
    return [line for part in parts if part for line in (Text(), *part)]


def head(snapshot: Snapshot, width: int, now: datetime) -> list[Text]:
    """What a clock is in a line, or in as many as it needs."""
    return flow(
        [
            Text(formatting.short_id(snapshot.id), HAPPENED),
            Text(formatting.safe(snapshot.status), GOOD),
            Text.assemble(("now ", FAINT), (formatting.moment(snapshot.frozen_time), NOW)),
            Text(to_come(snapshot)),
            expiry(snapshot, now),
        ],
        width,
    )


def to_come(snapshot: Snapshot) -> str:
    """How much is still to happen, in a few words."""
    number = len(snapshot.pending_transactions) + sum(len(goal.upcoming_contributions) for goal in snapshot.goals)
    return f"{number or 'nothing'} to come"


def expiry(summary: Summary, now: datetime) -> Text:
    left = summary.expires_at - now
    if left <= timedelta():
        return Text("expired", BAD)
    return Text(f"expires in {formatting.span(left)}", NOW if left < _SOON else FAINT)


def goals(those: Sequence[Goal], width: int, *, whole: bool = False) -> list[Text]:
    """A bar for each goal: what is saved, what is scheduled, what is missing."""
    shown = those if whole else those[:_MOST_GOALS]
    columns = [Column(least=8), Column("right"), Column("right"), Column()]
    rows = [_goal_row(goal) for goal in shown]
    if _room_for_a_bar(rows, width) < _SHORTEST_BAR:
        columns, rows = columns[:2] + columns[3:], [row[:2] + row[3:] for row in rows]
    bar = min(_LONGEST_BAR, max(_SHORTEST_BAR, _room_for_a_bar(rows, width)))
    drawn = [[*row[:-1], _bar(goal, bar)] for row, goal in zip(rows, shown, strict=True)]
    lines = table(drawn, columns, width)
    more = len(those) - len(shown)
    return [*lines, *([Text(f"  … and {more} more{' goals' if more > 1 else ''}", FAINT)] if more else [])]


def _goal_row(goal: Goal) -> list[Text]:
    of_target = f"{formatting.amount(goal.current_amount)} of {formatting.amount(goal.target_amount)}"
    percent = f"{goal.progress_percent:,f} %".replace(",", " ")
    return [cut(Text(formatting.safe(goal.name)), 24), Text(percent, HAPPENED), Text(of_target), Text()]


def _room_for_a_bar(rows: Sequence[Sequence[Text]], width: int) -> int:
    return width - sum(2 + max((cell.cell_len for cell in cells), default=0) for cells in zip(*rows, strict=True))


def _bar(goal: Goal, cells: int) -> Text:
    scheduled = sum((one.amount for one in goal.upcoming_contributions), Decimal(0))
    saved = _share(goal.current_amount, goal.target_amount, cells)
    will_be = _share(goal.current_amount + scheduled, goal.target_amount, cells)
    return Text.assemble(("█" * saved, GOOD), ("▒" * (will_be - saved), GOOD), ("░" * (cells - will_be), FAINT))


def _share(amount: Decimal, target: Decimal, cells: int) -> int:
    return int(min(Decimal(cells), amount * cells / target)) if target > 0 else cells


def ledger(items: Sequence[Item], width: int, *, whole: bool = False) -> list[Text]:
    """Items one below the other: all of them, or the first when they are many."""
    shown = items if whole or len(items) <= _MOST_ROWS + 1 else items[:_MOST_ROWS]
    if not shown:
        return []
    close_together = items[-1].at - items[0].at < _CLOSE_TOGETHER
    as_time = formatting.minute if close_together and width >= _WIDTH_OF_TIMES else formatting.day
    rows = [[_when(item, as_time(item.at)), Text(item.name, _style(item)), _money(item)] for item in shown]
    lines = table(rows, [Column(), Column(least=4), Column("right")], width)
    if len(shown) < len(items):
        more = Text(f"… and {len(items) - len(shown)} more", FAINT)
        lines += flow([more, Text.assemble(("All of it: ", FAINT), "tickover clock show --all")], width)
    return lines


def around_now(items: Sequence[Item], width: int) -> list[Text]:
    """The last few items that have happened and the first few that are to come."""
    happened = [item for item in items if item.happened][-_AROUND_NOW:]
    return ledger([*happened, *[item for item in items if not item.happened][:_AROUND_NOW]], width)


def hint(items: Sequence[Item], width: int) -> list[Text]:
    """What could be done next with a clock, and what that would make happen."""
    coming = next((item for item in items if not item.happened), None)
    if coming is None:
        return flow([Text("Nothing is left to happen."), Text("Again from its start: tickover clock fork")], width)
    money = f"{formatting.signed(coming.amount)} {coming.currency}".rstrip()
    name = cut(Text(coming.name), 30).plain
    told = Text(f"({formatting.day(coming.at)} {name} {money})", FAINT)
    return flow([Text.assemble(("Next: ", FAINT), "tickover clock advance --next"), told], width)


def _when(item: Item, time: str) -> Text:
    mark = HAPPENED_MARK if item.happened else SCHEDULED_MARK
    return Text.assemble((f"{mark} ", HAPPENED if item.happened else SCHEDULED), (time, _style(item)))


def _money(item: Item) -> Text:
    style = (GOOD if item.amount > 0 else BAD) if item.happened else SCHEDULED
    return Text.assemble((formatting.signed(item.amount), style), (f" {item.currency or '   '}", FAINT))


def _style(item: Item) -> str:
    return "" if item.happened else SCHEDULED


def summed_up(happened: Sequence[Item]) -> str:
    """How much has happened, in a few words."""
    transactions = sum(bool(item.currency) for item in happened)
    parts = [
        formatting.count(number, what)
        for number, what in ((transactions, "transaction"), (len(happened) - transactions, "contribution"))
        if number
    ]
    return " and ".join(parts) or "nothing happened"
