"""The command `tickover clock export`."""

from collections.abc import Sequence
from decimal import Decimal

import click

from tickover.cli.errors import CliError, Exit
from tickover.cli.option_values import parse_amount_of_currency
from tickover.cli.options import shared_options
from tickover.cli.select_clock import remember_clock, resolve_clock_id
from tickover.cli.session import Session, pass_session


@click.command()
@click.argument("id", required=False)
@click.option(
    "--format",
    type=click.Choice(["csv", "json", "hledger", "beancount", "ofx", "camt053"]),
    help="Format of the statements. [default: csv, or with --json json]",
)
@click.option("--pending", is_flag=True, help="Include scheduled transactions.")
@click.option(
    "--opening",
    type=parse_amount_of_currency,
    multiple=True,
    metavar="EUR=1200",
    help="Balance of a currency before the clock's start. Repeat it for more currencies.",
)
@shared_options
@pass_session
def export(
    session: Session, id: str | None, format: str | None, pending: bool, opening: Sequence[tuple[str, Decimal]]
) -> None:
    """Write a clock's transactions as account statements, one for each currency.

    Each statement has the opening and the closing balance. The IDs of transactions stay the same in every export.

    Examples:

    \b
    tickover clock export > clock.csv
    tickover clock export --format ofx --pending > clock.ofx
    tickover clock export --format hledger | hledger -f - balance
    """
    if session.output.wants_json and format not in (None, "json"):
        raise click.UsageError("Use either --json or --format.", click.get_current_context())
    chosen = "json" if session.output.wants_json else format or "csv"
    with session.signed_in_client() as client:
        clock = client.get_clock(resolve_clock_id(session, client, id), details=True)
        remember_clock(session, clock.id)
    try:
        text = clock.export(chosen, pending=pending, opening=dict(opening))
    except ValueError as error:
        raise CliError(Exit.WRONG_COMMAND, f"{str(error)[0].upper()}{str(error)[1:]}.") from None
    click.echo(text.encode(), nl=False)
