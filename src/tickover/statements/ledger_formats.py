"""Statements as journals of hledger and Beancount: plain-text double-entry bookkeeping."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Final

from tickover.api import timestamps
from tickover.statements.statement import Entry, Statement, plain_number

_NOT_IN_HLEDGER_ACCOUNTS: Final = re.compile(r"[;:()\[\]{}=@|*!<>~\"]")
_NOT_IN_BEANCOUNT_ACCOUNTS: Final = re.compile(r"[^A-Za-z0-9]+")


def write_hledger(statements: Sequence[Statement]) -> str:
    """Return a journal for hledger. Its balance assertions check the closing balances."""
    return "\n".join(["decimal-mark .", "", *(line for one in statements for line in _hledger_lines(one))]) + "\n"


def _hledger_lines(statement: Statement) -> Iterator[str]:
    account, currency = f"Assets:Tickover:{statement.currency}", statement.currency
    yield f"; {statement.clock_id}, {currency}"
    if statement.opening:
        yield f"{statement.start:%Y-%m-%d} * Opening balance"
        yield f"    {account}  {currency} {plain_number(statement.opening)}"
        yield "    Equity:Opening balances"
        yield ""
    for entry in statement.entries:
        status = "!" if entry.pending else "*"
        description = entry.name.replace(";", ",")
        yield f"{entry.at:%Y-%m-%d} {status} ({entry.id}) {description}  ; at: {timestamps.write(entry.at)}"
        yield f"    {account}  {currency} {plain_number(entry.amount)}"
        yield f"    {_hledger_account(entry)}"
        yield ""
    yield f"{statement.end:%Y-%m-%d} * Closing balance"
    yield f"    {account}  {currency} 0 = {currency} {plain_number(statement.closing)}"
    yield ""


def _kind(entry: Entry) -> str:
    return "Income" if entry.amount > 0 else "Expenses"


def _hledger_account(entry: Entry) -> str:
    category = " ".join(_NOT_IN_HLEDGER_ACCOUNTS.sub(" ", entry.category).split())
    return f"{_kind(entry)}:{category or 'Other'}"


def write_beancount(statements: Sequence[Statement]) -> str:
    """Return a file for Beancount. Its balance directives check the closing balances."""
    lines = ['option "title" "Tickover"', ""]
    opened: dict[str, date] = {}
    for statement in statements:
        for account in [_asset(statement), "Equity:Opening-Balances", *map(_beancount_account, statement.entries)]:
            opened[account] = min(opened.get(account, date.max), statement.start.date())
    lines += [f"{day} open {account}" for account, day in sorted(opened.items())]
    for statement in statements:
        lines += ["", *_beancount_lines(statement)]
    return "\n".join(lines) + "\n"


def _asset(statement: Statement) -> str:
    return f"Assets:Tickover:{statement.currency}"


def _beancount_lines(statement: Statement) -> Iterator[str]:
    account, currency = _asset(statement), statement.currency
    if statement.opening:
        yield f'{statement.start:%Y-%m-%d} * "Opening balance"'
        yield f"  {account}  {plain_number(statement.opening)} {currency}"
        yield "  Equity:Opening-Balances"
        yield ""
    for entry in statement.entries:
        yield f'{entry.at:%Y-%m-%d} {"!" if entry.pending else "*"} "{_escape(entry.name)}"'
        yield f'  id: "{_escape(entry.id)}"'
        yield f'  at: "{timestamps.write(entry.at)}"'
        if entry.category:
            yield f'  category: "{_escape(entry.category)}"'
        yield f"  {account}  {plain_number(entry.amount)} {currency}"
        yield f"  {_beancount_account(entry)}"
        yield ""
    # A balance directive applies to the beginning of its day.
    day = statement.end.date() + timedelta(days=1)
    yield f"{day} balance {account}  {plain_number(statement.closing)} {currency}"


def _beancount_account(entry: Entry) -> str:
    """Return an account. Its name has ASCII letters, digits and hyphens only."""
    name = _NOT_IN_BEANCOUNT_ACCOUNTS.sub("-", entry.category).strip("-")
    return f"{_kind(entry)}:{name[:1].upper()}{name[1:]}" if name else f"{_kind(entry)}:Other"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
