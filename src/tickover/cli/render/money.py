"""Balances, events and checked expectations as tables."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Final

from rich.text import Text

from tickover.api.clocks import Balance, Balances, Event, Snapshot
from tickover.api.expectations import CheckResult, Violation
from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.render.clock import item_list, summarize_check
from tickover.cli.render.layout import BAD, FAINT, GOOD, HAPPENED, SCHEDULED, Column, table, wrap
from tickover.client import Expectation
from tickover.client.clocks import signed_amount
from tickover.client.timeline import HAPPENED_MARK, SCHEDULED_MARK, clock_items

_SHOWS_TIMES: Final = timedelta(days=2)
_MAX_ITEMS: Final = 5


def render_balances(id: str, result: Balances, width: int) -> list[Text]:
    """Render one row for each currency, and one for each account."""
    title = Text.assemble(("balance at ", FAINT), (formatting.timestamp(result.at), HAPPENED))
    lines = wrap([Text(formatting.short_id(id), HAPPENED), title], width)
    if not result.balances:
        return [*lines, Text(), Text("  The clock has no transactions.")]
    # Both don't fit into 80 columns.
    first, third = ("INCOME", "TRANSFERS") if result.accounts else ("OPENING", "EXPENSES")
    header = ("", first, "EXPENSES" if result.accounts else "INCOME", third, "BALANCE", "LOWEST", "ON")
    rows = [[Text(title, FAINT) for title in header]]
    rows += [_balance_row(one.currency, one) for one in result.balances]
    rows += [_balance_row(one.account, one) for one in result.accounts or ()]
    return [
        *lines,
        Text(),
        *table(rows, [Column(min_width=3), *[Column("right")] * (len(header) - 2), Column()], width),
    ]


def _balance_row(label: str, one: Balance) -> list[Text]:
    columns = [formatting.amount(value) for value in (one.opening, one.income, one.expense)]
    if one.transferred_in is not None and one.transferred_out is not None:
        columns = [*columns[1:], formatting.signed_amount(one.transferred_in - one.transferred_out)]
    return [
        Text(sanitize(label), HAPPENED),
        *map(Text, columns),
        _amount(one.balance),
        _amount(one.lowest.balance),
        Text(formatting.date(one.lowest.at), FAINT),
    ]


def _amount(value: Decimal) -> Text:
    return Text(formatting.amount(value), BAD if value < 0 else "")


def render_events(snapshot: Snapshot, events: Sequence[Event], width: int) -> list[Text]:
    """Render one line for each event, with the balances after it."""
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
        amount = formatting.signed_amount(signed_amount(event.transaction))
        money = Text(amount, style or (GOOD if is_income else BAD))
        after = event.balance if event.account_balance is None else event.account_balance
        labels = (event.transaction.currency, event.transaction.account)
        balance = _amount(after).append(f" {sanitize(' '.join(filter(None, labels)))}", FAINT)
        return [when, Text(sanitize(event.transaction.name), style), money, balance]
    if event.transfer is not None and event.from_balance is not None and event.to_balance is not None:
        transfer = event.transfer
        leaves, arrives = (f" {sanitize(key)}" for key in (transfer.from_, transfer.to))
        balances = _amount(event.from_balance).append(f"{leaves} → ", FAINT)
        balances.append_text(_amount(event.to_balance)).append(arrives, FAINT)
        return [when, Text(sanitize(transfer.name), style), Text(formatting.amount(transfer.amount), style), balances]
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


def _violation(snapshot: Snapshot, violation: Violation, width: int) -> list[Text]:
    at = Text(formatting.timestamp(violation.at), HAPPENED)
    lines = wrap([at, Text(sanitize(violation.message), BAD)], width - 2)
    items = [item for item in clock_items(snapshot) if item.id in violation.item_ids]
    lines += item_list(items[-_MAX_ITEMS:], width - 2)
    if len(items) > _MAX_ITEMS:
        lines.append(Text(f"  … and {len(items) - _MAX_ITEMS} before", FAINT))
    return [Text("  ").append_text(line) for line in lines]
