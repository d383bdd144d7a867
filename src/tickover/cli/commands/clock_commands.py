"""The commands `tickover clock create`, `show`, `advance`, `fork`, `rename`, `add` and `cancel`."""

import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any

import click

from tickover.api.durations import Duration
from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.cli_run import CliRun
from tickover.cli.options import (
    ClientCommand,
    F,
    clock_argument,
    clock_option,
    complete_scenario,
    label_option,
    parse_amount,
    parse_duration,
    parse_time,
    time_option,
)
from tickover.cli.select_clock import remember_clock, resolve_clock_id, selected_clock

if TYPE_CHECKING:
    from tickover.api.plans import PlannedItem
    from tickover.client import Clock, Tickover

_Money = tuple[str, Decimal, str]


@click.command(cls=ClientCommand)
@click.argument("scenario", required=False, shell_complete=complete_scenario)
@time_option(
    "--from", "start", help="Start time of the clock. [default: the scenario's start, or the first of this month]"
)
@click.option("--params", type=click.File("rb"), metavar="FILE|-", help="Parameters of createTestClock as JSON.")
@click.option("--name", metavar="NAME", help="Name of the clock, shown in lists.")
@label_option("Label of the clock. Repeatable.")
def create(
    run: CliRun,
    scenario: str | None,
    *,
    start: datetime | None,
    params: IO[bytes] | None,
    name: str | None,
    labels: Sequence[tuple[str, str]],
) -> None:
    """Without a scenario or parameters, the clock is empty.

    SCENARIO is a name from `tickover scenarios`, or a TOML file.

    Examples:

    \b
    tickover clock create salary-and-rent --from 2027-01-01
    tickover clock create my-scenario.toml --name "Rent check" --label ci=1
    tickover clock create --params schedule.json
    """
    from tickover.cli.scenario_files import read_params, scenario_source

    if scenario and params:
        raise click.UsageError("Use either SCENARIO or --params.")
    names: dict[str, Any] = {"name": name, "labels": dict(labels) or None}
    with run.signed_in_client() as client:
        if scenario:
            run.inputs = {"text": scenario, **({} if start else {"start": f"the start of {scenario}"})}
            clock = client.create_clock_from_scenario(start=start, **scenario_source(scenario), **names)
        else:
            given = read_params(params) if params else {}
            clock = client.create_clock({**given, **({"frozenTime": start} if start else {})}, **names)
        remember_clock(run, clock.id)
        source = f" from {scenario}" if scenario else ""
        show_clock(run, client, clock, f"✓ Created {clock.id}{source}")


@click.command(cls=ClientCommand)
@clock_argument
@time_option("--at", help="Preview the clock at this time without moving it.")
@click.option("--all", "show_all", is_flag=True, help="List every item on the clock.")
def show(run: CliRun, id: str | None, at: datetime | None, show_all: bool) -> None:
    """Examples:

    \b
    tickover clock show
    tickover clock show --at 2027-06-01
    tickover clock show 5597fdf1 --json
    """
    with selected_clock(run, id) as (client, clock_id):
        clock = client.get_clock(clock_id, at)
        title = f"Preview at {formatting.timestamp(at)}. The clock hasn't moved." if at else ""
        show_clock(run, client, clock, title, is_preview=at is not None, show_all=show_all)


@click.command(cls=ClientCommand)
@clock_argument
@time_option("--to", help="Advance to a time such as 2027-02-01 or '2027-02-01 09:00'.")
@click.option(
    "--by", type=parse_duration, metavar="DURATION", help="Advance by a duration such as 1mo, 2w, 10d or '1y 6mo'."
)
@click.option("--next", "to_next", is_flag=True, help="Advance to the next transaction or contribution.")
def advance(run: CliRun, id: str | None, to: datetime | None, by: Duration | None, to_next: bool) -> None:
    """Time only moves forward. To go back, copy the clock as it was at an earlier time with `tickover clock fork`.

    Examples:

    \b
    tickover clock advance --by 1mo
    tickover clock advance --to 2027-06-01
    tickover clock advance --next
    """
    if sum((to is not None, by is not None, to_next)) != 1:
        option = _option_for(id) if id and not (to or by or to_next) else ""
        raise click.UsageError(
            f"Use {option} {shlex.quote(str(id))}." if option else "Use exactly one of --to, --by and --next."
        )
    with selected_clock(run, id) as (client, clock_id):
        advanced = client.advance_clock(clock_id, to, by=str(by or "") or None, next=to_next)
    if run.output.wants_json:
        run.output.write_json(advanced)
    else:
        from tickover.cli.render.clock_text import render_clock

        run.output.draw(render_clock(advanced.clock, run.output.width, run.now(), events=advanced.events))


