"""A whole clock: header, timeline, goals, items and the next command. A table of clocks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from tickover.api import timestamps
from tickover.api.clocks import Goal, Snapshot, Summary
from tickover.api.expectations import CheckResult
from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.render.layout import BAD, FAINT, GOOD, HAPPENED, NOW, SCHEDULED, Column, table, truncate, wrap
from tickover.cli.render.timeline import timeline
from tickover.client import AdvanceResult
from tickover.client.timeline import Item, clock_items, opening_books

_MAX_ITEMS: Final = 12
_MAX_GOALS: Final = 8
_ITEMS_AROUND_NOW: Final = 4
_EXPIRES_SOON: Final = timedelta(days=1)
_MAX_BAR: Final = 30
_MIN_BAR: Final = 6
_SHOWS_TIMES: Final = timedelta(days=2)
"""A list of items over a shorter period shows the time of day."""
_MIN_WIDTH_FOR_TIMES: Final = 60
_MIN_WIDTH_FOR_FULL_IDS: Final = 74


def render_clock(
    snapshot: Snapshot,
    width: int,
    now: datetime,
    *,
    is_preview: bool = False,
    show_all: bool = False,
    check: CheckResult | None = None,
) -> list[Text]:
    """Render a clock with all items, or with those around its time. `check` is that of its expectations."""
    items, time_label = clock_items(snapshot), "preview" if is_preview else "now"
    return [
        *header(snapshot, width, now, is_preview=is_preview),
        *([] if check is None else check_summary(check, width)),
        *_separate(
            timeline(items, opening_books(snapshot), snapshot.frozen_time, width, time_label),
            goal_bars(snapshot.goals, width, show_all=show_all),
            item_list(items, width, show_all=True) if show_all else items_around_now(items, width),
            [] if is_preview else next_step(items, width),
        ),
    ]


def render_advance(snapshot: Snapshot, result: AdvanceResult, width: int, now: datetime) -> list[Text]:
    """Render a clock after an advance, with the items that happened."""
    items = clock_items(snapshot)
    ids = {one.id for one in result.transactions} | {one.id for one in result.transfers}
    ids |= {one.id for _, one in result.contributions}
    happened = [item for item in items if item.id in ids]
    moved = f"{formatting.timestamp(result.before)} → {formatting.timestamp(result.after)}"
    title = wrap([Text.assemble(("✓ ", GOOD), (moved, HAPPENED)), Text(summarize(happened))], width)
    return [
        *header(snapshot, width, now),
        *_separate(
            timeline(items, opening_books(snapshot), snapshot.frozen_time, width),
            goal_bars(snapshot.goals, width),
            [*title, *item_list(happened, width, all_command=_events_command(result.before))],
            next_step(items, width),
        ),
    ]


def _events_command(after: datetime) -> str:
    is_midnight = after.astimezone(UTC).time() == time()
    return f"tickover clock events --after {formatting.date(after) if is_midnight else timestamps.write(after)}"


def _separate(*parts: list[Text]) -> list[Text]:
    return [line for part in parts if part for line in (Text(), *part)]


def header(snapshot: Snapshot, width: int, now: datetime, *, is_preview: bool = False) -> list[Text]:
    """Render the clock's ID, status, time and expiry."""
    status = Text("PREVIEW", NOW) if is_preview else Text(sanitize(snapshot.status), GOOD)
    return wrap(
        [
            Text(formatting.short_id(snapshot.id), HAPPENED),
            *([truncate(Text(sanitize(snapshot.name), HAPPENED), 24)] if snapshot.name else []),
            status,
            Text.assemble(("at " if is_preview else "now ", FAINT), (formatting.timestamp(snapshot.frozen_time), NOW)),
            Text(upcoming(snapshot)),
            expiry(snapshot, now),
        ],
        width,
    )


def upcoming(snapshot: Snapshot) -> str:
    """Say how many items are still to come."""
    number = len(snapshot.pending_transactions) + len(snapshot.pending_transfers or ())
    number += sum(len(goal.upcoming_contributions) for goal in snapshot.goals)
    return f"{number or 'nothing'} to come"


