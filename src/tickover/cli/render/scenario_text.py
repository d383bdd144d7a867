"""Scenarios as tables: all of them, or the transactions of one."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from rich.text import Text

from tickover.api.clocks import TransferEntry
from tickover.api.plans import PlannedTransaction, PlannedTransfer
from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.render.layout import BAD, FAINT, GOOD, HAPPENED, INDENT, Column, fold, table
from tickover.scenarios import Scenario

_MIN_ABOUT_WIDTH: Final = 20


def render_scenarios(scenarios: Mapping[str, Scenario], width: int) -> list[Text]:
    """Render names and titles, each with its description below."""
    about_width = max(width - max(map(len, scenarios)) - 2 * len(INDENT), _MIN_ABOUT_WIDTH)
    rows = []
    for name, scenario in scenarios.items():
        rows.append([Text(name, HAPPENED), Text(sanitize(scenario.title))])
        about = Text(sanitize(scenario.about), FAINT)
        rows += [[Text(), line] for line in fold(about, about_width)]
    hint = Text.assemble(("  Next: ", FAINT), f"tickover clock create {next(iter(scenarios))}")
    return [*table(rows, [Column(), Column(min_width=8)], width), Text(), hint]


def render_occurrences(
    occurrences: Sequence[tuple[PlannedTransaction | PlannedTransfer, datetime]], width: int
) -> list[Text]:
    """Render a row for each transaction and transfer. If it isn't on its nominal date, the row says when it was due."""
    rows = [_occurrence(item, nominal) for item, nominal in occurrences]
    columns = [Column(), Column(min_width=4), Column("right"), Column(min_width=0), Column()]
    if not any(row[3] for row in rows):
        # Without accounts, their column would leave a gap.
        columns, rows = columns[:3] + columns[4:], [row[:3] + row[4:] for row in rows]
    return table(rows, columns, width)


def _occurrence(item: PlannedTransaction | PlannedTransfer, nominal: datetime) -> list[Text]:
    if isinstance(item, TransferEntry):
        money, account = Text(formatting.amount(item.amount) + "    "), f"{item.from_} → {item.to}"
    else:
        is_income = item.type == "INCOME"
        amount = formatting.signed_amount(item.amount if is_income else -item.amount)
        money, account = Text(f"{amount} {item.currency}", GOOD if is_income else BAD), item.account or ""
    due = "" if nominal == item.at else f"due {formatting.date(nominal)}"
    at, name = formatting.date_and_minute(item.at), sanitize(item.name)
    return [Text(at), Text(name), money, Text(account, FAINT), Text(due, FAINT)]