def _option_for(argument: str) -> str:
    """Return the option of `advance` that takes this argument, or an empty string if it can be a clock."""
    for option, parse in (("--to", parse_time), ("--by", parse_duration)):
        with suppress(click.BadParameter):
            parse(argument)
            return option
    return ""


@click.command(cls=ClientCommand)
@clock_argument
@time_option("--at", help="Frozen time of the copy. [default: the clock's start time]")
@click.option("--name", metavar="NAME", help="Name of the copy. [default: the clock's name]")
@label_option("Label of the copy. Repeatable. [default: the clock's labels]")
def fork(
    run: CliRun, id: str | None, *, at: datetime | None, name: str | None, labels: Sequence[tuple[str, str]]
) -> None:
    """Later commands use the copy. Change it with `tickover clock add` and `tickover clock cancel`.

    Examples:

    \b
    tickover clock fork
    tickover clock fork --at 2027-01-15 --name "Second try"
    """
    with run.signed_in_client() as client:
        clock = client.fork_clock(resolve_clock_id(run, client, id), at, name=name, labels=dict(labels) or None)
        remember_clock(run, clock.id)
        show_clock(run, client, clock, f"✓ Created {clock.id}, a copy")


@click.command(cls=ClientCommand)
@click.argument("name")
@clock_argument
def rename(run: CliRun, name: str, id: str | None) -> None:
    """An empty NAME removes it."""
    with selected_clock(run, id) as (client, clock_id):
        clock = client.update_clock(clock_id, name=name or None)
    text = f"✓ Renamed {clock.id} to {name}" if name else f"✓ Removed the name of {clock.id}"
    run.output.write(clock.snapshot, text)


def _item_option(name: str, parameter: str, metavar: str, help: str) -> Callable[[F], F]:
    types = tuple(parse_amount if word == "AMOUNT" else str for word in metavar.split())
    return click.option(name, parameter, type=types, multiple=True, metavar=metavar, help=help)


@click.command(cls=ClientCommand)
@click.argument("file", required=False, shell_complete=complete_scenario)
@_item_option("--expense", "expenses", "NAME AMOUNT CURRENCY", "Add an expense. Repeatable.")
@_item_option("--income", "incomes", "NAME AMOUNT CURRENCY", "Add income. Repeatable.")
@_item_option("--transfer", "transfers", "NAME AMOUNT FROM TO", "Add a transfer between accounts. Repeatable.")
@click.option("--account", metavar="KEY", help="Account of --expense and --income. [default: the currency's first]")
@_item_option("--contribution", "contributions", "GOAL AMOUNT", "Add to a goal with this name or ID. Repeatable.")
@time_option("--at", help="Time of the items that options add. [default: the clock's time]")
@clock_option
def add(  # noqa: PLR0913 - one parameter for each option
    run: CliRun,
    file: str | None,
    *,
    expenses: Sequence[_Money],
    incomes: Sequence[_Money],
    transfers: Sequence[tuple[str, Decimal, str, str]],
    account: str | None,
    contributions: Sequence[tuple[str, Decimal]],
    at: datetime | None,
    id: str | None,
) -> None:
    """Items at the clock's time happen immediately.

    FILE is a scenario: a TOML file, or a name from `tickover scenarios`. Its items start at the clock's time.

    Examples:

    \b
    tickover clock add --expense Coffee 3.50 EUR
    tickover clock add --income Bonus 400 EUR --at 2027-03-01
    tickover clock add --transfer "To savings" 200 checking savings
    tickover clock add --contribution Trip 50
    tickover clock add more-bills.toml
    """
    from tickover.api import plans
    from tickover.cli.scenario_files import plan_scenario

    if not (file or expenses or incomes or transfers or contributions):
        raise click.UsageError("Use FILE, --expense, --income, --transfer or --contribution.")
    with selected_clock(run, id) as (client, clock_id):
        clock = client.get_clock(clock_id)
        time = at or clock.frozen_time
        added: dict[str, list[tuple[str, PlannedItem]]] = {
            "transactions": [
                *((f"--expense {each[0]}", plans.expense(*each, time, account=account)) for each in expenses),
                *((f"--income {each[0]}", plans.income(*each, time, account=account)) for each in incomes),
            ],
            "transfers": [(f"--transfer {each[0]}", plans.transfer(*each, time)) for each in transfers],
            "contributions": [
                (f"--contribution {goal}", plans.contribution(amount, time, goal)) for goal, amount in contributions
            ],
        }
        run.inputs = {"add": file or ""}
        for field, named in added.items():
            run.inputs |= {f"add.{field}[{index}]": name for index, (name, _) in enumerate(named)}
        items = [item for named in added.values() for _, item in named]
        if file:
            # Accounts and balances of a scenario are for new clocks only.
            _, plan = plan_scenario(file, clock.frozen_time, clock.frozen_time)
            items += [*plan.transactions, *plan.transfers, *plan.goals]
        if not items:
            raise CliError(Exit.WRONG_COMMAND, f"{file} has no items from {clock.frozen_time:%Y-%m-%d} on.")
        clock.add(*items)
        show_clock(run, client, clock, f"✓ Added {formatting.count(len(items), 'item')} to {clock.id}")