def expiry(summary: Summary, now: datetime) -> Text:
    left = summary.expires_at - now
    if left <= timedelta():
        return Text("expired", BAD)
    return Text(f"expires in {formatting.duration(left)}", NOW if left < _EXPIRES_SOON else FAINT)


def goal_bars(goals: Sequence[Goal], width: int, *, show_all: bool = False) -> list[Text]:
    """Render a bar for each goal: saved, scheduled and missing amounts."""
    shown = goals if show_all else goals[:_MAX_GOALS]
    columns = [Column(min_width=8), Column("right"), Column("right"), Column()]
    rows = [_goal_row(goal) for goal in shown]
    if _room_for_bar(rows, width) < _MIN_BAR:
        # Drop the amounts.
        columns, rows = columns[:2] + columns[3:], [row[:2] + row[3:] for row in rows]
    bar_width = min(_MAX_BAR, max(_MIN_BAR, _room_for_bar(rows, width)))
    with_bars = [[*row[:-1], _bar(goal, bar_width)] for row, goal in zip(rows, shown, strict=True)]
    lines = table(with_bars, columns, width)
    more = len(goals) - len(shown)
    return [*lines, *([Text(f"  … and {more} more{' goals' if more > 1 else ''}", FAINT)] if more else [])]


def _goal_row(goal: Goal) -> list[Text]:
    amounts = f"{formatting.amount(goal.current_amount)} of {formatting.amount(goal.target_amount)}"
    percent = f"{goal.progress_percent:,f} %".replace(",", " ")
    return [truncate(Text(sanitize(goal.name)), 24), Text(percent, HAPPENED), Text(amounts), Text()]


def _room_for_bar(rows: Sequence[Sequence[Text]], width: int) -> int:
    return width - sum(2 + max((cell.cell_len for cell in cells), default=0) for cells in zip(*rows, strict=True))


def _bar(goal: Goal, cells: int) -> Text:
    scheduled = sum((one.amount for one in goal.upcoming_contributions), Decimal(0))
    saved = _share(goal.current_amount, goal.target_amount, cells)
    expected = _share(goal.current_amount + scheduled, goal.target_amount, cells)
    return Text.assemble(("█" * saved, GOOD), ("▒" * (expected - saved), GOOD), ("░" * (cells - expected), FAINT))


def _share(amount: Decimal, target: Decimal, cells: int) -> int:
    return int(min(Decimal(cells), amount * cells / target)) if target > 0 else cells


def item_list(
    items: Sequence[Item], width: int, *, show_all: bool = False, all_command: str = "tickover clock show --all"
) -> list[Text]:
    """Render one line per item. A long list is cut unless `show_all` is set. `all_command` shows the rest."""
    # "… and 1 more" would take the line of the last item.
    shown = items if show_all or len(items) <= _MAX_ITEMS + 1 else items[:_MAX_ITEMS]
    if not shown:
        return []
    shows_times = items[-1].at - items[0].at < _SHOWS_TIMES and width >= _MIN_WIDTH_FOR_TIMES
    format_time = formatting.date_and_minute if shows_times else formatting.date
    rows = [
        [_time(item, format_time(item.at)), Text(item.name, _style(item)), _money(item), Text(item.account, FAINT)]
        for item in shown
    ]
    lines = table(rows, [Column(), Column(min_width=4), Column("right"), Column(min_width=0)], width)
    if len(shown) < len(items):
        more = Text(f"… and {len(items) - len(shown)} more", FAINT)
        lines += wrap([more, Text.assemble(("Show all: ", FAINT), all_command)], width)
    return lines


def items_around_now(items: Sequence[Item], width: int) -> list[Text]:
    """Render the last items that happened and the next ones."""
    happened = [item for item in items if item.happened][-_ITEMS_AROUND_NOW:]
    following = [item for item in items if not item.happened][:_ITEMS_AROUND_NOW]
    return item_list([*happened, *following], width)


