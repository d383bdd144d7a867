"""Events as rows of a CSV file."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from tickover.api import timestamps
from tickover.api.clocks import Event, Snapshot
from tickover.api.terminal import sanitize
from tickover.scenarios.statements.table_formats import escape_formulas

_HEADER: Final = (
    "id", "at", "type", "pending", "name", "category", "amount", "currency", "balance", "goalId", "currentAmount",
)  # fmt: skip


def event_rows(events: Sequence[Event], snapshot: Snapshot, *, with_header: bool) -> Iterator[Sequence[str]]:
    """Yield a row for each event. Expenses have negative amounts."""
    goals = {goal.id: goal.name for goal in snapshot.goals}
    if with_header:
        yield _HEADER
    for event in events:
        yield (
            event.id,
            timestamps.write(event.at),
            event.type,
            "true" if event.pending else "false",
            *_item_cells(event, goals),
            _number(event.balance),
            event.goal_id or "",
            _number(event.current_amount),
        )


def _item_cells(event: Event, goals: dict[str, str]) -> tuple[str, str, str, str]:
    """Return the name, category, amount and currency."""
    transaction = event.transaction
    if transaction is None:
        amount = event.contribution.amount if event.contribution else None
        return _text(goals.get(event.goal_id or "", "")), "", _number(amount), ""
    amount = transaction.amount if transaction.type == "INCOME" else -transaction.amount
    return _text(transaction.name), _text(transaction.category or ""), _number(amount), transaction.currency


def _text(text: str) -> str:
    return escape_formulas(sanitize(text))


def _number(value: Decimal | None) -> str:
    return "" if value is None else f"{value:f}"
