"""The commands `tickover clock list` and `tickover clock delete`."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Final

import click

from tickover.api.errors import Rejection
from tickover.cli import formatting
from tickover.cli.cli_run import CliRun
from tickover.cli.options import ClientCommand, label_option
from tickover.cli.select_clock import forget_clock, resolve_clock_id

if TYPE_CHECKING:
    from tickover.client import Summary, Tickover

_MAX_CHECKED: Final = 100
"""Each check is a call."""


@click.command("list", cls=ClientCommand)
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="List at most N clocks."
)
@click.option("--all", "list_all", is_flag=True, help="List all clocks.")
@label_option("Only clocks with this label. Repeatable.")
def list_(run: CliRun, limit: int, list_all: bool, labels: Sequence[tuple[str, str]]) -> None:
    """An asterisk marks the last used one.

    ✓ and ✗ say whether the expectations of a clock hold.
    """
    with run.signed_in_client() as client:
        # One more than the limit shows whether there are more.
        found = list(islice(client.list_clocks(dict(labels) or None), None if list_all else limit + 1))
        has_more = not list_all and len(found) > limit
        clocks = found[:limit] if has_more else found
        holds = {} if run.output.wants_json else _check(client, clocks)
    lines = ["  ID               NOW               EXPIRES    HOLDS  NAME"]
    last_used, now = run.profile.clock, run.now()
    for clock in clocks:
        id = f"{'*' if clock.id == last_used else ' '} {formatting.short_id(clock.id)}"
        frozen_time, left = formatting.date_and_minute(clock.frozen_time), formatting.duration(clock.expires_at - now)
        held = {None: "", True: "✓", False: "✗"}[holds.get(clock.id)]
        lines.append(f"{id}  {frozen_time}  {left:9}  {held:5}  {clock.name or ''}".rstrip())
    if has_more:
        lines.append("  … and more. List all: tickover clock list --all")
    if not clocks:
        which = " with these labels" if labels else ""
        lines = [f"You have no clocks{which}. Create one: tickover clock create salary-and-rent"]
    run.output.write({"clocks": clocks, "hasMore": has_more}, *lines)


def _check(client: "Tickover", clocks: "Sequence[Summary]") -> dict[str, bool]:
    """Return whether the expectations of each clock hold, if it has some."""
    holds = {}
    for clock in clocks[:_MAX_CHECKED]:
        # A clock without expectations can't be checked, and it may expire or be deleted in between.
        with suppress(Rejection):
            holds[clock.id] = client.check_clock(clock.id).ok
    return holds


@click.command(cls=ClientCommand)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "delete_all", is_flag=True, help="Delete all your clocks.")
@label_option("With --all: only clocks with this label. Repeatable.")
@click.option("--yes", is_flag=True, help="Don't ask for confirmation.")
def delete(run: CliRun, ids: Sequence[str], *, delete_all: bool, labels: Sequence[tuple[str, str]], yes: bool) -> None:
    """At a terminal, this asks for confirmation first.

    In a script, pass IDs or --yes.

    Examples:

    \b
    tickover clock delete
    tickover clock delete 5597fdf1 903ac1d4 --yes
    tickover clock delete --all --label ci=1 --yes
    """
    asks = not yes and sys.stdin.isatty()
    if delete_all and ids:
        raise click.UsageError("Use either IDs or --all.")
    if labels and not delete_all:
        raise click.UsageError("--label requires --all.")
    if not (ids or yes or asks):
        raise click.UsageError("Pass the IDs of the clocks to delete, or --yes.")
    with run.signed_in_client() as client:
        if delete_all:
            full_ids = [clock.id for clock in client.list_clocks(dict(labels) or None)]
        else:
            # Resolve every ID first, so that a typo deletes nothing.
            full_ids = list(dict.fromkeys(resolve_clock_id(run, client, id) for id in ids or (None,)))
        if asks and full_ids:
            clocks = formatting.short_id(full_ids[0]) if len(full_ids) == 1 else f"{len(full_ids)} clocks"
            click.confirm(f"Delete {clocks} permanently?", abort=True, err=True)
        _delete(run, client, full_ids)


def _delete(run: CliRun, client: "Tickover", ids: Sequence[str]) -> None:
    deleted: list[str] = []
    try:
        for id in ids:
            client.delete_clock(id)
            deleted.append(id)
            forget_clock(run, id)
    finally:
        # Report the deleted clocks even if a later one fails.
        if deleted or not ids:
            lines = [f"✓ Deleted {id}" for id in deleted] or ["There are no clocks to delete."]
            run.output.write({"deleted": deleted}, *lines)
