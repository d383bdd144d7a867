"""The commands `tickover scenarios`, `tickover scenarios show` and `tickover scenarios from`."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

import click

from tickover.cli.options import (
    JSON,
    URL,
    AccountFile,
    ClientCommand,
    LocalCommand,
    complete_scenario,
    parse_account_file,
    parse_time,
)
from tickover.cli.session import Session


@click.group(invoke_without_command=True, subcommand_metavar="[show NAME | from FILE]", params=[URL, JSON])
@click.pass_context
def scenarios(context: click.Context) -> None:
    """List the scenarios that come with Tickover.

    A scenario is a ready-made schedule for a clock.

    Examples:

    \b
    tickover scenarios
    tickover scenarios show salary-and-rent > mine.toml
    tickover clock create mine.toml
    """
    if context.invoked_subcommand is None:
        _list(context.ensure_object(Session))


def _list(session: Session) -> None:
    from tickover.scenarios import load, names

    shipped = {name: load(name) for name in names()}
    if session.output.wants_json:
        listed = [{"name": name, "title": one.title, "about": one.about} for name, one in shipped.items()]
        session.output.write_json({"scenarios": listed})
    else:
        from tickover.cli.render.scenarios import render_scenarios

        session.output.draw(render_scenarios(shipped, session.output.width))


@scenarios.command(cls=LocalCommand)
@click.argument("name", shell_complete=complete_scenario)
@click.option(
    "--from",
    "start",
    type=parse_time,
    metavar="TIME",
    help="Start for --dates and --json. [default: the scenario's start, or the first of this month]",
)
@click.option("--dates", is_flag=True, help="List the transactions and transfers with their dates instead of the file.")
def show(session: Session, name: str, start: datetime | None, dates: bool) -> None:
    """Print a scenario's file, or its transactions and transfers.

    With --dates, list them with their dates. "due" shows the original date of a payment that was moved.
    With --json, print the parameters of createTestClock that the scenario produces.

    Examples:

    \b
    tickover scenarios show salary-and-rent
    tickover scenarios show family --dates
    tickover scenarios show salary-and-rent --from 2027-01-01 --json
    """
    from tickover.cli.scenario_files import plan_scenario

    scenario, plan = plan_scenario(name, start, session.now())
    if dates and not session.output.wants_json:
        from tickover.cli.render.scenarios import render_occurrences

        occurrences = scenario.occurrences(plan.frozen_time or None)
        session.output.draw(render_occurrences(occurrences, session.output.width))
    else:
        session.output.write(plan, *scenario.text.expandtabs(4).splitlines())


@scenarios.command("from", cls=ClientCommand, short_help="Write a scenario from a bank statement or a clock.")
@click.argument("source", metavar="[FILE|CLOCK]", required=False)
@click.option(
    "--account",
    "accounts",
    type=parse_account_file,
    multiple=True,
    metavar="KEY[:TYPE]=FILE",
    help="The file of an account, instead of FILE. Repeatable.",
)
@click.option("--columns", metavar="KEY=HEADER,...", help="Headers of a CSV file, such as date=Datum,amount=Betrag.")
@click.option("--currency", metavar="EUR", help="Currency, if the CSV file has none.")
@click.option("--day-first/--month-first", "is_day_first", default=None, help="The order in dates such as 03/04/2027.")
@click.option("--from", "start", type=parse_time, metavar="TIME", help="Ignore earlier payments.")
@click.option("--summarise", is_flag=True, help="Turn irregular payments into a recurrence that varies by a seed.")
@click.option("--anonymise", is_flag=True, help="Replace names, remove categories and scale amounts.")
@click.option("--preview", is_flag=True, help="List the payments in the file instead of writing a scenario.")
def from_(  # noqa: PLR0913 - one parameter for each option
    session: Session,
    source: str | None,
    *,
    accounts: Sequence[AccountFile],
    columns: str | None,
    currency: str | None,
    is_day_first: bool | None,
    start: datetime | None,
    summarise: bool,
    anonymise: bool,
    preview: bool,
) -> None:
    """Write a scenario from a bank statement in CSV or OFX, or from a clock.

    Regular payments become recurrences. All others keep their dates. With a file for each account, the same amount that
    leaves one account and arrives in another within three days is a transfer. The command reads statements on this
    machine and sends nothing. Goals and expectations of a clock don't become part of the scenario.

    Examples:

    \b
    tickover scenarios from bank.csv --preview
    tickover scenarios from bank.csv --from 2027-04-01 --anonymise > my.toml
    tickover scenarios from --account giro=giro.csv --account visa:credit-card=visa.csv > my.toml
    tickover clock create my.toml
    """
    from tickover.cli.load_statement import format_history, load_history, parse_columns, trim_history
    from tickover.scenarios.from_payments import write_scenario
    from tickover.scenarios.statements.read import read_statement

    if (source is None) == (not accounts):
        raise click.UsageError("Use either FILE, CLOCK or --account.")
    read = partial(read_statement, columns=parse_columns(columns), currency=currency or "", is_day_first=is_day_first)
    history = trim_history(load_history(session, source, accounts, read), start)
    if preview:
        session.output.write({"payments": history.payments}, *format_history(history))
        return
    title = Path(source or "").stem[:120] or "Statement"
    text = write_scenario(history, title=title, summarise=summarise, anonymise=anonymise)
    session.output.write({"scenario": text}, *text.splitlines())
    is_file = source is None or Path(source).exists()
    where = "on this machine. Nothing was sent." if is_file else "of a clock from the server."
    click.echo(f"Read {len(history.payments):,} payments {where}", err=True)
