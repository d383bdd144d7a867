"""The items of a clock in order of time, with what they change, and as text around its time or a violation."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import reduce
from operator import itemgetter
from typing import Final, Literal, NamedTuple

from msgspec import UNSET

from tickover.api import timestamps
from tickover.api.clocks import Contribution, Goal, Snapshot, Transaction, Transfer
from tickover.api.command_arguments import Amount, add_exactly
from tickover.api.expectations import CheckResult, Expectation
from tickover.api.plans import to_exact_balances
from tickover.api.reconciliation import ExpectedItem, Field, ObservedItem, Reconciliation
from tickover.api.terminal import sanitize

HAPPENED_MARK: Final = "●"
SCHEDULED_MARK: Final = "○"
_MAX_ITEMS: Final = 6
"""On each side of the frozen time, or of a violation."""
_MAX_NAME: Final = 40
_MAX_DIFFERENCES: Final = 10
"""Of the books of an app."""
_ComparedItem = ExpectedItem[Decimal] | ObservedItem[Decimal]

Lane = Literal["in", "out", "moves", "goals"]


class Item(NamedTuple):
    """A transaction, a transfer or a contribution with sanitized text."""

    id: str
    at: datetime
    name: str
    """The name of a contribution is that of its goal."""
    amount: Decimal
    """Negative for an expense."""
    currency: str
    """Empty for a contribution."""
    lane: Lane
    happened: bool
    account: str = ""
    """The account of a transaction, or both accounts of a transfer. Empty if the clock has no accounts."""
    changes: tuple[tuple[str, Decimal], ...] = ()
    """What it adds to the balances of accounts, or of a currency if the clock has no accounts."""

    @property
    def mark(self) -> str:
        return HAPPENED_MARK if self.happened else SCHEDULED_MARK


def clock_items(clock: Snapshot) -> list[Item]:
    """Return all items of the clock in order of time."""
    now = clock.frozen_time
    transfers = (*clock.transfers, *clock.pending_transfers)
    items = [_transaction_item(item, now) for item in (*clock.transactions, *clock.pending_transactions)]
    items += [_transfer_item(item, now) for item in transfers]
    for goal in clock.goals:
        items += [_contribution_item(goal, item, now) for item in (*goal.contributions, *goal.upcoming_contributions)]
    return sorted(items, key=lambda item: item.at)


def _transaction_item(transaction: Transaction, now: datetime) -> Item:
    lane: Lane = "in" if transaction.type == "INCOME" else "out"
    amount, account = transaction.signed_amount, sanitize(transaction.account or "")
    name, currency = sanitize(transaction.name), sanitize(transaction.currency)
    changes = ((account or currency, amount),)
    return Item(transaction.id, transaction.at, name, amount, currency, lane, transaction.at <= now, account, changes)


def _transfer_item(transfer: Transfer, now: datetime) -> Item:
    leaves, arrives = sanitize(transfer.from_), sanitize(transfer.to)
    received = transfer.amount if transfer.received is None else transfer.received
    changes = ((arrives, received), (leaves, -transfer.amount))
    name, currency, accounts = sanitize(transfer.name), sanitize(transfer.currency), f"{leaves} → {arrives}"
    return Item(
        transfer.id, transfer.at, name, transfer.amount, currency, "moves", transfer.at <= now, accounts, changes
    )


def _contribution_item(goal: Goal, contribution: Contribution, now: datetime) -> Item:
    at = contribution.at
    return Item(contribution.id, at, sanitize(goal.name), contribution.amount, "", "goals", at <= now)


def opening_books(clock: Snapshot, given: Mapping[str, Amount] | None = None) -> dict[str, Decimal]:
    """Return the balance of each account before the clock's start, or of each currency if the clock has no accounts.

    `given` replaces the opening balances of the clock.
    """
    if clock.accounts:
        return {sanitize(account.key): account.opening_balance for account in clock.accounts}
    books = to_exact_balances((clock.opening_balances or {}) if given is None else given)
    return {item.currency: Decimal(0) for item in clock_items(clock) if item.currency} | books


def nearest_double(exact: Decimal) -> Decimal:
    """Return the number that JSON can represent, without `.0`."""
    number = float(exact)
    return Decimal(int(number) if number.is_integer() else repr(number))


def running_balances(items: Sequence[Item], opening: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """Return the balance after each transaction and transfer, by its ID.

    For a transfer, it is that of the account that the money left.
    """
    sums, balances = dict(opening), {}
    for item in items:
        for book, amount in item.changes:
            sums[book] = add_exactly(sums.get(book, Decimal(0)), amount)
            balances[item.id] = nearest_double(sums[book])
    return balances


def format_clock(clock: Snapshot) -> str:
    """Return the clock's ID, its frozen time and its nearest items. ● marks past items, and ○ scheduled ones."""
    lines = _items_around(clock.frozen_time, clock_items(clock), {}, []) or ["  (no events)"]
    return "\n".join([f"{clock.id} at {timestamps.write(clock.frozen_time)}", *lines])


