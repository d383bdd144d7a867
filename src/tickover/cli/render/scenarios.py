"""Scenarios as tables: all of them, or the transactions of one."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from rich.console import Console
from rich.text import Text

from tickover.api.plans import PlannedTransaction, is_opening_balance
from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.render.layout import BAD, FAINT, GOOD, HAPPENED, INDENT, Column, table
from tickover.scenarios import Scenario

_MIN_ABOUT_WIDTH: Final = 20


def render_scenarios(scenarios: Mapping[str, Scenario], width: int) -> list[Text]:
    """Render names and titles, each with its description below."""
    about_width = max(width - max(map(len, scenarios)) - 2 * len(INDENT), _MIN_ABOUT_WIDTH)
    rows = []
    for name, scenario in scenarios.items():
        rows.append([Text(name, HAPPENED), Text(sanitize(scenario.title))])
        about = Text(sanitize(scenario.about), FAINT)
        rows += [[Text(), line] for line in about.wrap(Console(), about_width)]
    hint = Text.assemble(("  Next: ", FAINT), f"tickover clock create {next(iter(scenarios))}")
    return [*table(rows, [Column(), Column(min_width=8)], width), Text(), hint]


def render_occurrences(occurrences: Sequence[tuple[PlannedTransaction, datetime]], width: int) -> list[Text]:
    """Render a row for each transaction. If it isn't on its nominal date, the row says when it was due."""
    rows = [_occurrence(transaction, nominal) for transaction, nominal in occurrences]
    return table(rows, [Column(), Column(min_width=4), Column("right"), Column()], width)


def _occurrence(transaction: PlannedTransaction, nominal: datetime) -> list[Text]:
    is_income = transaction.type == "INCOME"
    format_amount = formatting.amount if is_opening_balance(transaction) else formatting.signed_amount
    money = f"{format_amount(transaction.amount if is_income else -transaction.amount)} {transaction.currency}"
    due = "" if nominal == transaction.at else f"due {formatting.date(nominal)}"
    return [
        Text(formatting.date_and_minute(transaction.at)),
        Text(sanitize(transaction.name)),
        Text(money, GOOD if is_income else BAD),
        Text(due, FAINT),
    ]
