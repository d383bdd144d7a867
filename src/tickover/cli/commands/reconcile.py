"""The command `tickover clock reconcile`."""

from datetime import datetime
from decimal import Decimal
from typing import Any, Final, TextIO

import click

from tickover.api.limits import MAX_TOLERANCE_DAYS
from tickover.cli import formatting
from tickover.cli.errors import CliError, Exit
from tickover.cli.fault_names import name_inputs
from tickover.cli.options import parse_amount, parse_time, shared_options
from tickover.cli.select_clock import remember_clock, resolve_clock_id
from tickover.cli.session import Session, pass_session

_INPUTS: Final = {"observed.transactions": "FILE", "observed.balance": "--balance", "toleranceDays": "--tolerance-days"}


@click.command()
@click.argument("file", type=click.File(encoding="utf-8-sig"))
@click.option("--clock", "id", metavar="ID", help="The clock. [default: the one used last]")
@click.option("--account", metavar="KEY", help="The account that the file is about.")
@click.option("--currency", metavar="CODE", help="The currency that the file is about, if the clock has several.")
@click.option("--balance", type=parse_amount, metavar="AMOUNT", help="The balance that the app shows.")
@click.option("--at", type=parse_time, metavar="TIME", help="Compare until this time. [default: the clock's time]")
@click.option(
    "--tolerance-days",
    type=click.IntRange(0, MAX_TOLERANCE_DAYS),
    default=0,
    metavar="N",
    help="How many days a row without a known ID may be early or late.",
)
@shared_options
@pass_session
def reconcile(
    session: Session, /, file: TextIO, id: str | None, balance: Decimal | None, at: datetime | None, **options: Any
) -> None:
    """Compare the transactions that an app recorded with those of a clock.

    FILE is CSV with the columns at or date, amount, and optionally name and id. An amount is negative if money went
    out. If something differs, the command shows where, and exits with 9.

    Examples:

    \b
    tickover clock reconcile books.csv
    tickover clock reconcile books.csv --account checking --balance 1650.40
    sqlite3 -csv -header app.db 'SELECT date, amount FROM payments' | tickover clock reconcile -
    """
    from tickover.client.books import read_books
    from tickover.client.timeline import accounts_hint, format_differences

    try:
        rows = read_books(file)
    except ValueError as error:
        raise CliError(Exit.WRONG_COMMAND, f"{file.name}: {formatting.sentence(error)}") from None
    name_inputs(_INPUTS | {f"observed.transactions[{index}]": f"row {index + 1}" for index in range(len(rows))})
    with session.signed_in_client() as client:
        clock = client.get_clock(resolve_clock_id(session, client, id))
        hint = accounts_hint(clock.snapshot, options["account"] or options["currency"], "--account")
        try:
            with session.translate_errors():
                result = client.reconcile_clock(clock.id, rows, balance=balance, at=at, **options)
        except CliError as error:
            if any((fault.path, fault.rule) == ("currency", "required") for fault in error.faults):
                error.hint = hint
            raise
        remember_clock(session, clock.id)
    if result.ok:
        session.output.write(result, f"The books are complete. {formatting.count(len(rows), 'row')} compared.")
        return
    time = clock.frozen_time if at is None else at
    text = format_differences(clock.snapshot, result, time, options["account"], options["currency"])
    session.output.write(result, *text.splitlines())
    raise CliError(Exit.VIOLATED, "The books differ from those of the bank.", hint)