def next_step(items: Sequence[Item], width: int) -> list[Text]:
    """Suggest the next command."""
    following = next((item for item in items if not item.happened), None)
    if following is None:
        return wrap([Text("Nothing is left to happen."), Text("Start over: tickover clock fork")], width)
    money = f"{_format_amount(following)} {following.currency}".rstrip()
    name = truncate(Text(following.name), 30).plain
    effect = Text(f"({formatting.date(following.at)} {name} {money})", FAINT)
    return wrap([Text.assemble(("Next: ", FAINT), "tickover clock advance --next"), effect], width)


def _time(item: Item, time: str) -> Text:
    return Text.assemble((f"{item.mark} ", HAPPENED if item.happened else SCHEDULED), (time, _style(item)))


def _money(item: Item) -> Text:
    style = (GOOD if item.amount > 0 else BAD) if item.happened else SCHEDULED
    style = "" if item.happened and item.lane == "moves" else style
    return Text.assemble((_format_amount(item), style), (f" {item.currency or '   '}", FAINT))


def _format_amount(item: Item) -> str:
    return formatting.amount(item.amount) if item.lane == "moves" else formatting.signed_amount(item.amount)


def _style(item: Item) -> str:
    return "" if item.happened else SCHEDULED


def summarize(happened: Sequence[Item]) -> str:
    """Count the items: `14 transactions, 2 transfers and 1 contribution`."""
    nouns = {"in": "transaction", "out": "transaction", "moves": "transfer", "goals": "contribution"}
    counts = Counter(nouns[item.lane] for item in happened)
    parts = [formatting.count(counts[noun], noun) for noun in dict.fromkeys(nouns.values()) if counts[noun]]
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]])) or "nothing happened"


def check_summary(check: CheckResult, width: int) -> list[Text]:
    """Say whether the expectations of a clock hold."""
    summary = summarize_check(check)
    if check.ok:
        return wrap([Text(f"✓ {summary}", GOOD)], width)
    return wrap([Text(f"✗ {summary}", BAD), Text.assemble(("See: ", FAINT), "tickover clock check")], width)


def summarize_check(result: CheckResult) -> str:
    """Say how many expectations hold: `2 of 3 expectations hold`."""
    held, number = sum(one.ok for one in result.results), len(result.results)
    if number == 1:
        return "the expectation holds" if held else "the expectation doesn't hold"
    return f"{held} of {number} expectations hold"


def render_clock_list(
    clocks: Sequence[Summary], holds: Mapping[str, bool], last_used: str, width: int, now: datetime
) -> list[Text]:
    """Render a row for each clock. An asterisk marks the last used one. `holds` has those with expectations."""
    names = [sanitize(clock.name or "") for clock in clocks]
    name_width = max(map(cell_len, names)) + 2 if any(names) else 0
    format_id = sanitize if width >= _MIN_WIDTH_FOR_FULL_IDS + name_width else formatting.short_id
    marks_of = {True: Text("✓", GOOD), False: Text("✗", BAD)}
    rows = [[Text(title, FAINT) for title in ("ID", "NAME", "NOW", "EXPIRES", "HOLDS" if holds else "")]]
    rows += [
        [
            Text(format_id(clock.id)),
            Text(name, HAPPENED),
            Text(formatting.date_and_minute(clock.frozen_time)),
            Text(formatting.duration(clock.expires_at - now)),
            marks_of[holds[clock.id]] if clock.id in holds else Text(),
        ]
        for clock, name in zip(clocks, names, strict=True)
    ]
    columns = [Column(min_width=15), Column(min_width=4), Column(), Column(), Column()]
    if not any(names):
        columns, rows = columns[:1] + columns[2:], [row[:1] + row[2:] for row in rows]
    marks = ["  ", *("* " if clock.id == last_used else "  " for clock in clocks)]
    lines = table(rows, columns, width)
    return [Text(mark).append_text(line[2:]) for mark, line in zip(marks, lines, strict=True)]
