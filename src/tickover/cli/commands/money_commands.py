"""The commands `tickover clock balance`, `events`, `check` and `export`."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, get_args

import click

from tickover.api.fields import ExportFormat
from tickover.cli import formatting
from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.cli_run import CliRun
from tickover.cli.options import (
    ClientCommand,
    F,
    clock_argument,
    opening_option,
    parse_balance,
    parse_name_and_time,
    time_option,
)
from tickover.cli.select_clock import remember_clock, selected_clock

if TYPE_CHECKING:
    from tickover.client import Event, Expectation, Tickover

_FOLLOW_SECONDS: Final = 1.0


@click.command(cls=ClientCommand)
@clock_argument
@time_option("--at", help="Time of the balance. [default: the clock's time]")
@opening_option
def balance(run: CliRun, id: str | None, at: datetime | None, opening_balances: dict[str, Decimal] | None) -> None:
    with selected_clock(run, id) as (client, clock_id):
        balances = client.get_balances(clock_id, at, opening_balances=opening_balances)
    if run.output.wants_json:
        run.output.write_json(balances)
    else:
        from tickover.cli.render.amounts import render_balances

        run.output.draw(render_balances(clock_id, balances, run.output.width))


@click.command(cls=ClientCommand)
@clock_argument
@time_option("--after", help="Only events after this time.")
@time_option(
    "--until",
    help="Only events at or before this time. It can be later than the clock's time. [default: the clock's time]",
)
@opening_option
@click.option("--follow", is_flag=True, help="Wait for more events until Ctrl-C.")
def events(
    run: CliRun,
    id: str | None,
    *,
    after: datetime | None,
    until: datetime | None,
    opening_balances: dict[str, Decimal] | None,
    follow: bool,
) -> None:
    """These are transactions with balances, contributions, and goals reached.

    With --follow and --json, print one event per line.

    Examples:

    \b
    tickover clock events --after 2027-01-31
    tickover clock events --until 2027-12-31
    tickover clock events --follow --json
    """
    from tickover.client.webhooks import EventQueue

    if follow and until:
        raise click.UsageError("Use either --follow or --until.")
    if not (follow or until):
        run.inputs = {"after": "--after without --until TIME"}
    with selected_clock(run, id) as (client, clock_id):
        queue = EventQueue(after)
        while True:
            found = client.list_events(clock_id, after=queue.after, until=until, opening_balances=opening_balances)
            _write_events(run, client, clock_id, queue.find_new(list(found)), follow=follow)
            if not follow:
                break
            # Ctrl-C ends the block.
            remember_clock(run, clock_id)
            time.sleep(_FOLLOW_SECONDS)


def _write_events(run: CliRun, client: "Tickover", clock_id: str, events: "Sequence[Event]", *, follow: bool) -> None:
    if run.output.wants_json and follow:
        for event in events:
            run.output.write_json_line(event)
    elif run.output.wants_json:
        run.output.write_json({"events": events})
    elif events:
        from tickover.cli.render.amounts import render_events

        # Read now, because an amendment may have added items.
        snapshot = client.get_clock(clock_id).snapshot
        run.output.draw(render_events(snapshot, events, run.output.width))
    elif not follow:
        run.output.write({}, "No events in this period.")


def _expectation_option(name: str, parse: Callable[[str], Any], metavar: str, help: str) -> Callable[[F], F]:
    return click.option(name, type=parse, multiple=True, metavar=metavar, help=help)


@click.command(cls=ClientCommand)
@clock_argument
@_expectation_option("--never-below", parse_balance, "EUR=0|ACCOUNT=0", "The balance is never below the amount.")
@_expectation_option("--never-above", parse_balance, "EUR=5000|ACCOUNT=5000", "The balance is never above the amount.")
@_expectation_option("--goal-reached", parse_name_and_time, "GOAL=TIME", "The goal is reached by this time.")
@_expectation_option("--posted", parse_name_and_time, "NAME=TIME", "A transaction is posted by this time.")
@time_option("--until", help="End of the check. [default: the clock's maximum time]")
@opening_option
def check(  # noqa: PLR0913 - one parameter for each option
    run: CliRun,
    id: str | None,
    *,
    never_below: Sequence[tuple[str, Decimal]],
    never_above: Sequence[tuple[str, Decimal]],
    goal_reached: Sequence[tuple[str, datetime]],
    posted: Sequence[tuple[str, datetime]],
    until: datetime | None,
    opening_balances: dict[str, Decimal] | None,
) -> None:
    """This covers the whole schedule of a clock, and never moves it.

    Without options, check the clock's own expectations, for example those of its scenario. Each expectation is an
    option, and you can repeat it. If an expectation doesn't hold, the command shows when, and which item caused it,
    and exits with 9.

    Examples:

    \b
    tickover clock check
    tickover clock check --never-below EUR=0 --never-below checking=100
    tickover clock check --never-below EUR=100 --opening EUR=1200
    tickover clock check --goal-reached "Emergency fund=2027-06-30"
    """
    from tickover import client as expect

    checks: list[tuple[str, Expectation]] = [
        *((f"--never-below {book}", expect.never_below(**_book(book), amount=amount)) for book, amount in never_below),
        *((f"--never-above {book}", expect.never_above(**_book(book), amount=amount)) for book, amount in never_above),
        *((f"--goal-reached {name}", expect.goal_reached(name, by)) for name, by in goal_reached),
        *((f"--posted {name}", expect.posted(name, by)) for name, by in posted),
    ]
    run.inputs = {f"expectations[{index}]": name for index, (name, _) in enumerate(checks)}
    given = [expectation for _, expectation in checks]
    with selected_clock(run, id) as (client, clock_id):
        clock = client.get_clock(clock_id)
        expectations = given or clock.expectations
        if not expectations:
            message = "This clock has no expectations of its own."
            raise CliError(Exit.WRONG_COMMAND, message, "Pass at least one, for example --never-below EUR=0.")
        result = client.check_clock(clock_id, given or None, until=until, opening_balances=opening_balances)
    if run.output.wants_json:
        run.output.write_json(result)
    else:
        from tickover.cli.render.amounts import render_check

        run.output.draw(render_check(clock.snapshot, expectations, result, run.output.width))
    if not result.ok:
        number = formatting.count(sum(not one.ok for one in result.results), "expectation")
        raise CliError(Exit.VIOLATED, f"{number} violated.")


def _book(name: str) -> dict[str, str]:
    """Return the argument of an expectation. Currencies have uppercase letters, and keys of accounts don't."""
    return {"currency": name} if name.isupper() else {"account": name}


