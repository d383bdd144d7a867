"""The command `tickover clock export`."""

from decimal import Decimal
from typing import get_args

import click

from tickover.api.fields import ExportFormat
from tickover.cli import formatting
from tickover.cli.errors import CliError, Exit
from tickover.cli.options import opening_option, shared_options
from tickover.cli.select_clock import remember_clock, resolve_clock_id
from tickover.cli.session import Session, pass_session


@click.command()
@click.argument("id", required=False)
@click.option(
    "--format",
    type=click.Choice(get_args(ExportFormat)),
    help="Format of the statements. [default: csv, or with --json json]",
)
@click.option("--pending", is_flag=True, help="Include scheduled transactions.")
@click.option("--account", metavar="KEY", default="", help="Only the statement of this account.")
@opening_option
@shared_options
@pass_session
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
        raise click.UsageError("Use either --json or --format.", click.get_current_context())
    chosen = "json" if session.output.wants_json else format or "csv"
    with session.signed_in_client() as client:
        clock = client.get_clock(resolve_clock_id(session, client, id), details=True)
        remember_clock(session, clock.id)
    try:
        text = clock.export(chosen, pending=pending, opening_balances=opening_balances, account=account)
    except ValueError as error:
        raise CliError(Exit.WRONG_COMMAND, formatting.sentence(error)) from None
    click.echo(text.encode(), nl=False)
