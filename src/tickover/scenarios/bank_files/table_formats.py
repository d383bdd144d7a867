"""Account registers as CSV and JSON."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Final

from tickover.api import timestamps
from tickover.api.plans import encode_json
from tickover.scenarios.bank_files.account_register import AccountRegister, plain_number

CSV_HEADER: Final = ("type", "id", "at", "name", "category", "amount", "currency", "balance", "pending")
_FORMULA: Final = re.compile(r"""((?:^|;)["\s]*)('*[=+@\t\r-])""")
_ESCAPED_FORMULA: Final = re.compile(r"""((?:^|;)["\s]*)'('*[=+@\t\r-])""")


def write_csv(registers: Sequence[AccountRegister]) -> str:
    """Return a row for each transaction, between rows with the opening and the closing balance of its currency."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    has_accounts = any(register.account for register in registers)
    writer.writerow((*CSV_HEADER, "account") if has_accounts else CSV_HEADER)
    for register in registers:
        writer.writerows((*row, register.account) if has_accounts else row for row in _rows(register))
    return text.getvalue()


def _rows(register: AccountRegister) -> Iterator[tuple[str, ...]]:
    currency = register.currency
    opening, closing = plain_number(register.opening, currency), plain_number(register.closing, currency)
    yield "opening", "", timestamps.write(register.start), "", "", "", currency, opening, ""
    for entry in register.entries:
        yield (
            "transfer" if entry.is_transfer else "transaction",
            entry.id,
            timestamps.write(entry.at),
            escape_formulas(entry.name),
            escape_formulas(entry.category),
            plain_number(entry.amount, currency),
            currency,
            plain_number(entry.balance, currency),
            "true" if entry.pending else "false",
        )
    yield "closing", "", timestamps.write(register.end), "", "", "", currency, closing, ""


def escape_formulas(text: str) -> str:
    """Put a quote in front of everything that a spreadsheet could run as a formula, also if `;` separates its cells."""
    return _FORMULA.sub(r"\1'\2", text)


def unescape_formulas(text: str) -> str:
    """Return the text that `escape_formulas` escaped."""
    return _ESCAPED_FORMULA.sub(r"\1\2", text)


def write_json(registers: Sequence[AccountRegister]) -> str:
    """Return the registers as JSON with the fields of AccountRegister and Entry. Amounts are numbers."""
    return encode_json({"statements": registers}).decode() + "\n"