@click.command(cls=ClientCommand)
@clock_argument
@click.option(
    "--format",
    type=click.Choice(get_args(ExportFormat)),
    help="Format of the statements. [default: csv, or with --json json]",
)
@click.option("--pending", is_flag=True, help="Include scheduled transactions.")
@click.option("--account", metavar="KEY", help="Only the statement of this account.")
@opening_option
def export(
    run: CliRun,
    id: str | None,
    *,
    format: ExportFormat | None,
    pending: bool,
    account: str | None,
    opening_balances: dict[str, Decimal] | None,
) -> None:
    """There is one statement for each account, or else for each currency.

    Each statement has the opening and the closing balance. The IDs of transactions stay the same in every export.

    Examples:

    \b
    tickover clock export > clock.csv
    tickover clock export --format ofx --pending > clock.ofx
    tickover clock export --format hledger | hledger -f - balance
    """
    if run.output.wants_json and format not in (None, "json"):
        raise click.UsageError("Use either --json or --format.")
    chosen: ExportFormat = "json" if run.output.wants_json else format or "csv"
    with selected_clock(run, id) as (client, clock_id):
        text = client.export_clock(
            clock_id, chosen, pending=pending, opening_balances=opening_balances, account=account
        )
    click.echo(text.encode(), nl=False)
