"""Builds a Scenario from the parsed tables of a file, and checks the rules that concern several tables."""

from collections.abc import Collection, Mapping
from datetime import datetime, time
from typing import Any

from msgspec.structs import replace

from tickover.api.limits import MAX_OPENING_BALANCES
from tickover.api.suggestions import suggest
from tickover.scenarios.errors import Mistakes, quote
from tickover.scenarios.items import Account, Expect, Transaction, Transfer
from tickover.scenarios.scenario import Scenario
from tickover.scenarios.tables import Source, Table, read_table
from tickover.scenarios.timings import LocalTime


def parse_scenario(values: Mapping[str, Any], name: str, text: str, title: str) -> Scenario:
    """Build a scenario. `title` is the default title."""
    mistakes = Mistakes()
    table = Table(Source(name, text, mistakes), values)
    scenario = read_table(Scenario, table)
    currencies = {account.key: account.currency for account in scenario.accounts}
    scenario = replace(
        scenario,
        title=scenario.title or title,
        transactions=tuple(_with_currency(item, currencies) for item in scenario.transactions),
    )
    if scenario.start is not None and not isinstance(scenario.start, datetime):
        with mistakes.collect(), table.wrap_errors():
            scenario = replace(scenario, start=LocalTime(time(), scenario.timezone).on(scenario.start))
    _check_opening(scenario)
    _check_currencies(scenario)
    declared = values.get("accounts", [])
    if isinstance(declared, list) and len(scenario.accounts) == len(declared):
        _check_accounts(scenario, currencies)
    if not mistakes:
        # An invalid item may have the name that an expectation is about.
        _check_expectations(scenario)
    mistakes.raise_all()
    if not (scenario.transactions or scenario.transfers or scenario.goals):
        raise table.error("the scenario is empty; add transactions or goals")
    if scenario.start is not None:
        scenario.window()
    return scenario


def _with_currency(item: Transaction, currencies: Mapping[str, str]) -> Transaction:
    """Return the transaction with the currency of its account, unless it has its own."""
    if "currency" in item.table:
        return item
    return replace(item, currency=currencies.get(item.account or "", item.currency))


def _check_opening(scenario: Scenario) -> None:
    table = scenario.table
    if len(scenario.opening) > MAX_OPENING_BALANCES:
        problem = f"opening must have at most {MAX_OPENING_BALANCES} currencies, not {len(scenario.opening):,}"
        table.report(problem, "opening")
    if "opening" in table and "accounts" in table:
        table.report("opening can't be used with accounts; set the opening_balance of each account", "opening")


def _check_currencies(scenario: Scenario) -> None:
    """Report items without a currency. An invalid one is reported already."""
    items: list[Account | Transaction | Expect] = [*scenario.accounts, *scenario.transactions]
    items += [one for one in scenario.expect if one.needs_currency]
    for item in items:
        is_declared = "currency" in item.table or "currency" in scenario.table
        if not item.currency and not is_declared and not item.table.has_unknown_keys:
            item.table.report('currency is missing; set it here or for the whole scenario, for example "EUR"')


def _check_accounts(scenario: Scenario, currencies: Mapping[str, str]) -> None:
    for index, account in enumerate(scenario.accounts):
        if account.key in [other.key for other in scenario.accounts[:index]]:
            account.table.report(f"another account has the key {quote(account.key)}", "key")
    if not all(account.table.is_valid for account in scenario.accounts):
        return
    for item in scenario.transactions:
        if item.table.is_valid:
            _check_account(item, currencies)
    for transfer in scenario.transfers:
        if transfer.table.is_valid:
            _check_transfer(transfer, currencies)


def _check_account(item: Transaction, currencies: Mapping[str, str]) -> None:
    """Report an account that the file doesn't have, or that has another currency."""
    if item.account is not None:
        if _has_key(item, "account", item.account, currencies) and currencies[item.account] != item.currency:
            problem = f"the account {quote(item.account)} is in {currencies[item.account]}, not in {item.currency}"
            item.table.report(problem, "account")
    elif currencies and item.currency and item.currency not in currencies.values():
        problem = f"no account is in {item.currency}; add one, or use the currency of an account"
        item.table.report(problem, "currency")


def _has_key(item: Transaction | Transfer | Expect, member: str, key: str, currencies: Mapping[str, str]) -> bool:
    """Return whether the file has an account with this key, and report if it doesn't."""
    if key not in currencies:
        hint = suggest(key, currencies, '"{}"', fallback="" if currencies else "add it to accounts")
        item.table.report(f"no account has the key {quote(key)}{hint}", member)
    return key in currencies


def _check_transfer(item: Transfer, currencies: Mapping[str, str]) -> None:
    has_source = _has_key(item, "from_account", item.from_account, currencies)
    if not _has_key(item, "to_account", item.to_account, currencies) or not has_source:
        return
    leaves, arrives = currencies[item.from_account], currencies[item.to_account]
    if item.from_account == item.to_account:
        item.table.report("to_account must be another account than from_account", "to_account")
    elif leaves != arrives and not item.received:
        item.table.report(f"received is missing; it is the amount that arrives in {arrives}")
    elif leaves == arrives and item.received:
        item.table.report("received is only for accounts with different currencies; remove it", "received")


def _check_expectations(scenario: Scenario) -> None:
    """Report expectations about names that the file doesn't have."""
    items = scenario.transactions
    goals = [goal.name for goal in scenario.goals]
    accounts = {account.key: account.currency for account in scenario.accounts}
    currencies = {*scenario.opening, *accounts.values(), *(item.currency for item in items)}
    categories = {(type, item.currency, item.category) for item in items for type in item.types}
    for one in scenario.expect:
        if one.goal_reached is not None:
            _check_name(one, "goal_reached", "goal", one.goal_reached, goals)
            if goals.count(one.goal_reached) > 1:
                one.table.report(f"several goals are named {quote(one.goal_reached)}; rename one")
        elif one.posted is not None:
            _check_name(one, "posted", "transaction", one.posted, [item.name for item in items])
        elif one.account is not None:
            _has_key(one, "account", one.account, accounts)
        elif one.currency not in currencies:
            hint = suggest(one.currency, currencies)
            problem = f"no transaction, account or opening balance is in {one.currency}{hint}"
            one.table.report(problem, "currency")
        elif one.category is not None and (one.total, one.currency, one.category) not in categories:
            names = [name for *key, name in categories if key == [one.total, one.currency] and name]
            kind = f"{str(one.total).lower()} in {one.currency}"
            hint = suggest(one.category, names, '"{}"')
            one.table.report(f"no {kind} has the category {quote(one.category)}{hint}", "category")


def _check_name(one: Expect, word: str, kind: str, name: str, names: Collection[str]) -> None:
    if name not in names:
        hint = suggest(name, names, '"{}"')
        one.table.report(f"no {kind} is named {quote(name)}{hint}", word)
