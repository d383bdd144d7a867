"""The transactions of a scenario as a table, with the dates that their rules name."""

from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

from tickover.api.plans import PlannedTransaction, is_opening_balance
from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.render.lines import BAD, FAINT, GOOD, Column, table


def render_occurrences(occurrences: Sequence[tuple[PlannedTransaction, datetime]], width: int) -> list[Text]:
    """Render a row for each transaction. If it isn't on its nominal date, the row says when it was due."""
    rows = [_row(transaction, nominal) for transaction, nominal in occurrences]
    return table(rows, [Column(), Column(min_width=4), Column("right"), Column()], width)


def _row(transaction: PlannedTransaction, nominal: datetime) -> list[Text]:
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
