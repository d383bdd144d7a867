"""The change of balances by an amendment."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from itertools import accumulate

from msgspec import Struct

from tickover.api.clocks import Snapshot, Transaction, TransactionEntry
from tickover.api.plans import PlannedItem, PlannedTransaction
from tickover.cli import formatting
from tickover.client.amendments import Item


class BalanceChange(Struct, frozen=True, rename="camel"):
    """The balance of one currency after all items, and its lowest point, before and after an amendment."""

    currency: str
    change: Decimal
    end_before: Decimal
    end_after: Decimal
    lowest_before: Decimal
    lowest_after: Decimal

    def __str__(self) -> str:
        end = f"end {formatting.amount(self.end_before)} → {formatting.amount(self.end_after)}"
        lowest = f"lowest {formatting.amount(self.lowest_before)} → {formatting.amount(self.lowest_after)}"
        return f"{self.currency}  {formatting.signed_amount(self.change)}  {end}  {lowest}"


def balance_changes(clock: Snapshot, add: Sequence[PlannedItem], cancel: Sequence[Item]) -> list[BalanceChange]:
    """Return the change of each currency that the amendment concerns, or nothing if it concerns no transaction."""
    cancelled = {item if isinstance(item, str) else item.id for item in cancel}
    before = [*clock.transactions, *clock.pending_transactions]
    added = [item for item in add if isinstance(item, TransactionEntry)]
    removed = [item for item in before if item.id in cancelled]
    after: list[Transaction | PlannedTransaction] = [*(item for item in before if item.id not in cancelled), *added]
    currencies = sorted({item.currency for item in added} | {item.currency for item in removed})
    return [_change(currency, before, after) for currency in currencies]


def _change(
    currency: str, before: Sequence[Transaction], after: Sequence[Transaction | PlannedTransaction]
) -> BalanceChange:
    (end, lowest), (new_end, new_lowest) = _end_and_lowest(currency, before), _end_and_lowest(currency, after)
    return BalanceChange(currency, new_end - end, end, new_end, lowest, new_lowest)


def _end_and_lowest(currency: str, items: Sequence[Transaction | PlannedTransaction]) -> tuple[Decimal, Decimal]:
    """Return the balance after all items, and the lowest one after an item, as `clock show` does.

    Items of one instant count together.
    """
    changes: dict[datetime, Decimal] = {}
    for item in items:
        if item.currency == currency:
            amount = item.amount if item.type == "INCOME" else -item.amount
            changes[item.at] = changes.get(item.at, Decimal(0)) + amount
    balances = list(accumulate(change for _, change in sorted(changes.items()))) or [Decimal(0)]
    return balances[-1], min(balances)