@click.command(cls=ClientCommand)
@click.argument("item", metavar="ITEM|NAME")
@click.option("--next", "only_next", is_flag=True, help="If several items match, cancel the next one.")
@click.option("--all", "every", is_flag=True, help="If several items match, cancel all of them.")
@clock_option
def cancel(run: CliRun, item: str, *, only_next: bool, every: bool, id: str | None) -> None:
    """Pass the ID of an item, or the name of a transaction or transfer. To cancel contributions, pass the name of their
    goal.

    Examples:

    \b
    tickover clock cancel Gym --all
    tickover clock cancel Rent --next
    """
    if only_next and every:
        raise click.UsageError("Use either --next or --all.")
    with selected_clock(run, id) as (client, clock_id):
        clock = client.get_clock(clock_id)
        ids = _pending_ids(clock, item)
        if len(ids) > 1 and not every and not only_next:
            message = f"{formatting.count(len(ids), 'pending item')} match '{item}'."
            raise CliError(Exit.WRONG_COMMAND, message, "Use --next for the next one, or --all.")
        cancelled = ids[:1] if only_next else ids
        clock.cancel(*cancelled)
        show_clock(run, client, clock, f"✓ Cancelled {formatting.count(len(cancelled), 'item')} of {clock.id}")


def _pending_ids(clock: "Clock", item: str) -> list[str]:
    """Return the IDs of the items with this ID or name that haven't happened yet, in order of time."""
    from tickover.client.timeline import clock_items

    pending = [each for each in clock_items(clock.snapshot) if not each.happened]
    # Names are as shown: without invisible characters.
    found = [each.id for each in pending if sanitize(item) in (each.id, each.name)]
    if not found:
        names = sorted({each.name for each in pending})
        hint = f"Pending: {', '.join(names[:10])}{', …' if len(names) > 10 else ''}" if names else "Nothing is pending."
        raise CliError(Exit.NOT_FOUND, f"No pending item of this clock has the ID or the name '{item}'.", hint)
    return found


def show_clock(
    run: CliRun,
    client: "Tickover",
    clock: "Clock",
    title: str,
    *,
    is_preview: bool = False,
    show_all: bool = False,
) -> None:
    """Write the clock as JSON, or draw it below the title. The text says whether its expectations hold."""
    if run.output.wants_json:
        run.output.write_json(clock.snapshot)
        return
    from rich.text import Text

    from tickover.cli.render.clock_text import render_clock

    check = client.check_clock(clock.id) if clock.expectations else None
    width, now = run.output.width, run.now()
    lines = render_clock(clock.snapshot, width, now, is_preview=is_preview, show_all=show_all, check=check)
    run.output.draw([Text(f"  {title}"), *lines] if title else lines)
