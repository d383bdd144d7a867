"""Balances, events and checked expectations as tables."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from rich.text import Text

from tickover.api.clocks import Balance, Balances, Event, Snapshot
from tickover.api.expectations import CheckResult, Violation
from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.render.clock_text import item_list, item_rows, summarize_check
from tickover.cli.render.layout import BAD, FAINT, GOOD, HAPPENED, Column, table, wrap
from tickover.client import Expectation
from tickover.client.timeline import Item, clock_items

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
    rows += [_balance_row(one.account, one) for one in result.accounts]
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
    by_id = {item.id: item for item in clock_items(snapshot)}
    goals = {goal.id: sanitize(goal.name) for goal in snapshot.goals}
    items = []
    for event in events:
        cause = event.transaction or event.transfer or event.contribution
        # An amendment may have just cancelled the item.
        name = event.type if cause else f"✓ {goals.get(event.goal_id or '')} reached"
        other = Item(event.id, event.at, name, Decimal(0), "", "goals", not event.pending)
        items.append(by_id.get(cause.id, other) if cause else other)
    rows = [[*cells, _balance_after(event)] for cells, event in zip(item_rows(items, width), events, strict=True)]
    return table(rows, [Column(), Column(min_width=4), Column("right"), Column("right")], width)


def _balance_after(event: Event) -> Text:
    if event.transaction is not None and event.balance is not None:
        balance = event.balance if event.account_balance is None else event.account_balance
        labels = (event.transaction.currency, event.transaction.account)
        return _amount(balance).append(f" {sanitize(' '.join(filter(None, labels)))}", FAINT)
    if event.transfer is not None and event.from_balance is not None and event.to_balance is not None:
        from_balance = _amount(event.from_balance).append(f" {sanitize(event.transfer.from_)} → ", FAINT)
        return from_balance.append_text(_amount(event.to_balance)).append(f" {sanitize(event.transfer.to)}", FAINT)
    return Text() if event.current_amount is None else Text(f"{formatting.amount(event.current_amount)}    ")


def render_check(
    snapshot: Snapshot, expectations: Sequence[Expectation], result: CheckResult, width: int
) -> list[Text]:
    """Render each expectation, and each violation with its items."""
    summary = Text.assemble((f"checked until {formatting.timestamp(result.until)}: ", FAINT), summarize_check(result))
    lines = wrap([Text(formatting.short_id(snapshot.id), HAPPENED), summary], width)
    for expectation, one in zip(expectations, result.results, strict=True):
        mark = Text("✓ ", GOOD) if one.ok else Text("✗ ", BAD)
        lines += wrap([mark.append(sanitize(str(expectation)))], width)
        if one.violation is not None:
            lines += _violation(snapshot, one.violation, width)
    return lines


def _violation(snapshot: Snapshot, violation: Violation[Decimal], width: int) -> list[Text]:
    lines = wrap([Text(sanitize(violation.message), BAD)], width - 2)
    items = [item for item in clock_items(snapshot) if item.id in violation.item_ids]
    lines += item_list(items[-_MAX_ITEMS:], width - 2)
    if len(items) > _MAX_ITEMS:
        lines.append(Text(f"  … and {len(items) - _MAX_ITEMS} before", FAINT))
    return [Text("  ").append_text(line) for line in lines]
