"""Balances of a clock, computed from its transactions as the server computes them."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from tickover.api.arguments import Amount, add_exactly
from tickover.api.clocks import Transaction
from tickover.api.plans import to_exact_balances


def running_balances(transactions: Iterable[Transaction], opening: Mapping[str, Amount]) -> Iterator[Decimal]:
    """Yield the balance of each transaction's currency after it. The transactions are in order of time."""
    sums = to_exact_balances(opening)
    for item in transactions:
        amount = item.amount if item.type == "INCOME" else -item.amount
        sums[item.currency] = add_exactly(sums.get(item.currency, Decimal(0)), amount)
        yield _nearest_double(sums[item.currency])


def balances_after(transactions: Iterable[Transaction], opening: Mapping[str, Amount]) -> dict[str, Decimal]:
    """Return the balance of each currency after these transactions, in order of currency."""
    items = list(transactions)
    balances = to_exact_balances(opening)
    for item, balance in zip(items, running_balances(items, opening), strict=True):
        balances[item.currency] = balance
    return dict(sorted(balances.items()))


def _nearest_double(exact: Decimal) -> Decimal:
    """Return the number that JSON can represent, without `.0`."""
    number = float(exact)
    return Decimal(int(number) if number.is_integer() else repr(number))
