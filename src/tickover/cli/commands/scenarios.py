"""The commands `tickover scenarios` and `tickover scenarios show`."""

from datetime import datetime
from importlib.resources import files
from pathlib import Path

import click

from tickover.cli.option_values import complete_scenario, parse_time
from tickover.cli.options import shared_options
from tickover.cli.session import Session, pass_session


@click.group(invoke_without_command=True, subcommand_metavar="[show NAME]")
@shared_options
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
        session.display.scenario_list(shipped)


@scenarios.command()
@click.argument("name", shell_complete=complete_scenario)
@click.option(
    "--from",
    "start",
    type=parse_time,
    metavar="TIME",
    help="Start for --dates and --json. [default: the scenario's start, or the first of this month]",
)
@click.option("--dates", is_flag=True, help="List the transactions with their dates instead of the file.")
@shared_options
@pass_session
def show(session: Session, name: str, start: datetime | None, dates: bool) -> None:
    """Print a scenario's file, or its transactions.

    With --dates, list the transactions with their dates. "due" shows the original date of a payment that was moved.
    With --json, print the parameters of createTestClock that the scenario produces.

    Examples:

    \b
    tickover scenarios show salary-and-rent
    tickover scenarios show family --dates
    tickover scenarios show salary-and-rent --from 2027-01-01 --json
    """
    from tickover.cli.load_plan import load_scenario, plan_from_scenario

    scenario = load_scenario(name)
    plan = plan_from_scenario(scenario, start, session.now())
    if dates and not session.output.wants_json:
        session.display.occurrences(scenario.occurrences(plan.frozen_time or None))
    else:
        session.output.write(plan.params, *_source(name).expandtabs(4).splitlines())


def _source(name: str) -> str:
    from tickover.scenarios import names

    if name in names():
        return (files("tickover.scenarios") / "shipped" / f"{name}.toml").read_text("utf-8")
    return Path(name).read_text("utf-8")
