"""The command `tickover clock export`."""

from decimal import Decimal
from typing import get_args

import click

from tickover.api.fields import ExportFormat
from tickover.cli.options import ClientCommand, clock_argument, opening_option
from tickover.cli.select_clock import selected_clock
from tickover.cli.session import Session


@click.command(cls=ClientCommand)
@clock_argument
@click.option(
    "--format",
    type=click.Choice(get_args(ExportFormat)),
    help="Format of the statements. [default: csv, or with --json json]",
)
@click.option("--pending", is_flag=True, help="Include scheduled transactions.")
@click.option("--account", metavar="KEY", default="", help="Only the statement of this account.")
@opening_option
def export(
    session: Session,
    id: str | None,
    *,
    format: str | None,
    pending: bool,
    account: str,
    opening_balances: "dict[str, Decimal] | None",
) -> None:
    """Write a clock's transactions as account statements, one for each account, or else for each currency.

    Each statement has the opening and the closing balance. The IDs of transactions stay the same in every export.

    Examples:

    \b
    tickover clock export > clock.csv
    tickover clock export --format ofx --pending > clock.ofx
    tickover clock export --format hledger | hledger -f - balance
    """
    if session.output.wants_json and format not in (None, "json"):
        raise click.UsageError("Use either --json or --format.")
    chosen = "json" if session.output.wants_json else format or "csv"
    with selected_clock(session, id) as (client, clock_id):
        clock = client.get_clock(clock_id, details=True)
        text = clock.export(chosen, pending=pending, opening_balances=opening_balances, account=account)
    click.echo(text.encode(), nl=False)
