"""Builds a Scenario from the parsed tables of a file, and checks the rules that concern several tables."""

from collections.abc import Collection, Mapping
from datetime import datetime, time
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from tickover.api.suggestions import suggest
from tickover.scenarios.item_tables import Account, Expect, Transaction, Transfer
from tickover.scenarios.scenario import Scenario
from tickover.scenarios.scenario_errors import Mistakes, quote
from tickover.scenarios.timings import LocalTime
from tickover.scenarios.toml_tables import Source, Table, TableValues, read_table


def parse_scenario(values: Mapping[str, Any], name: str, text: str, title: str) -> Scenario:
    """Build a scenario. `title` is the default title."""
    mistakes = Mistakes()
    table = Table(Source(name, text, mistakes), values)
    scenario = read_table(Scenario, table)
    mistakes.raise_all()
    currencies = {account.key: account.currency for account in scenario.accounts}
    scenario = replace(
        scenario,
        title=scenario.title or title,
        transactions=tuple(_with_currency(item, currencies) for item in scenario.transactions),
    )
    if not (scenario.transactions or scenario.transfers or scenario.goals):
        raise table.error("the scenario is empty; add transactions or goals")
    if scenario.start is not None:
        if not isinstance(scenario.start, datetime):
            with table.wrap_errors():
                scenario = replace(scenario, start=LocalTime(time(), scenario.timezone).on(scenario.start))
        scenario.window()
    # Each of these needs what the ones before it check.
    _check_currencies(scenario)
    mistakes.raise_all()
    _check_accounts(scenario, currencies)
    mistakes.raise_all()
    _check_expectations(scenario, currencies)
    mistakes.raise_all()
    return scenario


def _with_currency(item: Transaction, currencies: Mapping[str, str]) -> Transaction:
    """Return the transaction with the currency of its account, unless it has its own."""
    if "currency" in item.table:
        return item
    return replace(item, currency=currencies.get(item.account or "", item.currency))


def _check_currencies(scenario: Scenario) -> None:
    """Report items without a currency."""
    items: list[Account | Transaction | Expect] = [*scenario.accounts, *scenario.transactions]
    items += [one for one in scenario.expect if one.needs_currency]
    for item in items:
        if not item.currency:
            item.table.report('currency is missing; set it here or for the whole scenario, for example "EUR"')


def _check_accounts(scenario: Scenario, currencies: Mapping[str, str]) -> None:
    for index, account in enumerate(scenario.accounts):
        if account.key in [other.key for other in scenario.accounts[:index]]:
            account.table.report(f"another account has the key {quote(account.key)}", "key")
    for item in scenario.transactions:
        _check_account(item, currencies)
    for transfer in scenario.transfers:
        _check_transfer(transfer, currencies)


def _check_account(item: Transaction, currencies: Mapping[str, str]) -> None:
    """Report an account that the file doesn't have, or that has another currency."""
    if item.account:
        if _has_account(item, "account", item.account, currencies) and currencies[item.account] != item.currency:
            problem = f"the account {quote(item.account)} is in {currencies[item.account]}, not in {item.currency}"
            item.table.report(problem, "account")
    elif currencies and item.currency not in currencies.values():
        problem = f"no account is in {item.currency}; add one, or use the currency of an account"
        item.table.report(problem, "currency")


def _is_known(item: TableValues, key: str, name: str, known: Collection[str], problem: str, fallback: str = "") -> bool:
    """Return whether the file has a name, and report if it doesn't."""
    if name not in known:
        hint = suggest(name, known, '"{}"', fallback=fallback)
        item.table.report(f"{problem} {quote(name)}{hint}", key)
    return name in known


def _has_account(item: TableValues, key: str, account: str, known: Collection[str]) -> bool:
    return _is_known(item, key, account, known, "no account has the key", "" if known else "add it to accounts")


def _check_transfer(item: Transfer, currencies: Mapping[str, str]) -> None:
    has_source = _has_account(item, "from_account", item.from_account, currencies)
    if not _has_account(item, "to_account", item.to_account, currencies) or not has_source:
        return
    leaves, arrives = currencies[item.from_account], currencies[item.to_account]
    if item.from_account == item.to_account:
        item.table.report("to_account must be another account than from_account", "to_account")
    elif leaves != arrives and not item.received:
        item.table.report(f"received is missing; it is the amount that arrives in {arrives}")
    elif leaves == arrives and item.received:
        item.table.report("received is only for accounts with different currencies; remove it", "received")


def _check_expectations(scenario: Scenario, accounts: Mapping[str, str]) -> None:
    """Report expectations about names that the file doesn't have."""
    items = scenario.transactions
    goals = [goal.name for goal in scenario.goals]
    currencies = {*scenario.opening, *accounts.values(), *(item.currency for item in items)}
    categories = [(type, item.currency, item.category) for item in items for type in item.types]
    for one in scenario.expect:
        if one.goal_reached is not None:
            _is_known(one, "goal_reached", one.goal_reached, goals, "no goal is named")
            if goals.count(one.goal_reached) > 1:
                one.table.report(f"several goals are named {quote(one.goal_reached)}; rename one")
        elif one.posted is not None:
            _is_known(one, "posted", one.posted, [item.name for item in items], "no transaction is named")
        elif one.account:
            _has_account(one, "account", one.account, accounts)
        elif one.currency not in currencies:
            hint = suggest(one.currency, currencies)
            problem = f"no transaction, account or opening balance is in {one.currency}{hint}"
            one.table.report(problem, "currency")
        elif one.total is not None and one.category is not UNSET:
            kind = [one.total, one.currency]
            names = [name for *key, name in categories if key == kind and name is not UNSET]
            problem = f"no {one.total.lower()} in {one.currency} has the category"
            _is_known(one, "category", one.category, names, problem)
