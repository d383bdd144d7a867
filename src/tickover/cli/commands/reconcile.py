"""The command `tickover clock reconcile`."""

from typing import Any, Final, TextIO

import click

from tickover.api.limits import MAX_TOLERANCE_DAYS
from tickover.cli import formatting
from tickover.cli.errors import CliError, Exit
from tickover.cli.options import ClientCommand, clock_option, parse_amount, time_option
from tickover.cli.select_clock import selected_clock
from tickover.cli.session import Session

_INPUTS: Final = {"observed.transactions": "FILE", "observed.balance": "--balance", "toleranceDays": "--tolerance-days"}


@click.command(cls=ClientCommand)
@click.argument("file", type=click.File(encoding="utf-8-sig"))
@clock_option
@click.option("--account", metavar="KEY", help="The account that the file is about.")
@click.option("--currency", metavar="CODE", help="The currency that the file is about, if the clock has several.")
@click.option("--balance", type=parse_amount, metavar="AMOUNT", help="The balance that the app shows.")
@time_option("--at", help="Compare until this time. [default: the clock's time]")
@click.option(
    "--tolerance-days",
    type=click.IntRange(0, MAX_TOLERANCE_DAYS),
    default=0,
    metavar="N",
    help="How many days a row without a known ID may be early or late.",
)
def reconcile(session: Session, /, file: TextIO, id: str | None, **options: Any) -> None:
    """Compare the transactions that an app recorded with those of a clock.

    FILE is CSV with the columns at or date, amount, and optionally name and id. An amount is negative if money went
    out. If something differs, the command shows where, and exits with 9.

    Examples:

    \b
    tickover clock reconcile books.csv
    tickover clock reconcile books.csv --account checking --balance 1650.40
    sqlite3 -csv -header app.db 'SELECT date, amount FROM payments' | tickover clock reconcile -
    """
    from tickover.client import BooksDiffer
    from tickover.client.books import read_books

    try:
        rows = read_books(file)
    except ValueError as error:
        raise CliError(Exit.WRONG_COMMAND, f"{file.name}: {formatting.sentence(error)}") from None
    session.inputs = _INPUTS | {f"observed.transactions[{index}]": f"row {index + 1}" for index in range(len(rows))}
    with selected_clock(session, id) as (client, clock_id):
        clock = client.get_clock(clock_id)
        try:
            result = clock.reconcile(rows, **options)
            lines = [f"The books are complete. {formatting.count(len(rows), 'row')} compared."]
        except BooksDiffer as differ:
            result, lines = differ.result, str(differ).splitlines()
    session.output.write(result, *lines)
    if not result.ok:
        raise CliError(Exit.VIOLATED, "The books differ from those of the bank.")
