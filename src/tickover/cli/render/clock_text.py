"""A whole clock: header, timeline, goals, items and the next command."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from rich.text import Text

from tickover.api.clocks import Event, Goal, Snapshot
from tickover.api.expectations import CheckResult
from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.render.layout import BAD, FAINT, GOOD, HAPPENED, NOW, SCHEDULED, Column, table, truncate, wrap
from tickover.cli.render.timeline_text import timeline
from tickover.client.timeline import Item, clock_items, opening_books

_MAX_ITEMS: Final = 12
_ITEMS_AROUND_NOW: Final = 4
_EXPIRES_SOON: Final = timedelta(days=1)
_MAX_BAR: Final = 30
_MIN_BAR: Final = 6
_SHOWS_TIMES: Final = timedelta(days=2)
"""A list of items over a shorter period shows the time of day."""
_MIN_WIDTH_FOR_TIMES: Final = 60


def render_clock(  # noqa: PLR0913 - one parameter for each part
    snapshot: Snapshot,
    width: int,
    now: datetime,
    *,
    is_preview: bool = False,
    show_all: bool = False,
    check: CheckResult | None = None,
    events: Sequence[Event] | None = None,
) -> list[Text]:
    """Render a clock with the items around its time, with all items, or with those that an advance posted.

    `check` is that of its expectations.
    """
    time_label = "preview" if is_preview else "now"
    items = clock_items(snapshot)
    happened = sum(item.happened for item in items)
    around_now = items[max(0, happened - _ITEMS_AROUND_NOW) : happened + _ITEMS_AROUND_NOW]
    left = snapshot.expires_at - now
    header = [
        Text(formatting.short_id(snapshot.id), HAPPENED),
        *([truncate(Text(sanitize(snapshot.name), HAPPENED), 24)] if snapshot.name else []),
        Text("PREVIEW", NOW) if is_preview else Text(sanitize(snapshot.status), GOOD),
        Text.assemble(("at " if is_preview else "now ", FAINT), (formatting.timestamp(snapshot.frozen_time), NOW)),
        Text(f"{len(items) - happened or 'nothing'} to come"),
        Text(f"expires in {formatting.duration(left)}", NOW if left < _EXPIRES_SOON else FAINT),
    ]
    lines = [*wrap(header, width), *([] if check is None else _check_summary(check, width))]
    for part in (
        timeline(items, opening_books(snapshot), snapshot.frozen_time, width, time_label),
        _goal_bars(snapshot.goals, width),
        item_list(items if show_all else around_now, width)
        if events is None
        else _advance(snapshot.frozen_time, items, events, width),
        [] if is_preview else _next_step(items, width),
    ):
        lines += [Text(), *part] if part else []
    return lines


def _advance(frozen_time: datetime, items: Sequence[Item], events: Sequence[Event], width: int) -> list[Text]:
    """Render the new time, and the items that happened."""
    posted = [event.transaction or event.transfer or event.contribution for event in events]
    ids = {item.id for item in posted if item}
    happened = [item for item in items if item.id in ids]
    nouns = Counter({"moves": "transfer", "goals": "contribution"}.get(item.lane, "transaction") for item in happened)
    summary = " and ".join(formatting.count(number, noun) for noun, number in nouns.items()) or "nothing happened"
    lines = wrap([Text.assemble(("✓ ", GOOD), (formatting.timestamp(frozen_time), HAPPENED)), Text(summary)], width)
    # "… and 1 more" would take the line of the last item.
    shown = happened if len(happened) <= _MAX_ITEMS + 1 else happened[:_MAX_ITEMS]
    lines += item_list(shown, width)
    if more := len(happened) - len(shown):
        show_all = Text.assemble(("Show all: ", FAINT), "tickover clock show --all")
        lines += wrap([Text(f"… and {more} more", FAINT), show_all], width)
    return lines


def _goal_bars(goals: Sequence[Goal], width: int) -> list[Text]:
    """Render the amounts of each goal and, if there is room, a bar: saved, scheduled and missing amounts."""
    rows = []
    for goal in goals:
        amounts = f"{formatting.amount(goal.current_amount)} of {formatting.amount(goal.target_amount)}"
        percent = f"{goal.progress_percent:,f} %".replace(",", " ")
        rows.append([truncate(Text(sanitize(goal.name)), 24), Text(percent, HAPPENED), Text(amounts)])
    lines = table(rows, [Column(min_width=8), Column("right"), Column("right")], width)
    cells = min(_MAX_BAR, width - max((line.cell_len for line in lines), default=0) - 2)
    if cells < _MIN_BAR:
        return lines
    return [line.append("  ").append_text(_bar(goal, cells)) for line, goal in zip(lines, goals, strict=True)]


def _bar(goal: Goal, cells: int) -> Text:
    scheduled = sum((one.amount for one in goal.upcoming_contributions), Decimal(0))
    amounts = goal.current_amount, goal.current_amount + scheduled
    saved, expected = (min(cells, int(each * cells / goal.target_amount)) for each in amounts)
    return Text.assemble(("█" * saved, GOOD), ("▒" * (expected - saved), GOOD), ("░" * (cells - expected), FAINT))


def item_list(items: Sequence[Item], width: int) -> list[Text]:
    """Render one line per item."""
    rows = list(item_rows(items, width))
    for item, row in zip(items, rows, strict=True):
        row[2].append(f" {item.currency or '   '}", FAINT)
        row.append(Text(item.account, FAINT))
    return table(rows, [Column(), Column(min_width=4), Column("right"), Column(min_width=0)], width)


def item_rows(items: Sequence[Item], width: int) -> Iterator[list[Text]]:
    """Yield the time, the name and the amount of each item."""
    is_short = bool(items) and items[-1].at - items[0].at < _SHOWS_TIMES
    format_time = formatting.date_and_minute if is_short and width >= _MIN_WIDTH_FOR_TIMES else formatting.date
    for item in items:
        style = "" if item.happened else SCHEDULED
        time = Text.assemble((f"{item.mark} ", style or HAPPENED), (format_time(item.at), style))
        money_style = style or ("" if item.lane == "moves" else GOOD if item.amount > 0 else BAD)
        yield [time, Text(item.name, style), Text(_format_amount(item) if item.amount else "", money_style)]


def _next_step(items: Sequence[Item], width: int) -> list[Text]:
    """Suggest the next command."""
    following = next((item for item in items if not item.happened), None)
    if following is None:
        return wrap([Text("Nothing is left to happen."), Text("Start over: tickover clock fork")], width)
    money = f"{_format_amount(following)} {following.currency}".rstrip()
    name = truncate(Text(following.name), 30).plain
    effect = Text(f"({formatting.date(following.at)} {name} {money})", FAINT)
    return wrap([Text.assemble(("Next: ", FAINT), "tickover clock advance --next"), effect], width)


def _format_amount(item: Item) -> str:
    return formatting.amount(item.amount) if item.lane == "moves" else formatting.signed_amount(item.amount)


def _check_summary(check: CheckResult, width: int) -> list[Text]:
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
