"""The commands `tickover scenarios` and `tickover scenarios show`."""

from datetime import datetime

import click

from tickover.cli.cli_run import CliRun
from tickover.cli.options import LocalCommand, complete_scenario, time_option


def list_scenarios(run: CliRun) -> None:
    from tickover.scenarios import load, names

    shipped = {name: load(name) for name in names()}
    if run.output.wants_json:
        listed = [{"name": name, "title": one.title, "about": one.about} for name, one in shipped.items()]
        run.output.write_json({"scenarios": listed})
    else:
        from tickover.cli.render.scenario_text import render_scenarios

        run.output.draw(render_scenarios(shipped, run.output.width))


@click.command(cls=LocalCommand)
@click.argument("name", shell_complete=complete_scenario)
@time_option(
    "--from",
    "start",
    help="Start for --dates and --json. [default: the scenario's start, or the first of this month]",
)
@click.option("--dates", is_flag=True, help="List the transactions and transfers with their dates instead of the file.")
def show(run: CliRun, name: str, start: datetime | None, dates: bool) -> None:
    """With --dates, list them with their dates. "due" shows the original date of a payment that was moved.
    With --json, print the parameters of createTestClock that the scenario produces.

    Examples:

    \b
    tickover scenarios show salary-and-rent
    tickover scenarios show family --dates
    tickover scenarios show salary-and-rent --from 2027-01-01 --json
    """
    from tickover.cli.scenario_files import plan_scenario

    scenario, plan = plan_scenario(name, start, run.now())
    if dates and not run.output.wants_json:
        from tickover.cli.render.scenario_text import render_occurrences

        occurrences = scenario.occurrences(plan.frozen_time or None)
        run.output.draw(render_occurrences(occurrences, run.output.width))
    else:
        run.output.write(plan, *scenario.text.expandtabs(4).splitlines())
