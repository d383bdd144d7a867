"""Account registers as journals of hledger and Beancount: plain-text double-entry bookkeeping."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Final

from tickover.api import timestamps
from tickover.scenarios.bank_files.account_register import AccountRegister, Entry, plain_number

_EQUITY: Final = "Equity:Opening-Balances"
_TRANSFERS: Final = "Equity:Transfers"
"""Both ends of a transfer go through it."""
_MAX_HLEDGER_DECIMALS: Final = 255
_NOT_IN_HLEDGER_ACCOUNTS: Final = re.compile(r"[;:()\[\]{}=@|*!<>~\"]")
_NOT_IN_BEANCOUNT_ACCOUNTS: Final = re.compile(r"[^A-Za-z0-9]+")


def write_hledger(registers: Sequence[AccountRegister]) -> str:
    """Return a journal for hledger. It declares all names, and its balance assertions check the closing balances.

    Raise ValueError for too many decimals.
    """
    accounts = {_asset(one) for one in registers} | {_EQUITY}
    accounts |= {_hledger_account(entry) for register in registers for entry in register.entries}
    lines = ["decimal-mark .", *_commodities(registers), *(f"account {name}" for name in sorted(accounts)), ""]
    return "\n".join([*lines, *(line for one in registers for line in _hledger_lines(one))]) + "\n"


def _commodities(registers: Sequence[AccountRegister]) -> Iterator[str]:
    """Return declarations of currencies. They have as many decimals as the amounts, because reports round to them."""
    decimals: dict[str, int] = {}
    for register in registers:
        amounts = [register.opening, *(entry.amount for entry in register.entries)]
        most = max(len(plain_number(amount, register.currency).partition(".")[2]) for amount in amounts)
        decimals[register.currency] = max(most, decimals.get(register.currency, 0))
    if max(decimals.values(), default=0) > _MAX_HLEDGER_DECIMALS:
        raise ValueError(f"hledger allows {_MAX_HLEDGER_DECIMALS} decimals, and an amount has more; use another format")
    yield from (f"commodity {currency} 1000.{'0' * count}" for currency, count in decimals.items())


def _hledger_lines(register: AccountRegister) -> Iterator[str]:
    account, currency = _asset(register), register.currency
    yield f"; {register.clock_id}, {register.account or currency}"
    if register.opening:
        yield f"{register.start:%Y-%m-%d} * Opening balance"
        yield f"    {account}  {currency} {plain_number(register.opening, currency)}"
        yield f"    {_EQUITY}"
        yield ""
    for entry in register.entries:
        status = "!" if entry.pending else "*"
        # A semicolon would start a comment.
        description = entry.name.replace(";", ",")
        yield f"{entry.at:%Y-%m-%d} {status} ({entry.id}) {description}  ; at: {timestamps.write(entry.at)}"
        yield f"    {account}  {currency} {plain_number(entry.amount, currency)}"
        yield f"    {_hledger_account(entry)}"
        yield ""
    yield f"{register.end:%Y-%m-%d} * Closing balance"
    yield f"    {account}  {currency} 0 = {currency} {plain_number(register.closing, currency)}"
    yield ""


def _asset(register: AccountRegister) -> str:
    return f"Assets:Tickover:{register.account.capitalize() or register.currency}"


def _other_account(entry: Entry, category: str) -> str:
    """Return the account that the money comes from or goes to."""
    if entry.is_transfer:
        return _TRANSFERS
    return f"{'Income' if entry.amount > 0 else 'Expenses'}:{category or 'Other'}"


def _hledger_account(entry: Entry) -> str:
    category = " ".join(_NOT_IN_HLEDGER_ACCOUNTS.sub(" ", entry.category).split())
    return _other_account(entry, category)


def write_beancount(registers: Sequence[AccountRegister]) -> str:
    """Return a file for Beancount. Its balance directives check the closing balances."""
    lines = ['option "title" "Tickover"', ""]
    opened: dict[str, date] = {}
    for register in registers:
        others = [_beancount_account(entry) for entry in register.entries]
        for account in [_asset(register), _EQUITY, *others]:
            opened[account] = min(opened.get(account, date.max), register.start.date())
    lines += [f"{day} open {account}" for account, day in sorted(opened.items())]
    for register in registers:
        lines += ["", *_beancount_lines(register)]
    return "\n".join(lines) + "\n"


def _beancount_lines(register: AccountRegister) -> Iterator[str]:
    account, currency = _asset(register), register.currency
    if register.opening:
        yield f'{register.start:%Y-%m-%d} * "Opening balance"'
        yield f"  {account}  {plain_number(register.opening, currency)} {currency}"
        yield f"  {_EQUITY}"
        yield ""
    for entry in register.entries:
        yield f'{entry.at:%Y-%m-%d} {"!" if entry.pending else "*"} "{_escape(entry.name)}"'
        yield f'  id: "{_escape(entry.id)}"'
        yield f'  at: "{timestamps.write(entry.at)}"'
        if entry.category:
            yield f'  category: "{_escape(entry.category)}"'
        yield f"  {account}  {plain_number(entry.amount, currency)} {currency}"
        yield f"  {_beancount_account(entry)}"
        yield ""
    # A balance directive applies to the beginning of its day.
    day = register.end.date() + timedelta(days=1)
    yield f"{day} balance {account}  {plain_number(register.closing, currency)} {currency}"


def _beancount_account(entry: Entry) -> str:
    """Return an account. Its name has ASCII letters, digits and hyphens only."""
    name = _NOT_IN_BEANCOUNT_ACCOUNTS.sub("-", entry.category).strip("-")
    return _other_account(entry, f"{name[:1].upper()}{name[1:]}")


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
