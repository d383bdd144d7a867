"""Draws clocks and tables on standard output."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.text import Text

from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.output import Output
from tickover.cli.render.clock import render_advance, render_clock
from tickover.cli.render.items import advance_items
from tickover.cli.render.lines import FAINT, HAPPENED, INDENT, Column, table
from tickover.cli.render.money import render_balances, render_check, render_events
from tickover.cli.render.occurrences import render_occurrences
from tickover.client import AdvanceResult, Balances, CheckResult, Event, Expectation, Snapshot, Summary

if TYPE_CHECKING:
    from tickover.api.plans import PlannedTransaction
    from tickover.scenarios import Scenario

_MIN_WIDTH_FOR_FULL_IDS: Final = 74
_MIN_WIDTH_FOR_TIMES: Final = 46
_MIN_ABOUT_WIDTH: Final = 20


class Display:
    """Renders values at the width of the terminal."""

    def __init__(self, output: Output, now: Callable[[], datetime]) -> None:
        self._output = output
        self._now = now

    def clock(self, snapshot: Snapshot, title: str = "", *, is_preview: bool = False, show_all: bool = False) -> None:
        lines = render_clock(snapshot, self._output.width, self._now(), is_preview=is_preview, show_all=show_all)
        self._output.draw([*([Text(f"  {title}")] if title else []), *lines])

    def advance(self, snapshot: Snapshot, result: AdvanceResult, *, show_all: bool = False) -> None:
        items = advance_items(result)
        self._output.draw(
            render_advance(snapshot, result.before, items, self._output.width, self._now(), show_all=show_all)
        )

    def balances(self, id: str, balances: Balances) -> None:
        self._output.draw(render_balances(id, balances, self._output.width))

    def events(self, snapshot: Snapshot, events: Sequence[Event]) -> None:
        self._output.draw(render_events(snapshot, events, self._output.width))

    def check(self, snapshot: Snapshot, expectations: Sequence[Expectation], result: CheckResult) -> None:
        self._output.draw(render_check(snapshot, expectations, result, self._output.width))

    def clock_list(self, clocks: Sequence[Summary], last_used: str) -> None:
        """Draw a table of clocks. An asterisk marks the last used one."""
        width, now = self._output.width, self._now()
        names = [sanitize(clock.name or "") for clock in clocks]
        name_width = max(map(cell_len, names)) + 2 if any(names) else 0
        format_id = sanitize if width >= _MIN_WIDTH_FOR_FULL_IDS + name_width else formatting.short_id
        format_time = formatting.date_and_minute if width >= _MIN_WIDTH_FOR_TIMES else formatting.date
        rows = [[Text(title, FAINT) for title in ("ID", "NAME", "NOW", "EXPIRES")]]
        rows += [
            [
                Text(format_id(clock.id)),
                Text(name, HAPPENED),
                Text(format_time(clock.frozen_time)),
                Text(formatting.duration(clock.expires_at - now)),
            ]
            for clock, name in zip(clocks, names, strict=True)
        ]
        columns = [Column(min_width=15), Column(min_width=4), Column(), Column()]
        if not any(names):
            columns, rows = columns[:1] + columns[2:], [row[:1] + row[2:] for row in rows]
        lines = table(rows, columns, width)
        marks = ["  ", *("* " if clock.id == last_used else "  " for clock in clocks)]
        self._output.draw(Text(mark).append_text(line[2:]) for mark, line in zip(marks, lines, strict=True))

    def occurrences(self, occurrences: "Sequence[tuple[PlannedTransaction, datetime]]") -> None:
        """Draw the transactions of a scenario. Those that moved show their nominal date."""
        self._output.draw(render_occurrences(occurrences, self._output.width))

    def scenario_list(self, scenarios: "Mapping[str, Scenario]") -> None:
        """Draw a table of names and titles, each with its description below."""
        width = self._output.width - max(map(len, scenarios)) - 2 * len(INDENT)
        rows = []
        for name, scenario in scenarios.items():
            rows.append([Text(name, HAPPENED), Text(sanitize(scenario.title))])
            about = Text(sanitize(scenario.about), FAINT)
            rows += [[Text(), line] for line in about.wrap(self._output.console, max(width, _MIN_ABOUT_WIDTH))]
        hint = Text.assemble(("  Next: ", FAINT), f"tickover clock create {next(iter(scenarios))}")
        self._output.draw([*table(rows, [Column(), Column(min_width=8)], self._output.width), Text(), hint])
