"""The commands that make, show and move a clock."""

from datetime import datetime
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any

import click
from msgspec import to_builtins
from msgspec.structs import replace

from tickover.cli import formatting
from tickover.cli.errors import Exit, Trouble
from tickover.cli.options import moment, names_and_files, shared_options, span
from tickover.cli.select_clock import chosen, remember
from tickover.cli.session import Session, pass_session
from tickover.spans import Duration

if TYPE_CHECKING:
    from tickover.client import AdvanceResult, Clock, Plan, Snapshot


@click.command()
@click.argument("scenario", required=False, shell_complete=names_and_files)
@click.option("--scenario", "same", metavar="FILE|NAME", help="The same as SCENARIO.", shell_complete=names_and_files)
@click.option(
    "--from",
    "start",
    type=moment,
    metavar="TIME",
    help="Where the clock starts. [default: the scenario's start, or today]",
)
@click.option("--params", type=click.File("rb"), metavar="FILE|-", help="Parameters of createTestClock as JSON.")
@shared_options
@pass_session
def create(
    session: Session, scenario: str | None, same: str | None, start: datetime | None, params: IO[bytes] | None
) -> None:
    """Create a clock, from a scenario or from parameters, or an empty one.

    SCENARIO is a name that `tickover scenarios` lists, or a file of your own in TOML or JSON.

    \b
    tickover clock create salary-and-rent --from 2027-01-01
    tickover clock create my-scenario.toml
    tickover clock create --params schedule.json
    tickover scenarios show trip --json | tickover clock create --params -
    """
    sources = [source for source in (scenario, same, params) if source]
    if len(sources) > 1:
        raise click.UsageError("Give one of SCENARIO, --scenario and --params.", click.get_current_context())
    plan = _plan(session, scenario or same, start, params)
    with session.signed_in() as server:
        clock = server.create_clock(plan)
        remember(session, clock.id)
    origin = f" from {scenario or same}" if scenario or same else ""
    _show(session, clock.snapshot, f"✓ Created {clock.id}{origin}")


def _plan(session: Session, scenario: str | None, start: datetime | None, params: IO[bytes] | None) -> "Plan":
    from tickover.cli.schedules import plan_in, plan_of, scenario_named
    from tickover.client import Plan

    if scenario:
        today = session.now().replace(hour=0, minute=0, second=0, microsecond=0)
        return plan_of(scenario_named(scenario), start, today)
    plan = plan_in(params) if params else Plan()
    return replace(plan, frozen_time=start) if start else plan


@click.command()
@click.argument("id", required=False)
@click.option("--at", type=moment, metavar="TIME", help="As it would be then, without moving it.")
@click.option("--all", "whole", is_flag=True, help="List all that has happened and is to come.")
@shared_options
@pass_session
def show(session: Session, id: str | None, at: datetime | None, whole: bool) -> None:
    """Show a clock as it is, or as it would be at a time to come.

    \b
    tickover clock show
    tickover clock show --at 2027-06-01
    tickover clock show 5597fdf1 --json
    """
    with session.signed_in() as server:
        clock = server.get_clock(chosen(session, server, id), at)
        remember(session, clock.id)
    ahead = f"As it would be at {formatting.moment(at)}; the clock has not moved." if at else ""
    _show(session, clock.snapshot, ahead, can_go_on=not ahead, whole=whole)


@click.command()
@click.argument("id", required=False)
@click.option(
    "--to", type=moment, metavar="TIME", help="To this time, such as 2027-02-01 or 2027-02-01T09:00:00+01:00."
)
@click.option("--by", type=span, metavar="SPAN", help="By so much, such as 1mo, 2w, 10d or '1y 6mo'.")
@click.option("--next", "to_next", is_flag=True, help="To the next time at which something happens.")
@click.option("--all", "whole", is_flag=True, help="List all that happened, however much it is.")
@shared_options
@pass_session
def advance(
    session: Session, id: str | None, to: datetime | None, by: Duration | None, to_next: bool, whole: bool
) -> None:
    """Move a clock forward, and show what happened on the way.

    Time only moves forward. To go back, make a copy that stands earlier with `tickover clock fork`.

    \b
    tickover clock advance --by 1mo
    tickover clock advance --to 2027-06-01
    tickover clock advance --next
    """
    if sum((to is not None, by is not None, to_next)) != 1:
        raise click.UsageError("Say how far: with one of --to, --by and --next.", click.get_current_context())
    with session.signed_in() as server:
        clock = server.get_clock(chosen(session, server, id))
        happened = clock.advance_to_next() if to_next else clock.advance(_destination(clock, to, by))
        remember(session, clock.id)
    if session.output.wants_json:
        session.output.document(_with_happened(clock.snapshot, happened))
        return
    from tickover.cli.render.items import items_in
    from tickover.cli.render.picture import advanced

    width, now = session.output.width, session.now()
    session.output.draw(advanced(clock.snapshot, happened.before, items_in(happened), width, now, whole=whole))


def _destination(clock: "Clock", to: datetime | None, by: Duration | None) -> datetime:
    if by is None:
        assert to is not None, "one of the two is given"
        return to
    try:
        return by.add_to(clock.frozen_time)
    except OverflowError:
        raise Trouble(Exit.REFUSED, "The calendar ends before that.") from None


@click.command()
@click.argument("id", required=False)
@click.option("--at", type=moment, metavar="TIME", help="Where the copy stands. [default: where the clock started]")
@shared_options
@pass_session
def fork(session: Session, id: str | None, at: datetime | None) -> None:
    """Copy a clock: the same schedule, standing where the clock started or at another time.

    \b
    tickover clock fork
    tickover clock fork --at 2027-01-15
    """
    with session.signed_in() as server:
        clock = server.fork_clock(chosen(session, server, id), at)
        remember(session, clock.id)
    _show(session, clock.snapshot, f"✓ Created {clock.id}, a copy")


def _show(session: Session, snapshot: "Snapshot", title: str, *, can_go_on: bool = True, whole: bool = False) -> None:
    if session.output.wants_json:
        session.output.document(snapshot)
        return
    from rich.text import Text

    from tickover.cli.render.picture import picture

    width = session.output.width
    session.output.draw([Text(f"  {title}")] if title else [])
    session.output.draw(picture(snapshot, width, session.now(), can_go_on=can_go_on, whole=whole))


def _with_happened(snapshot: "Snapshot", happened: "AdvanceResult") -> dict[str, Any]:
    """The clock as every command gives it, and beside it what the advance made happen."""

    def plain(value: Any) -> Any:
        return to_builtins(value, builtin_types=(Decimal, datetime))

    contributions = [
        {"goalId": goal.id, "goalName": goal.name, **plain(contribution)}
        for goal, contribution in happened.contributions
    ]
    told = {"before": happened.before, "after": happened.after, "transactions": plain(happened.transactions)}
    return {**plain(snapshot), "happened": {**told, "contributions": contributions}}
