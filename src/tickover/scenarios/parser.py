"""Builds a Scenario from the parsed tables of a file, and checks all its rules."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, time
from decimal import Decimal
from typing import Final, TypeVar

from tickover.api.durations import Duration
from tickover.api.limits import MAX_OPENING_BALANCES
from tickover.scenarios import readers
from tickover.scenarios.account_parser import Accounts, parse_accounts, parse_transfer
from tickover.scenarios.errors import Location, Source, quote
from tickover.scenarios.expectation_parser import KnownNames, parse_expectation
from tickover.scenarios.item_parser import (
    DEFAULT_KEYS,
    ITEM_KEYS,
    Defaults,
    parse_currency,
    parse_defaults,
    parse_payments,
)
from tickover.scenarios.limits import CLOCK, EXPECTATIONS, Limit
from tickover.scenarios.scenario import GoalItem, Scenario, TransactionItem
from tickover.scenarios.tables import Table
from tickover.scenarios.timings import LocalTime

T = TypeVar("T")

SCENARIO_KEYS: Final = (
    "title", "about", "currency", "start", "length", "opening", *DEFAULT_KEYS,
    "accounts", "transactions", "transfers", "goals", "expect",
)  # fmt: skip
_AUTHORIZED_KEYS: Final = ("authorized_amount", "authorized_name")
TRANSACTION_KEYS: Final = (
    "name", "type", "currency", "category", "account", *ITEM_KEYS, "reversed_after", "pending", *_AUTHORIZED_KEYS,
)  # fmt: skip
GOAL_KEYS: Final = ("name", "target", "initial", "contributions")
CONTRIBUTION_KEYS: Final = ITEM_KEYS

_ANY_CURRENCY: Final = "XXX"
"""Replaces an invalid currency of the file, so that its items don't report it again."""
_DEFAULT_LENGTH: Final = Duration(months=6)


def parse_scenario(values: object, source: Source, title: str) -> Scenario:
    """Build a scenario. `title` is the default title."""
    location = Location(source)
    table = Table(values, location, SCENARIO_KEYS)
    currency = table.optional("currency", readers.CURRENCY) or (_ANY_CURRENCY if "currency" in table else None)
    defaults = parse_defaults(table)
    accounts = parse_accounts(table, currency)
    transactions = _parse_each(table, CLOCK.transactions, _parse_transaction, currency, defaults, accounts)
    transfers = _parse_each(table, CLOCK.transfers, parse_transfer, defaults, accounts)
    goals = _parse_each(table, CLOCK.goals, _parse_goal, defaults)
    opening: dict[str, Decimal] = {}
    if "opening" in table:
        with table.mistakes.collect():
            opening = _parse_opening(table.get("opening"), location)
        if "accounts" in table:
            table.report("opening can't be used with accounts; set the opening_balance of each account", "opening")
    # An invalid item may have the name that an expectation is about.
    known = None if table.mistakes else _known_names(transactions, goals, opening, accounts)
    expectations = _parse_each(table, EXPECTATIONS, parse_expectation, currency, known, defaults, key="expect")
    start = None
    with table.mistakes.collect():
        start = _parse_start(table, defaults)
    scenario = Scenario(
        location=location,
        title=table.optional("title", readers.NAME) or title,
        about=table.optional("about", readers.ABOUT) or "",
        start=start,
        length=table.optional("length", readers.LENGTH) or _DEFAULT_LENGTH,
        opening=opening,
        transactions=tuple(transactions),
        goals=tuple(goals),
        transfers=tuple(transfers),
        accounts=accounts.items,
        expectations=tuple(expectations),
    )
    table.mistakes.raise_all()
    if not (scenario.transactions or scenario.transfers or scenario.goals):
        raise location.error("the scenario is empty; add transactions or goals")
    if scenario.start is not None:
        scenario.window()
    return scenario


def _parse_each(table: Table, limit: Limit, parse: Callable[..., T], *arguments: object, key: str = "") -> list[T]:
    """Return the parsed entries of a list of the file, and collect the mistakes of each."""
    parsed = []
    for item in table.items(limit, key):
        with table.mistakes.collect():
            parsed.append(parse(*item, *arguments))
    return parsed


def _known_names(
    transactions: Sequence[TransactionItem],
    goals: Sequence[GoalItem],
    opening: Mapping[str, Decimal],
    accounts: Accounts,
) -> KnownNames:
    return KnownNames(
        transactions=[item.name for item in transactions],
        goals=[item.name for item in goals],
        currencies={*opening, *accounts.currency_of.values(), *(item.currency for item in transactions)},
        accounts=list(accounts.currency_of),
        categories={(type, item.currency, item.category) for item in transactions for type in item.types},
    )


def _parse_start(table: Table, defaults: Defaults) -> datetime | None:
    start = table.optional("start", readers.START)
    if start is None or isinstance(start, datetime):
        return start
    with table.location.wrap_errors():
        return LocalTime(time(), defaults.zone).on(start)


def _parse_opening(values: object, location: Location) -> dict[str, Decimal]:
    """Parse a table with the balance of each currency."""
    if not isinstance(values, dict):
        raise location.error(f"opening must be a table such as {{EUR = 1200}}, not {quote(values)}", "opening")
    if len(values) > MAX_OPENING_BALANCES:
        problem = f"opening must have at most {MAX_OPENING_BALANCES} currencies, not {len(values):,}"
        raise location.error(problem, "opening")
    for currency in values:
        try:
            readers.CURRENCY.read(currency)
        except ValueError as error:
            raise location.error(f"the key {quote(currency)} of opening {error}", "opening") from None
    table = Table(values, location.within("opening"), None)
    opening = {currency: table.required(currency, readers.BALANCE) for currency in values}
    table.mistakes.raise_all()
    return opening


def _parse_transaction(
    value: object, location: Location, default_currency: str | None, defaults: Defaults, accounts: Accounts
) -> TransactionItem:
    table = Table(value, location, TRANSACTION_KEYS)
    name, type = table.required("name", readers.NAME), table.required("type", readers.TYPE)
    account = table.optional("account", readers.ACCOUNT_KEY)
    currency = parse_currency(table, accounts.currency_of.get(account or "", default_currency))
    accounts.check_transaction(table, account, currency)
    category = table.optional("category", readers.CATEGORY)
    authorized_amount = table.optional("authorized_amount", readers.AMOUNT)
    authorized_name = table.optional("authorized_name", readers.NAME)
    if "pending" not in table:
        for key in _AUTHORIZED_KEYS:
            if key in table:
                table.report(f'{key} requires pending, for example "2 days"', key)
    payments = parse_payments(table, name, defaults)
    return TransactionItem(
        name=name, type=type, currency=currency, category=category, account=account, payments=payments,
        authorized_amount=authorized_amount, authorized_name=authorized_name,
    )  # fmt: skip


def _parse_goal(value: object, location: Location, defaults: Defaults) -> GoalItem:
    table = Table(value, location, GOAL_KEYS)
    name, target = table.required("name", readers.NAME), table.required("target", readers.AMOUNT)
    initial = table.optional("initial", readers.INITIAL_AMOUNT) or Decimal(0)
    if not table.mistakes and initial > target:
        table.report(f"initial must be at most the target of {quote(target)}, not {quote(initial)}", "initial")
    contributions = []
    for entry, where in table.items(CLOCK.contributions):
        with table.mistakes.collect():
            contributions.append(parse_payments(Table(entry, where, CONTRIBUTION_KEYS), name, defaults))
    table.mistakes.raise_all()
    return GoalItem(location=location, name=name, target=target, initial=initial, contributions=tuple(contributions))
