"""Checks expectations about a schedule: pure functions of schedule, instant and opening balances."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from math import ceil, floor
from typing import Any, Final, TypeVar

from msgspec import UNSET, Struct, UnsetType, field, json

from tickover.api import timestamps
from tickover.api.errors import Fault, truncate
from tickover.api.expectations import (
    BalanceExpectationEntry,
    GoalReachedExpectationEntry,
    PostedExpectationEntry,
    TotalExpectationEntry,
)
from tickover.api.suggestions import suggest
from tickover.api.timestamps import Instant
from tickover.server.schedule.items import item_id
from tickover.server.schedule.ledger import Ledger, LedgerGoal, fraction_to_number
from tickover.server.schedule.money import Amount, to_fraction, to_number
from tickover.server.schedule.schedule import Expectation
from tickover.server.schedule.totals import Series, Totals, TotalViolation, first_above, first_below, first_beyond

_NOUNS: Final = {"INCOME": "Income", "EXPENSE": "Expenses"}
_MAX_LISTED: Final = 10
_MAX_HINTS: Final = 3
_MAX_COMPARED: Final = 50
"""Comparing names is slow, so a check compares only this many with each of the first unknown ones."""
_T = TypeVar("_T")


class Violation(Struct, frozen=True, rename="camel"):
    """The first violation of an expectation."""

    at: Instant
    message: str
    actual: Amount
    item_ids: Sequence[str]


class Hints:
    """Suggests names to a caller who used an unknown one."""

    def __init__(self) -> None:
        self._left = _MAX_HINTS

    def closest(self, name: str, names: Iterable[str]) -> str:
        """Return `; did you mean "X"?`, or an empty string."""
        self._left -= 1
        return suggest(name, islice(names, _MAX_COMPARED), '"{}"') if self._left >= 0 else ""

    def available(self, name: str, names: Iterable[str]) -> str:
        """Return the first names in parentheses, and the closest one."""
        every = list(names)
        listed = ", ".join([*map(truncate, every[:_MAX_LISTED]), *(["…"] if len(every) > _MAX_LISTED else [])])
        return f" ({listed or 'it has none'}){self.closest(name, every)}"


class Scope(Struct, frozen=True):
    """The range and the opening balances of one check."""

    start: Instant
    until: Instant
    opening: Mapping[str, Fraction]
    hints: Hints = field(default_factory=Hints)


def scope_faults(expectations: Sequence[Expectation], ledger: Ledger, totals: Totals, scope: Scope) -> Iterator[Fault]:
    """Return the faults that depend on the clock: times out of range, and unknown currencies, categories and goals."""
    for index, expectation in enumerate(expectations):
        path = f"expectations[{index}]"
        if isinstance(balance := expectation.balance, BalanceExpectationEntry):
            yield from _book_faults(f"{path}.balance", balance, ledger, scope)
            yield from _range_faults(f"{path}.balance", balance, scope)
        if isinstance(goal_reached := expectation.goal_reached, GoalReachedExpectationEntry):
            yield from time_faults(f"{path}.goalReached.by", goal_reached.by, scope.start, scope.until)
            yield from _goal_faults(f"{path}.goalReached.goal", goal_reached.goal, ledger, scope.hints)
        if isinstance(total := expectation.total, TotalExpectationEntry):
            unknown = list(_currency_faults(f"{path}.total", total.currency, ledger, scope))
            yield from unknown or _category_faults(f"{path}.total.category", total, totals, scope.hints)
        if isinstance(posted := expectation.posted, PostedExpectationEntry):
            yield from time_faults(f"{path}.posted.by", posted.by, scope.start, scope.until)


def time_faults(
    path: str, at: Instant | UnsetType, start: Instant, end: Instant, limits: str = "the clock's start and until"
) -> Iterator[Fault]:
    """Return a fault if a time is given and out of range."""
    if at is UNSET or start <= at <= end:
        return
    message = f"must be between {limits} ({timestamps.write(start)} to {timestamps.write(end)})"
    yield Fault(path, "range", message, timestamps.write(at))


def _range_faults(path: str, balance: BalanceExpectationEntry[Amount], scope: Scope) -> Iterator[Fault]:
    faults = [
        *time_faults(f"{path}.from", balance.from_, scope.start, scope.until),
        *time_faults(f"{path}.until", balance.until, scope.start, scope.until),
    ]
    yield from faults
    if not faults and balance.from_ is not UNSET and balance.until is not UNSET and balance.from_ > balance.until:
        message = f"must not be later than until ({timestamps.write(balance.until)})"
        yield Fault(f"{path}.from", "range", message, timestamps.write(balance.from_))


def _book_faults(path: str, balance: BalanceExpectationEntry[Amount], ledger: Ledger, scope: Scope) -> Iterator[Fault]:
    if isinstance(balance.currency, str):
        yield from _currency_faults(path, balance.currency, ledger, scope)
    elif isinstance(balance.account, str) and balance.account not in ledger.accounts:
        names = scope.hints.available(balance.account, ledger.accounts)
        yield Fault(
            f"{path}.account", "account", f"must be the key of an account of this clock{names}", balance.account
        )


def _currency_faults(path: str, currency: str, ledger: Ledger, scope: Scope) -> Iterator[Fault]:
    if currency not in ledger.currencies and currency not in scope.opening:
        names = scope.hints.available(currency, sorted({*ledger.currencies, *scope.opening}))
        yield Fault(f"{path}.currency", "currency", f"must be a currency of this clock{names}", currency)


def _category_faults(path: str, total: TotalExpectationEntry[Amount], totals: Totals, hints: Hints) -> Iterator[Fault]:
    category = total.category
    if isinstance(category, str) and not totals.series(total.type, total.currency, category).positions:
        names = hints.available(category, totals.categories(total.type, total.currency))
        kind = f"{total.type} in {total.currency}"
        yield Fault(path, "category", f"must be a category of this clock for {kind}{names}", truncate(category))


def _goal_faults(path: str, goal: str, ledger: Ledger, hints: Hints) -> Iterator[Fault]:
    found = _find_goals(ledger, goal)
    if not found:
        names = hints.available(goal, dict.fromkeys(each.name for each in ledger.goals))
        yield Fault(path, "goal", f"must be the ID or the name of a goal of this clock{names}", truncate(goal))
    if len(found) > 1:
        ids = ", ".join(ledger.goals[index].id for index in found)
        yield Fault(path, "goal", f"is the name of {len(found)} goals; use an ID: {ids}", truncate(goal))


def _find_goals(ledger: Ledger, goal: str) -> list[int]:
    """Return the indexes of the goals with this ID, or else with this name."""
    by_id = [index for index, each in enumerate(ledger.goals) if each.id == goal]
    return by_id or [index for index, each in enumerate(ledger.goals) if each.name == goal]


def check(expectation: Expectation, ledger: Ledger, totals: Totals, scope: Scope) -> Violation | None:
    """Return the first violation of a valid expectation, or None if it holds."""
    if isinstance(balance := expectation.balance, BalanceExpectationEntry):
        return _check_balance(balance, ledger, scope)
    if isinstance(goal_reached := expectation.goal_reached, GoalReachedExpectationEntry):
        return _check_goal(goal_reached, ledger)
    if isinstance(total := expectation.total, TotalExpectationEntry):
        return _check_total(total, ledger, totals, scope)
    assert isinstance(expectation.posted, PostedExpectationEntry)
    return _check_posted(expectation.posted, ledger, scope.hints)


def _check_balance(expected: BalanceExpectationEntry[Amount], ledger: Ledger, scope: Scope) -> Violation | None:
    if isinstance(expected.currency, str):
        name, book = f"{expected.currency} balance", ledger.currency_book(expected.currency)
        opening = scope.opening.get(expected.currency, Fraction(0))
    else:
        assert isinstance(expected.account, str), "an expectation has a currency or an account"
        name, book = f"balance of {expected.account}", ledger.account_book(expected.account)
        opening = Fraction(0)
    start = _default(expected.from_, scope.start)
    low, high = book.index_at(start), book.index_at(_default(expected.until, scope.until)) + 1
    lowest, highest = (book.balances[indexes[high - 1]] for indexes in (book.lowest, book.highest))
    violations: list[tuple[int, str]] = []
    if not isinstance(expected.at_least, UnsetType):
        minimum = ceil((to_fraction(expected.at_least) - opening) * book.unit)
        if lowest < minimum:
            index = first_beyond(book.balances, low, high, minimum, min, int.__lt__)
            violations += [] if index is None else [(index, f"below {_text(expected.at_least)}")]
    if not isinstance(expected.at_most, UnsetType):
        maximum = floor((to_fraction(expected.at_most) - opening) * book.unit)
        if highest > maximum:
            index = first_beyond(book.balances, low, high, maximum, max, int.__gt__)
            violations += [] if index is None else [(index, f"above {_text(expected.at_most)}")]
    if not violations:
        return None
    index, bound = min(violations)
    at = start if index == low else book.instants[index - 1]
    actual = fraction_to_number(opening + Fraction(book.balances[index], book.unit))
    # The balance at the start of the range can be older than the range.
    is_new = index > 0 and book.instants[index - 1] == at
    positions = book.positions[book.ends[index - 1] : book.ends[index]] if is_new else []
    message = f"The {name} is {_text(actual)}, {bound}."
    return Violation(at, message, actual, _balance_ids(ledger, expected, positions))


def _balance_ids(ledger: Ledger, expected: BalanceExpectationEntry[Amount], positions: Sequence[int]) -> list[str]:
    """Return the items that change the balance. A transfer inside a currency doesn't change that currency's balance."""
    count = len(ledger.transactions)
    return ledger.item_ids(
        position
        for position in positions
        if position < count or expected.currency is UNSET or ledger.transfers[position - count].received is not None
    )


def _check_goal(expected: GoalReachedExpectationEntry, ledger: Ledger) -> Violation | None:
    # A goal that was added later may have the same name as that of a stored expectation.
    index = _find_goals(ledger, expected.goal)[0]
    goal: LedgerGoal = ledger.goals[index]
    contributions = ledger.schedule.goals[index].contributions
    count = contributions.count_until(expected.by)
    if goal.sums[count] >= goal.target:
        return None
    actual, target = to_number(goal.sums[count], goal.unit), to_number(goal.target, goal.unit)
    message = f'Goal "{goal.name}" has {_text(actual)} of {_text(target)} at {timestamps.write(expected.by)}.'
    return Violation(expected.by, message, actual, [item_id(item) for item in contributions.encoded[:count]])


def _check_total(
    expected: TotalExpectationEntry[Amount], ledger: Ledger, totals: Totals, scope: Scope
) -> Violation | None:
    category = _default(expected.category, None)
    series = totals.series(expected.type, expected.currency, category)
    found: list[tuple[TotalViolation, str]] = []
    if not isinstance(expected.at_most, UnsetType):
        limit = floor(to_fraction(expected.at_most) * series.unit)
        above = first_above(series, expected.per, scope.until, limit)
        found += [] if above is None else [(above, f"above {_text(expected.at_most)}")]
    if not isinstance(expected.at_least, UnsetType):
        minimum = ceil(to_fraction(expected.at_least) * series.unit)
        below = first_below(series, expected.per, scope.start, scope.until, minimum)
        found += [] if below is None else [(below, f"below {_text(expected.at_least)}")]
    if not found:
        return None
    violation, bound = min(found)
    actual = to_number(series.sums[violation.end] - series.sums[violation.first], series.unit)
    what = f"{_NOUNS[expected.type]} in {expected.currency}" + (f' for "{category}"' if category is not None else "")
    message = f"{what} {violation.period}: {_text(actual)}, {bound}."
    return Violation(violation.at, message, actual, _ids_of(ledger, series, violation))


def _ids_of(ledger: Ledger, series: Series, violation: TotalViolation) -> list[str]:
    return ledger.item_ids(series.positions[violation.first : violation.end])


def _check_posted(expected: PostedExpectationEntry, ledger: Ledger, hints: Hints) -> Violation | None:
    positions = ledger.positions_by_name.get(expected.name, ())
    count = bisect_left(positions, ledger.schedule.transactions.count_until(expected.by))
    needed = _default(expected.count, 1)
    if count >= needed:
        return None
    named = f'Transactions named "{expected.name}" at {timestamps.write(expected.by)}'
    hint = "" if positions else hints.closest(expected.name, ledger.positions_by_name)
    message = f"{named}: {count}, below {needed}{hint or '.'}"
    return Violation(expected.by, message, count, ledger.item_ids(positions[:count]))


def _default(value: _T | UnsetType, default: Any) -> Any:
    return default if value is UNSET else value


def _text(amount: Amount) -> str:
    return json.encode(amount).decode()
