"""Builds a Scenario from the parsed tables of a file, and checks all its rules."""

from datetime import time
from decimal import Decimal
from typing import Final

from tickover.api.durations import Duration
from tickover.scenarios import readers
from tickover.scenarios.expectations import parse_expectation, parse_opening
from tickover.scenarios.locations import CONTRIBUTIONS, EXPECTATIONS, GOALS, TRANSACTIONS, Location, quote
from tickover.scenarios.scenario import ContributionItem, GoalItem, Scenario, TransactionItem
from tickover.scenarios.tables import Table
from tickover.scenarios.timings import ListedTiming, RecurringTiming, Timing

_TIMING_KEYS: Final = ("every", "from", "until", "times", "at", "time")
SCENARIO_KEYS: Final = ("title", "about", "currency", "start", "length", "opening", "transactions", "goals", "expect")
TRANSACTION_KEYS: Final = ("name", "amount", "type", "currency", "category", *_TIMING_KEYS)
GOAL_KEYS: Final = ("name", "target", "initial", "contributions")
CONTRIBUTION_KEYS: Final = ("amount", *_TIMING_KEYS)

_DEFAULT_LENGTH: Final = Duration(months=6)
_DEFAULT_TIME: Final = time(8)


def parse_scenario(values: object, source: str, title: str) -> Scenario:
    """Build a scenario. `source` is its name in errors, and `title` is the default title."""
    location = Location(source)
    table = Table(values, location, SCENARIO_KEYS)
    currency = table.optional("currency", readers.CURRENCY)
    transactions = tuple(_parse_transaction(*item, currency) for item in table.items(TRANSACTIONS))
    goals = tuple(_parse_goal(*item) for item in table.items(GOALS))
    names = [item.name for item in transactions], [item.name for item in goals]
    scenario = Scenario(
        location=location,
        title=table.optional("title", readers.NAME) or title,
        about=table.optional("about", readers.ABOUT) or "",
        start=table.optional("start", readers.START),
        length=table.optional("length", readers.LENGTH) or _DEFAULT_LENGTH,
        opening=parse_opening(table.get("opening", {}), location),
        transactions=transactions,
        goals=goals,
        expectations=tuple(
            parse_expectation(*item, currency, *names) for item in table.items(EXPECTATIONS, key="expect")
        ),
    )
    if not scenario.transactions and not scenario.goals:
        raise location.error("the scenario is empty; add transactions or goals")
    if scenario.start is not None:
        scenario.window()
    return scenario


def _parse_transaction(value: object, location: Location, default_currency: str | None) -> TransactionItem:
    table = Table(value, location, TRANSACTION_KEYS)
    name, type = table.required("name", readers.NAME), table.required("type", readers.TYPE)
    currency = table.optional("currency", readers.CURRENCY) or default_currency
    if currency is None:
        raise location.error('currency is missing; set it here or for the whole scenario, for example "EUR"')
    amounts, timing = _parse_amounts_and_timing(table)
    category = table.optional("category", readers.CATEGORY)
    return TransactionItem(
        location=location, name=name, type=type, currency=currency, category=category, amounts=amounts, timing=timing
    )


def _parse_goal(value: object, location: Location) -> GoalItem:
    table = Table(value, location, GOAL_KEYS)
    name, target = table.required("name", readers.NAME), table.required("target", readers.AMOUNT)
    initial = table.optional("initial", readers.INITIAL_AMOUNT) or Decimal(0)
    if initial > target:
        raise location.error(f"initial must be at most the target of {quote(target)}, not {quote(initial)}")
    return GoalItem(
        location=location,
        name=name,
        target=target,
        initial=initial,
        contributions=tuple(_parse_contribution(*item) for item in table.items(CONTRIBUTIONS)),
    )


def _parse_contribution(value: object, location: Location) -> ContributionItem:
    amounts, timing = _parse_amounts_and_timing(Table(value, location, CONTRIBUTION_KEYS))
    return ContributionItem(location=location, amounts=amounts, timing=timing)


def _parse_amounts_and_timing(table: Table) -> tuple[tuple[Decimal, ...], Timing]:
    """Return one amount for all instants, or one for each instant in `at`, together with the timing."""
    amounts, timing = table.one_or_more("amount", readers.AMOUNT), _parse_timing(table)
    if not table.has_list("amount"):
        return amounts, timing
    if not isinstance(timing, ListedTiming):
        raise table.location.error("amount must be one number; a list of amounts requires at")
    if len(amounts) != len(timing.points):
        raise table.location.error(
            f"amount must have as many entries as at: {len(timing.points):,}, not {len(amounts):,}"
        )
    return amounts, timing


def _parse_timing(table: Table) -> Timing:
    time_of_day = table.optional("time", readers.TIME_OF_DAY) or _DEFAULT_TIME
    if ("every" in table) == ("at" in table):
        raise table.location.error(
            'must have either every, for example "month on the 25th", or at, for example "+10 days"'
        )
    if "every" in table:
        return RecurringTiming(
            recurrence=table.required("every", readers.RECURRENCE),
            time_of_day=time_of_day,
            since=table.optional("from", readers.POINT),
            until=table.optional("until", readers.POINT),
            times=table.optional("times", readers.TIMES),
        )
    for key in ("from", "until", "times"):
        if key in table:
            raise table.location.error(f"{key} requires every and can't be used with at; remove it")
    return ListedTiming(table.one_or_more("at", readers.POINT), time_of_day)
