"""Loads payments from a bank statement or from a clock."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import click

from tickover.api.limits import MAX_CLOCK_TRANSACTIONS
from tickover.api.plans import OPENING_BALANCE
from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.errors import CliError, Exit
from tickover.cli.select_clock import resolve_clock_id
from tickover.cli.session import Session
from tickover.scenarios.statements import build_statements
from tickover.scenarios.statements.read import COLUMNS, MAX_STATEMENT_BYTES, StatementError, read_statement
from tickover.scenarios.statements.statement import Payment

_PREVIEWED = 10


def parse_columns(text: str | None) -> dict[str, str]:
    """Parse `date=Datum,amount=Betrag`."""
    columns = dict(part.partition("=")[::2] for part in text.split(",")) if text else {}
    for key, header in columns.items():
        if key not in COLUMNS or not header:
            raise click.UsageError(
                f"'{text}' isn't a list of columns. Use {'=HEADER,'.join(COLUMNS)}=HEADER.", click.get_current_context()
            )
    return columns


def load_payments(
    session: Session, source: str, columns: dict[str, str], currency: str, is_day_first: bool | None
) -> Sequence[Payment]:
    """Return the payments of a file, or of a clock if no file has this name."""
    path = Path(source)
    if source.startswith("clock_") and not path.exists():
        return _load_clock(session, source)
    try:
        if not path.is_file():
            raise CliError(Exit.WRONG_COMMAND, f"No file is named '{sanitize(source)}'.")
        with path.open("rb") as file:
            return read_statement(file.read(MAX_STATEMENT_BYTES + 1), path.name, columns, currency, is_day_first)
    except OSError as error:
        raise CliError(Exit.WRONG_COMMAND, f"Can't read {path.name}: {error.strerror}.") from None
    except StatementError as error:
        raise CliError(Exit.WRONG_COMMAND, f"{error}.") from None


def _load_clock(session: Session, id: str) -> Sequence[Payment]:
    with session.signed_in_client() as client:
        clock = client.get_clock(resolve_clock_id(session, client, id))
    statements = build_statements(clock.snapshot, {}, pending=True)
    payments = [entry for statement in statements for entry in statement.entries]
    if not payments:
        raise CliError(Exit.WRONG_COMMAND, "The clock has no transactions.")
    return sorted(payments, key=lambda payment: payment.day)


def trim_payments(payments: Sequence[Payment], start: datetime | None) -> list[Payment]:
    """Return the payments on or after the day of `start`. Opening balances include the earlier ones."""
    if start is None:
        return list(payments)
    first = start.date()
    kept = [one for one in payments if one.day >= first]
    if not kept:
        raise CliError(Exit.WRONG_COMMAND, f"All payments are before --from. The last one is on {payments[-1].day}.")
    earlier = [one for one in payments if one.day < first]
    opened = dict.fromkeys(one.currency for one in earlier if one.name == OPENING_BALANCE)
    sums = {currency: sum(one.amount for one in earlier if one.currency == currency) for currency in opened}
    opening = [
        Payment(first, OPENING_BALANCE, Decimal(amount), currency, OPENING_BALANCE)
        for currency, amount in sums.items()
        if amount
    ]
    return [*opening, *kept]


def limit_hint(payments: Sequence[Payment]) -> str:
    """Return how to trim payments that don't fit into one clock, or an empty string."""
    if len(payments) <= MAX_CLOCK_TRANSACTIONS:
        return ""
    # A day is kept or ignored as a whole.
    last_ignored = payments[-MAX_CLOCK_TRANSACTIONS - 1].day
    first = next((one.day for one in payments if one.day > last_ignored), last_ignored)
    return f" A clock holds {MAX_CLOCK_TRANSACTIONS:,}. Ignore the earlier ones with --from {first}."


def format_payments(payments: Sequence[Payment]) -> Iterator[str]:
    """Yield the first payments as lines, and how many there are."""
    for one in payments[:_PREVIEWED]:
        yield f"  {one.day}  {formatting.signed_amount(one.amount)} {one.currency}  {one.name}"
    if len(payments) > _PREVIEWED:
        yield f"  … and {len(payments) - _PREVIEWED:,} more, the last on {payments[-1].day}"