def format_violations(
    clock: Snapshot,
    expectations: Sequence[Expectation],
    result: CheckResult,
    opening_balances: Mapping[str, Amount] | None = None,
) -> str:
    """Return the violated expectations, and the items around the earliest violation with the balances after them.

    The first line starts with the earliest violation, because pytest's summary shows only that. ✗ marks its time.
    """
    pairs = zip(expectations, result.results, strict=True)
    violated = [(expectation, each.violation) for expectation, each in pairs if each.violation]
    expected, first = min(violated, key=lambda pair: pair[1].at)
    count = f"{len(violated)} of {len(expectations)} expectations failed for {clock.id}."
    lines = [f"{sanitize(first.message)} {count}"]
    for expectation, violation in violated:
        lines.append(f"Expected: {expectation}")
        if len(violated) > 1:
            lines.append(f"  Actual: {sanitize(violation.message)}")
    marker = f"  ✗ {timestamps.write(first.at)}  {expected}"
    items = clock_items(clock)
    balances = running_balances(items, opening_books(clock, opening_balances))
    return "\n".join([*lines, "", *_items_around(first.at, items, balances, [marker])])


def _differences(result: Reconciliation[Decimal], at: datetime) -> list[tuple[datetime, str]]:
    """Return the time and the text of each difference. `at` is the time of the balance. Rows count from 1."""
    found = [(item.at, f"The app has no row for {_describe(item)}.") for item in result.missing]
    for changed in result.changed:
        expected, observed = changed.expected, changed.observed
        changes = [f"{name} {_show(observed, name)} instead of {_show(expected, name)}" for name in changed.fields]
        text = f"Row {observed.index + 1} for {_describe(expected)} has {', '.join(changes)}."
        found.append((expected.at, text))
    found += [(row.at, f"Row {row.index + 1} is a second copy of {_describe(row)}.") for row in result.duplicated]
    found += [(row.at, f"Row {row.index + 1} isn't at the bank: {_describe(row)}.") for row in result.unexpected]
    if result.balance is not UNSET and result.balance.observed != result.balance.expected:
        observed_balance, expected_balance = map(_format_number, (result.balance.observed, result.balance.expected))
        found.append((at, f"The balance is {observed_balance} instead of {expected_balance}."))
    return sorted(found, key=itemgetter(0))


def _describe(item: _ComparedItem) -> str:
    name = "" if item.name in (UNSET, "") else f"{_shorten(sanitize(str(item.name)))}, "
    return f"{name}{_format_number(item.amount)}"


def _show(item: _ComparedItem, field: Field) -> str:
    if field == "amount":
        return _format_number(item.amount)
    return timestamps.write(item.at) if field == "at" else _shorten(sanitize(str(item.name)))


