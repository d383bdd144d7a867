"""Balances, events and checked expectations as tables."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Final

from rich.text import Text

from tickover.api.clocks import Balance, Balances, Event, Snapshot
from tickover.api.expectations import CheckResult, Violation
from tickover.api.plans import is_opening_balance
from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.render.clock import item_list
from tickover.cli.render.layout import BAD, FAINT, GOOD, HAPPENED, SCHEDULED, Column, table, wrap
from tickover.client import Expectation
from tickover.client.timeline import HAPPENED_MARK, SCHEDULED_MARK, clock_items

_SHOWS_TIMES: Final = timedelta(days=2)
_MAX_ITEMS: Final = 5


def render_balances(id: str, result: Balances, width: int) -> list[Text]:
    """Render one row for each currency."""
    title = Text.assemble(("balance at ", FAINT), (formatting.timestamp(result.at), HAPPENED))
    lines = wrap([Text(formatting.short_id(id), HAPPENED), title], width)
    if not result.balances:
        return [*lines, Text(), Text("  The clock has no transactions.")]
    header = ("", "OPENING", "INCOME", "EXPENSES", "BALANCE", "LOWEST", "ON")
    rows = [[Text(title, FAINT) for title in header], *map(_balance_row, result.balances)]
    return [*lines, Text(), *table(rows, [Column(), *[Column("right")] * 5, Column()], width)]


def _balance_row(one: Balance) -> list[Text]:
    return [
        Text(sanitize(one.currency), HAPPENED),
        *(Text(formatting.amount(value)) for value in (one.opening, one.income, one.expense)),
        _amount(one.balance),
        _amount(one.lowest.balance),
        Text(formatting.date(one.lowest.at), FAINT),
    ]


def _amount(value: Decimal) -> Text:
    return Text(formatting.amount(value), BAD if value < 0 else "")


def render_events(snapshot: Snapshot, events: Sequence[Event], width: int) -> list[Text]:
    """Render one line for each event, with the balance after it."""
    goals = {goal.id: sanitize(goal.name) for goal in snapshot.goals}
    shows_times = events[-1].at - events[0].at < _SHOWS_TIMES
    format_time = formatting.date_and_minute if shows_times else formatting.date
    rows = [_event_row(event, goals, format_time(event.at)) for event in events]
    return table(rows, [Column(), Column(min_width=4), Column("right"), Column("right")], width)


def _event_row(event: Event, goals: Mapping[str, str], at: str) -> list[Text]:
    style = SCHEDULED if event.pending else ""
    mark = SCHEDULED_MARK if event.pending else HAPPENED_MARK
    when = Text.assemble((f"{mark} ", style or HAPPENED), (at, style))
    goal = goals.get(event.goal_id or "", "")
    if event.transaction is not None and event.balance is not None:
        is_income = event.transaction.type == "INCOME"
        amount = event.transaction.amount if is_income else -event.transaction.amount
        format_amount = formatting.amount if is_opening_balance(event.transaction) else formatting.signed_amount
        money = Text(format_amount(amount), style or (GOOD if is_income else BAD))
        balance = _amount(event.balance).append(f" {sanitize(event.transaction.currency)}", FAINT)
        return [when, Text(sanitize(event.transaction.name), style), money, balance]
    if event.contribution is not None and event.current_amount is not None:
        money = Text(formatting.signed_amount(event.contribution.amount), style or GOOD)
        saved = Text(formatting.amount(event.current_amount)).append("    ")
        return [when, Text(goal, style), money, saved]
    return [when, Text(f"✓ {goal} reached", style or GOOD), Text(), Text()]


def render_check(
    snapshot: Snapshot, expectations: Sequence[Expectation], result: CheckResult, width: int
) -> list[Text]:
    """Render each expectation, and for each violation when it happens and which items cause it."""
    summary = Text.assemble((f"checked until {formatting.timestamp(result.until)}: ", FAINT), summarize_check(result))
    lines = wrap([Text(formatting.short_id(snapshot.id), HAPPENED), summary], width)
    for expectation, one in zip(expectations, result.results, strict=True):
        mark = Text("✓ ", GOOD) if one.ok else Text("✗ ", BAD)
        lines += wrap([mark.append(sanitize(str(expectation)))], width)
        if one.violation is not None:
            lines += _violation(snapshot, one.violation, width)
    return lines


def summarize_check(result: CheckResult) -> str:
    """Say how many expectations hold: `2 of 3 expectations hold`."""
    held, number = sum(one.ok for one in result.results), len(result.results)
    if number == 1:
        return "the expectation holds" if held else "the expectation doesn't hold"
    return f"{held} of {number} expectations hold"


def _violation(snapshot: Snapshot, violation: Violation, width: int) -> list[Text]:
    at = Text(formatting.timestamp(violation.at), HAPPENED)
    lines = wrap([at, Text(sanitize(violation.message), BAD)], width - 2)
    items = [item for item in clock_items(snapshot) if item.id in violation.item_ids]
    lines += item_list(items[-_MAX_ITEMS:], width - 2, show_all=True)
    if len(items) > _MAX_ITEMS:
        lines.append(Text(f"  … and {len(items) - _MAX_ITEMS} before", FAINT))
    return [Text("  ").append_text(line) for line in lines]
