"""Parses the `[[accounts]]` and `[[transfers]]` of a scenario file."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from msgspec import Struct

from tickover.api import plans
from tickover.api.plans import PlannedAccount
from tickover.api.suggestions import suggest
from tickover.scenarios import readers
from tickover.scenarios.errors import Location, quote
from tickover.scenarios.item_parser import ITEM_KEYS, Defaults, parse_currency, parse_payments
from tickover.scenarios.limits import ACCOUNTS
from tickover.scenarios.scenario import TransferItem
from tickover.scenarios.tables import Table

ACCOUNT_KEYS: Final = ("key", "name", "currency", "type", "opening_balance")
TRANSFER_KEYS: Final = ("name", "from_account", "to_account", "received", *ITEM_KEYS)


class Accounts(Struct, frozen=True):
    """The accounts of a file. If one is invalid, they accept every key."""

    items: tuple[PlannedAccount, ...]
    is_complete: bool

    @property
    def currency_of(self) -> Mapping[str, str]:
        return {account.key: account.currency for account in self.items}

    def check_transaction(self, table: Table, key: str | None, currency: str) -> None:
        """Report an account that the file doesn't have, or that has another currency."""
        currencies = self.currency_of
        if not self.is_complete or not currency:
            return
        if key is None:
            if currencies and "account" not in table and currency not in currencies.values():
                table.report(f"no account is in {currency}; add one, or use the currency of an account", "currency")
        elif self.check_key(table, "account", key) and currencies[key] != currency:
            table.report(f"the account {quote(key)} is in {currencies[key]}, not in {currency}", "account")

    def check_key(self, table: Table, member: str, key: str) -> bool:
        """Return whether the file has an account with this key, and report if it doesn't."""
        currencies = self.currency_of
        if key not in currencies:
            hint = suggest(key, currencies, '"{}"', fallback="" if currencies else "add it to accounts")
            table.report(f"no account has the key {quote(key)}{hint}", member)
        return key in currencies


def parse_accounts(table: Table, default_currency: str | None) -> Accounts:
    """Parse the accounts of a file."""
    items: list[PlannedAccount] = []
    is_complete = True
    for item in table.items(ACCOUNTS):
        before = len(items)
        with table.mistakes.collect():
            items.append(_parse_account(*item, default_currency, [account.key for account in items]))
        is_complete = is_complete and len(items) > before
    return Accounts(tuple(items), is_complete)


def _parse_account(
    value: object, location: Location, default_currency: str | None, others: list[str]
) -> PlannedAccount:
    table = Table(value, location, ACCOUNT_KEYS)
    key, name = table.required("key", readers.ACCOUNT_KEY), table.required("name", readers.NAME)
    if key in others:
        table.report(f"another account has the key {quote(key)}", "key")
    currency = parse_currency(table, default_currency)
    type = table.optional("type", readers.ACCOUNT_TYPE) or "CHECKING"
    opening = table.optional("opening_balance", readers.BALANCE) or Decimal(0)
    table.mistakes.raise_all()
    return plans.account(key, name, currency, type, opening)


def parse_transfer(value: object, location: Location, defaults: Defaults, accounts: Accounts) -> TransferItem:
    """Parse a transfer between two accounts of the file."""
    table = Table(value, location, TRANSFER_KEYS)
    name = table.required("name", readers.NAME)
    keys = {member: table.required(member, readers.ACCOUNT_KEY) for member in ("from_account", "to_account")}
    received = table.one_or_more("received", readers.AMOUNT) if "received" in table else None
    if not table.mistakes and accounts.is_complete:
        _check_accounts(table, keys, accounts)
    payments = parse_payments(table, name, defaults)
    if received is not None:
        amounts = payments.amounts
        if not isinstance(amounts, tuple) or len(received) != len(amounts):
            table.report("received must have an amount for each amount that leaves", "received")
    table.mistakes.raise_all()
    return TransferItem(
        name=name, from_=keys["from_account"], to=keys["to_account"], received=received, payments=payments
    )


def _check_accounts(table: Table, keys: Mapping[str, str], accounts: Accounts) -> None:
    known = [accounts.check_key(table, member, key) for member, key in keys.items()]
    if not all(known):
        return
    leaves, arrives = (accounts.currency_of[key] for key in keys.values())
    if keys["from_account"] == keys["to_account"]:
        table.report("to_account must be another account than from_account", "to_account")
    elif leaves != arrives and "received" not in table:
        table.report(f"received is missing; it is the amount that arrives in {arrives}")
    elif leaves == arrives and "received" in table:
        table.report("received is only for accounts with different currencies; remove it", "received")
