"""The commands that show what there is to begin with."""

from datetime import datetime
from pathlib import Path

import click

from tickover.cli import formatting
from tickover.cli.options import moment, names_and_files, shared_options
from tickover.cli.schedules import plan_of, scenario_named
from tickover.cli.session import Session, pass_session


@click.group(invoke_without_command=True, subcommand_metavar="[show NAME]")
@shared_options
@click.pass_context
def scenarios(context: click.Context) -> None:
    """List the schedules that come with Tickover, to begin with.

    \b
    tickover scenarios
    tickover scenarios show salary-and-rent > mine.toml
    tickover clock create mine.toml
    """
    if context.invoked_subcommand is None:
        _list(context.ensure_object(Session))


def _list(session: Session) -> None:
    from tickover.scenarios import load, names

    found = {name: load(name) for name in names()}
    if session.output.wants_json:
        told = [{"name": name, "title": one.title, "about": one.about} for name, one in found.items()]
        session.output.document({"scenarios": told})
        return
    from rich.text import Text

    from tickover.cli.render.lines import FAINT, HAPPENED, Column, table

    rows = [[Text(name, HAPPENED), Text(formatting.safe(one.title))] for name, one in found.items()]
    session.output.draw(table(rows, [Column(), Column(least=8)], session.output.width))
    session.output.draw([Text(), Text.assemble(("  Next: ", FAINT), f"tickover clock create {next(iter(found))}")])


@scenarios.command()
@click.argument("name", shell_complete=names_and_files)
@click.option(
    "--from",
    "start",
    type=moment,
    metavar="TIME",
    help="With --json: where it starts. [default: its own start, or today]",
)
@shared_options
@pass_session
def show(session: Session, name: str, start: datetime | None) -> None:
    """Print the file of a scenario, or with --json what it comes to: parameters of createTestClock.

    \b
    tickover scenarios show salary-and-rent
    tickover scenarios show salary-and-rent --from 2027-01-01 --json
    """
    scenario = scenario_named(name)
    today = session.now().replace(hour=0, minute=0, second=0, microsecond=0)
    plan = plan_of(scenario, start, today)
    session.output.say(plan, *_source(name).expandtabs(4).splitlines())


def _source(name: str) -> str:
    from importlib.resources import files

    from tickover.scenarios import names

    if name in names():
        return (files("tickover.scenarios") / "shipped" / f"{name}.toml").read_text("utf-8")
    return Path(name).read_text("utf-8")
