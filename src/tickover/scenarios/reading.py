"""Scenarios from the tables of a file, with all their rules; what is wrong is refused in words that help."""

from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Final

from tickover.scenarios import phrases
from tickover.scenarios.locations import CONTRIBUTIONS, GOALS, TRANSACTIONS, Place, shown
from tickover.scenarios.scenario import ContributionItem, GoalItem, Scenario, TransactionItem
from tickover.scenarios.tables import Table
from tickover.scenarios.timings import Listed, Recurring, Timing, read_day, read_point, read_time
from tickover.scenarios.values import (
    read_about,
    read_amount,
    read_category,
    read_currency,
    read_initial,
    read_length,
    read_name,
    read_times,
    read_type,
)
from tickover.spans import Duration

_TIMING_KEYS: Final = ("every", "from", "until", "times", "at", "time")
_SCENARIO_KEYS: Final = ("title", "about", "currency", "start", "length", "transactions", "goals")
_TRANSACTION_KEYS: Final = ("name", "amount", "type", "currency", "category", *_TIMING_KEYS)
_GOAL_KEYS: Final = ("name", "target", "initial", "contributions")
_CONTRIBUTION_KEYS: Final = ("amount", *_TIMING_KEYS)

_USUAL_LENGTH: Final = Duration(months=6)
_USUAL_TIME: Final = time(8)


def read_scenario(values: object, source: str, title: str) -> Scenario:
    """Read a whole scenario; `source` names it in errors, and `title` is for one that has none."""
    place = Place(source)
    table = Table(values, place, _SCENARIO_KEYS)
    currency = table.optional("currency", read_currency)
    scenario = Scenario(
        place=place,
        title=table.optional("title", read_name) or title,
        about=table.optional("about", read_about) or "",
        start=table.optional("start", _read_start),
        length=table.optional("length", read_length) or _USUAL_LENGTH,
        transactions=tuple(_read_transaction(*item, currency) for item in table.items(TRANSACTIONS)),
        goals=tuple(_read_goal(*item) for item in table.items(GOALS)),
    )
    if not scenario.transactions and not scenario.goals:
        raise place.error("it has neither transactions nor goals; give it some")
    if scenario.start is not None:
        scenario.window()
    return scenario


def _read_start(value: object) -> datetime:
    day = read_day(value)
    return day if isinstance(day, datetime) else datetime.combine(day, time(), UTC)


def _read_transaction(value: object, place: Place, usual_currency: str | None) -> TransactionItem:
    table = Table(value, place, _TRANSACTION_KEYS)
    name, type = table.required("name", read_name), table.required("type", read_type)
    currency = table.optional("currency", read_currency) or usual_currency
    if currency is None:
        raise place.error('currency is missing, and the scenario has none for all; give either, such as "EUR"')
    amounts, timing = _read_money(table)
    category = table.optional("category", read_category)
    return TransactionItem(
        place=place, name=name, type=type, currency=currency, category=category, amounts=amounts, timing=timing
    )


def _read_goal(value: object, place: Place) -> GoalItem:
    table = Table(value, place, _GOAL_KEYS)
    name, target = table.required("name", read_name), table.required("target", read_amount)
    initial = table.optional("initial", read_initial) or Decimal(0)
    if initial > target:
        raise place.error(f"initial must be at most the target, {shown(target)}, not {shown(initial)}")
    return GoalItem(
        place=place,
        name=name,
        target=target,
        initial=initial,
        contributions=tuple(_read_contribution(*item) for item in table.items(CONTRIBUTIONS)),
    )


def _read_contribution(value: object, place: Place) -> ContributionItem:
    amounts, timing = _read_money(Table(value, place, _CONTRIBUTION_KEYS))
    return ContributionItem(place=place, amounts=amounts, timing=timing)


def _read_money(table: Table) -> tuple[tuple[Decimal, ...], Timing]:
    """Amounts and when they are due: one amount for all instants, or a list with one for each of a list."""
    amounts, timing = table.several("amount", read_amount), _read_timing(table)
    if not table.has_list("amount"):
        return amounts, timing
    if not isinstance(timing, Listed):
        raise table.place.error("amount must be one number, not a list, because a list goes with a list in at")
    if len(amounts) != len(timing.points):
        counts = f"{len(timing.points):,} in at, not {len(amounts):,}"
        raise table.place.error(f"amount must have as many entries as there are instants, {counts}")
    return amounts, timing


def _read_timing(table: Table) -> Timing:
    time_of_day = table.optional("time", read_time) or _USUAL_TIME
    if ("every" in table) == ("at" in table):
        raise table.place.error('it must have either every, such as "month on the 25th", or at, such as "+10 days"')
    if "every" in table:
        return Recurring(
            recurrence=table.required("every", phrases.parse),
            time_of_day=time_of_day,
            since=table.optional("from", read_point),
            until=table.optional("until", read_point),
            times=table.optional("times", read_times),
        )
    for key in ("from", "until", "times"):
        if key in table:
            raise table.place.error(f"{key} goes with every, and not with at; leave it out")
    return Listed(table.several("at", read_point), time_of_day)