def format_differences(
    clock: Snapshot,
    result: Reconciliation[Decimal],
    at: datetime,
    account: str | None = None,
    currency: str | None = None,
) -> str:
    """Return what differs, and the compared items around the first difference with the balances after them.

    The first line starts with the first difference, because pytest's summary shows only that. ✗ marks it.
    """
    found = _differences(result, at)
    first_at, first = found[0]
    count = "1 difference" if len(found) == 1 else f"{len(found):,} differences"
    lines = [f"{first} {count} between the books and {clock.id}."]
    lines += [f"  {timestamps.write(time)}  {text}" for time, text in found[:_MAX_DIFFERENCES]]
    if len(found) > _MAX_DIFFERENCES:
        lines.append(f"  … {len(found) - _MAX_DIFFERENCES:,} more")
    marker = f"  ✗ {timestamps.write(first_at)}  {first}"
    items, opening = _compared_items(clock, account, currency)
    balances = running_balances(items, {"": opening})
    lines += ["", *_items_around(first_at, items, balances, [marker])]
    keys = [sanitize(each.key) for each in clock.accounts]
    if len(keys) > 1 and not (account or currency):
        hint = f"The clock has the accounts {', '.join(keys)}. Compare each by itself: pass an account."
        lines += ["", hint]
    return "\n".join(lines)


def _compared_items(clock: Snapshot, account: str | None, currency: str | None) -> tuple[list[Item], Decimal]:
    """Return what an account or a currency gained and lost, and its balance before the clock's start.

    Without either, it is the clock's only currency. A transfer within a currency is no item of the currency.
    """
    openings = opening_books(clock)
    currencies = {book: book for book in openings} | {one.key: one.currency for one in clock.accounts}
    books = {book for book in openings if account in (None, book) and currency in (None, currencies[book])}
    items = []
    for item in clock_items(clock):
        changes = [(book, amount) for book, amount in item.changes if book in books]
        if len(changes) == 1:
            [(book, amount)] = changes
            lane: Lane = "in" if amount > 0 else "out"
            items.append(item._replace(amount=amount, currency=currencies[book], lane=lane, changes=(("", amount),)))
    return items, reduce(add_exactly, (openings[book] for book in books), Decimal(0))


def _items_around(at: datetime, items: Sequence[Item], balances: Mapping[str, Decimal], marker: list[str]) -> list[str]:
    """Return the lines of the items around an instant, with the marker's lines between them."""
    before = [item for item in items if item.at <= at]
    after = items[len(before) :]
    recent = before[-_MAX_ITEMS:]
    lines = _format_items([*recent, *after[:_MAX_ITEMS]], balances)
    lines[len(recent) : len(recent)] = marker
    if hidden := len(before) - len(recent):
        lines.insert(0, f"  … {hidden} earlier")
    if len(after) > _MAX_ITEMS:
        lines.append(f"  … {len(after) - _MAX_ITEMS} later, the last at {timestamps.write(after[-1].at)}")
    return lines


def _format_items(items: Sequence[Item], balances: Mapping[str, Decimal]) -> list[str]:
    """Return a line for each item, with the balance after it if `balances` has one."""
    amounts = [_format_money(item, item.amount, shows_plus=item.lane != "moves") for item in items]
    after = [f"= {_format_money(item, balances[item.id])}" if item.id in balances else "" for item in items]
    amount_width, after_width = max(map(len, amounts), default=0), max(map(len, after), default=0)
    lines = []
    for item, amount, balance in zip(items, amounts, after, strict=True):
        money = f"{amount:>{amount_width}}" + (f"  {balance:>{after_width}}" if after_width else "")
        name = _shorten(item.name)
        kind = " (goal)" if item.lane == "goals" else f" ({item.account})" if item.account else ""
        lines.append(f"  {item.mark} {timestamps.write(item.at)}  {money}  {name}{kind}")
    return lines


def _format_money(item: Item, amount: Decimal, *, shows_plus: bool = False) -> str:
    """Return an amount with the item's currency, or with spaces of the same width."""
    number = _format_number(amount)
    sign = "+" if shows_plus and amount > 0 else ""
    return f"{sign}{number} {item.currency or '   '}"


def _format_number(amount: Decimal) -> str:
    # JSON drops trailing zeros: 88.60 arrives as 88.6.
    return f"{amount:.2f}" if amount.as_tuple().exponent == -1 else f"{amount:f}"


def _shorten(name: str) -> str:
    return name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"
