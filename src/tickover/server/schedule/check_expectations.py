"""Checks expectations about a schedule: pure functions of schedule, instant and opening balances."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from math import ceil, floor
from typing import Final

from msgspec import UNSET, UnsetType, json

from tickover.api import timestamps
from tickover.api.command_arguments import int_if_whole
from tickover.api.errors import Fault, truncate
from tickover.api.expectations import (
    BalanceExpectationEntry,
    Cause,
    GoalReachedExpectationEntry,
    PostedExpectationEntry,
    TotalExpectationEntry,
    Violation,
    WorstValue,
)
from tickover.api.suggestions import suggest
from tickover.api.timestamps import Instant
from tickover.server.schedule.balance_violations import find_violation
from tickover.server.schedule.ledger import Ledger, fraction_to_number
from tickover.server.schedule.money import Amount, to_fraction, to_number
from tickover.server.schedule.schedule import Expectation
from tickover.server.schedule.totals import Totals, TotalViolation, first_above, first_below
from tickover.server.schedule.violation_messages import balance_message, bounds_text, total_message

_ZERO: Final = Fraction(0)
_NOUNS: Final = {"INCOME": "Income", "EXPENSE": "Expenses"}
_MAX_LISTED: Final = 10
_MAX_HINTS: Final = 3
_MAX_COMPARED: Final = 50
"""Comparing names is slow, so a check compares only this many with each of the first unknown ones."""


def time_faults(
    path: str, at: Instant | UnsetType, start: Instant, end: Instant, limits: str = "the clock's start and until"
) -> Iterator[Fault]:
    """Return a fault if a time is given and out of range."""
    if at is UNSET or start <= at <= end:
        return
    message = f"must be between {limits} ({timestamps.write(start)} to {timestamps.write(end)})"
    yield Fault(path, "range", message, timestamps.write(at))


class Check:
    """A check of expectations from `start` to `until`, with these opening balances."""

    def __init__(
        self, ledger: Ledger, totals: Totals, start: Instant, until: Instant, opening: Mapping[str, Fraction]
    ) -> None:
        self.until = until
        self._ledger = ledger
        self._schedule = ledger.schedule
        self._totals = totals
        self._start = start
        self._opening = opening
        self._hints_left = _MAX_HINTS

    def faults(self, expectations: Sequence[Expectation]) -> Iterator[Fault]:
        """Return the faults that depend on the clock: times out of range, and unknown names."""
        for index, expectation in enumerate(expectations):
            path = f"expectations[{index}]"
            match expectation.rule:
                case BalanceExpectationEntry() as balance:
                    yield from self._book_faults(f"{path}.balance", balance)
                    yield from self._range_faults(f"{path}.balance", balance)
                case GoalReachedExpectationEntry() as reached:
                    yield from time_faults(f"{path}.goalReached.by", reached.by, self._start, self.until)
                    yield from self._goal_faults(f"{path}.goalReached.goal", reached.goal)
                case TotalExpectationEntry() as total:
                    unknown = list(self._currency_faults(f"{path}.total.currency", total.currency))
                    yield from unknown or self._category_faults(f"{path}.total.category", total)
                case posted:
                    yield from time_faults(f"{path}.posted.by", posted.by, self._start, self.until)

    def _range_faults(self, path: str, balance: BalanceExpectationEntry[Amount]) -> Iterator[Fault]:
        faults = [
            *time_faults(f"{path}.from", balance.from_, self._start, self.until),
            *time_faults(f"{path}.until", balance.until, self._start, self.until),
        ]
        yield from faults
        if not faults and balance.from_ is not UNSET and balance.until is not UNSET and balance.from_ > balance.until:
            message = f"must not be later than until ({timestamps.write(balance.until)})"
            yield Fault(f"{path}.from", "range", message, timestamps.write(balance.from_))

    def _book_faults(self, path: str, balance: BalanceExpectationEntry[Amount]) -> Iterator[Fault]:
        if balance.currency is not UNSET:
            yield from self._currency_faults(f"{path}.currency", balance.currency)
        elif balance.account is not UNSET and balance.account not in self._ledger.accounts:
            message = (
                f"must be the key of an account of this clock{self._names(balance.account, self._ledger.accounts)}"
            )
            yield Fault(f"{path}.account", "account", message, balance.account)

    def _currency_faults(self, path: str, currency: str) -> Iterator[Fault]:
        currencies = {*self._ledger.currencies, *self._opening}
        if currency not in currencies:
            message = f"must be a currency of this clock{self._names(currency, sorted(currencies))}"
            yield Fault(path, "currency", message, currency)

    def _category_faults(self, path: str, total: TotalExpectationEntry[Amount]) -> Iterator[Fault]:
        type, currency, category = total.type, total.currency, total.category
        if category is not UNSET and not self._totals.series(type, currency, category).positions:
            names = self._names(category, self._totals.categories(type, currency))
            message = f"must be a category of this clock for {type} in {currency}{names}"
            yield Fault(path, "category", message, truncate(category))

    def _goal_faults(self, path: str, goal: str) -> Iterator[Fault]:
        goals, found = self._schedule.goals, self._find_goals(goal)
        if not found:
            names = self._names(goal, dict.fromkeys(each.name for each in goals))
            yield Fault(path, "goal", f"must be the ID or the name of a goal of this clock{names}", truncate(goal))
        if len(found) > 1:
            ids = ", ".join(map(self._schedule.goal_id, found))
            yield Fault(path, "goal", f"is the name of {len(found)} goals; use an ID: {ids}", truncate(goal))

    def _find_goals(self, goal: str) -> list[int]:
        """Return the indexes of the goals with this ID, or else with this name."""
        goals = self._schedule.goals
        by_id = [index for index in range(len(goals)) if self._schedule.goal_id(index) == goal]
        return by_id or [index for index, each in enumerate(goals) if each.name == goal]

    def _names(self, unknown: str, names: Iterable[str]) -> str:
        """Return the first names in parentheses, and the closest one."""
        every = list(names)
        listed = ", ".join([*map(truncate, every[:_MAX_LISTED]), *(["…"] if len(every) > _MAX_LISTED else [])])
        return f" ({listed or 'it has none'}){self._closest(unknown, every)}"

    def _closest(self, unknown: str, names: Iterable[str]) -> str:
        """Return `; did you mean "X"?`, or an empty string."""
        self._hints_left -= 1
        return suggest(unknown, islice(names, _MAX_COMPARED), '"{}"') if self._hints_left >= 0 else ""

    def run(self, expectation: Expectation) -> Violation[Amount] | None:
        """Return the first violation of a valid expectation, or None if it holds."""
        match expectation.rule:
            case BalanceExpectationEntry() as balance:
                return self._check_balance(balance)
            case GoalReachedExpectationEntry() as reached:
                return self._check_goal(reached)
            case TotalExpectationEntry() as total:
                return self._check_total(total)
            case posted:
                return self._check_posted(posted)

    def _check_balance(self, expected: BalanceExpectationEntry[Amount]) -> Violation[Amount] | None:
        key, at_least, at_most = expected.currency or expected.account, expected.at_least, expected.at_most
        assert key is not UNSET, "an expectation has a currency or an account"
        book, opening = self._ledger.book(key), self._opening.get(key, _ZERO)
        start = expected.from_ or self._start
        low, high = book.index_at(start), book.index_at(expected.until or self.until) + 1
        # Without a bound, the farthest balance is one.
        minimum, maximum = book.lowest[high - 1], book.highest[high - 1]
        if at_least is not UNSET:
            minimum = ceil((to_fraction(at_least) - opening) * book.unit)
        if at_most is not UNSET:
            maximum = floor((to_fraction(at_most) - opening) * book.unit)
        found = find_violation(book, low, high, minimum, maximum)
        if found is None:
            return None

        def number(balance: int) -> Amount:
            return fraction_to_number(opening + Fraction(balance, book.unit))

        def instant(index: int) -> Instant:
            return start if index == low else book.instants[index - 1]

        at, balance = instant(found.first), book.balances[found.first]
        # The balance at the start of the range can be older than the range.
        is_new = found.first > 0 and book.instants[found.first - 1] == at
        steps = [step for step in book.steps(found.first) if step.change] if is_new else []
        cause = None
        if wrong := [step for step in steps if (step.change < 0) is (balance < minimum)]:
            step = max(wrong, key=lambda step: abs(step.change))
            amount = to_number(step.change, book.unit)
            cause = self._cause(step.position, at, amount, number(step.before), number(step.after))
        actual, until = number(balance), instant(found.end) if found.end < high else None
        worst = WorstValue(instant(found.worst), number(book.balances[found.worst]))
        account = "" if expected.currency else f"Account {key} "
        bound = bounds_text(expected.currency or self._ledger.accounts[key].currency, at_least, at_most)
        message = balance_message(f"{account}{bound}", at, until, actual, cause, worst)
        ids = self._ledger.item_ids(step.position for step in steps)
        return Violation(at, message, actual, ids, cause, until, worst)

    def _cause(self, position: int, at: Instant, amount: Amount, before: Amount, after: Amount) -> Cause[Amount]:
        [id] = self._ledger.item_ids([position])
        return Cause(id, at, self._ledger.items[position].name, amount, before, after)

    def _check_goal(self, expected: GoalReachedExpectationEntry) -> Violation[Amount] | None:
        # A goal that was added later may have the same name as that of a stored expectation.
        index = self._find_goals(expected.goal)[0]
        goal = self._schedule.goals[index]
        count, savings = goal.contributions.count_until(expected.by), goal.savings
        if savings.sums[count] >= savings.target:
            return None
        actual = savings.progress(count).current_amount
        message = (
            f'Goal "{goal.name}" has {_text(actual)} of {_text(goal.target_amount)} at {timestamps.write(expected.by)}.'
        )
        ids = [self._schedule.contribution_id(index, item.number) for item in goal.contributions.all[:count]]
        return Violation(expected.by, message, actual, ids)

    def _check_total(self, expected: TotalExpectationEntry[Amount]) -> Violation[Amount] | None:
        category = None if expected.category is UNSET else expected.category
        series = self._totals.series(expected.type, expected.currency, category)
        found: list[tuple[TotalViolation, str]] = []
        if expected.at_most is not UNSET:
            limit = floor(to_fraction(expected.at_most) * series.unit)
            above = first_above(series, expected.per, self.until, limit)
            if above is not None:
                found.append((above, bounds_text(expected.currency, at_most=expected.at_most)))
        if expected.at_least is not UNSET:
            minimum = ceil(to_fraction(expected.at_least) * series.unit)
            below = first_below(series, expected.per, self._start, self.until, minimum)
            if below is not None:
                found.append((below, bounds_text(expected.currency, expected.at_least)))
        if not found:
            return None
        violation, bound = min(found)
        before_period = series.sums[violation.first]

        def number(end: int) -> Amount:
            return to_number(series.sums[end] - before_period, series.unit)

        at, index = violation.at, violation.cause
        actual, cause, worst = number(violation.end), None, WorstValue(at, number(violation.end))
        if index is not None:
            amount = to_number(series.sums[index + 1] - series.sums[index], series.unit)
            cause = self._cause(series.positions[index], at, amount, number(index), number(index + 1))
            worst = WorstValue(series.instants[violation.last_end - 1], number(violation.last_end))
        of_category = "" if category is None else f' for "{category}"'
        what = f"{_NOUNS[expected.type]}{of_category} {bound} {violation.period}"
        ids = self._ledger.item_ids(series.positions[violation.first : violation.end])
        return Violation(at, total_message(what, actual, cause, worst), actual, ids, cause, violation.until, worst)

    def _check_posted(self, expected: PostedExpectationEntry) -> Violation[Amount] | None:
        ledger = self._ledger
        positions = ledger.positions_by_name.get(expected.name, ())
        count = bisect_left(positions, self._schedule.transactions.count_until(expected.by))
        needed = expected.count or 1
        if count >= needed:
            return None
        named = f'Transactions named "{expected.name}" at {timestamps.write(expected.by)}'
        hint = "" if positions else self._closest(expected.name, ledger.positions_by_name)
        message = f"{named}: {count}, below {needed}{hint or '.'}"
        return Violation(expected.by, message, count, ledger.item_ids(positions[:count]))


def _text(amount: Amount) -> str:
    return json.encode(int_if_whole(amount)).decode()
