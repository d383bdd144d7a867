"""The commands `tickover clock list` and `tickover clock delete`."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Final

import click

from tickover.api.errors import Rejection
from tickover.cli import formatting
from tickover.cli.options import label_option, shared_options
from tickover.cli.select_clock import forget_clock, resolve_clock_id
from tickover.cli.session import Session, pass_session

if TYPE_CHECKING:
    from tickover.client import Summary, Tickover

_DEFAULT_LIMIT: Final = 20
_MAX_CHECKED: Final = 100
"""Each check is a call."""


@click.command("list")
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help=f"List at most N clocks. [default: {_DEFAULT_LIMIT}]"
)
@click.option("--all", "list_all", is_flag=True, help="List all clocks.")
@label_option("Only clocks with this label. Repeatable.")
@shared_options
@pass_session
def list_(session: Session, limit: int | None, list_all: bool, labels: Sequence[tuple[str, str]]) -> None:
    """List your clocks, newest first. An asterisk marks the last used one.

    ✓ and ✗ say whether the expectations of a clock hold.

    Examples:

    \b
    tickover clock list
    tickover clock list --all --json
    """
    if list_all and limit:
        raise click.UsageError("Use either --limit or --all.", click.get_current_context())
    limit = None if list_all else limit or _DEFAULT_LIMIT
    with session.signed_in_client() as client:
        # One more than the limit shows whether there are more.
        found = list(islice(client.list_clocks(dict(labels) or None), limit and limit + 1))
        clocks, has_more = found[:limit], len(found) > len(found[:limit])
        holds = {} if session.output.wants_json else _check(client, clocks)
    if session.output.wants_json:
        session.output.write_json({"clocks": clocks, "hasMore": has_more})
    elif not clocks:
        which = " with these labels" if labels else ""
        session.output.write({}, f"You have no clocks{which}. Create one: tickover clock create salary-and-rent")
    else:
        from tickover.cli.render.clock import render_clock_list

        last_used, now = session.profile.clock, session.now()
        session.output.draw(render_clock_list(clocks, holds, last_used, session.output.width, now))
        if has_more:
            session.output.write({}, "  … and more. List all: tickover clock list --all")


def _check(client: "Tickover", clocks: "Sequence[Summary]") -> dict[str, bool]:
    """Return whether the expectations of each clock hold, if it has some."""
    holds = {}
    for clock in clocks[:_MAX_CHECKED]:
        # A clock without expectations can't be checked, and it may expire or be deleted in between.
        with suppress(Rejection):
            holds[clock.id] = client.check_clock(clock.id).ok
    return holds


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "delete_all", is_flag=True, help="Delete all your clocks.")
@label_option("With --all: only clocks with this label. Repeatable.")
@click.option("--yes", is_flag=True, help="Don't ask for confirmation.")
@shared_options
@pass_session
def delete(
    session: Session, ids: Sequence[str], *, delete_all: bool, labels: Sequence[tuple[str, str]], yes: bool
) -> None:
    """Delete clocks permanently. At a terminal, ask for confirmation first.

    In a script, pass IDs or --yes.

    Examples:

    \b
    tickover clock delete
    tickover clock delete 5597fdf1 903ac1d4 --yes
    tickover clock delete --all --label ci=1 --yes
    """
    asks = not yes and sys.stdin.isatty()
    _check_selection(ids, delete_all=delete_all, has_labels=bool(labels), is_confirmed=yes or asks)
    deleted: list[str] = []
    with session.signed_in_client() as client:
        if delete_all:
            full_ids = [clock.id for clock in client.list_clocks(dict(labels) or None)]
        else:
            # Resolve every ID first, so that a typo deletes nothing.
            full_ids = list(dict.fromkeys(resolve_clock_id(session, client, id) for id in ids or (None,)))
        if asks and full_ids:
            _confirm(full_ids)
        try:
            for id in full_ids:
                client.delete_clock(id)
                deleted.append(id)
                forget_clock(session, id)
        finally:
            # Report the deleted clocks even if a later one fails.
            if deleted:
                session.output.write({"deleted": deleted}, *(f"✓ Deleted {id}" for id in deleted))
        if not full_ids:
            session.output.write({"deleted": []}, "There are no clocks to delete.")


def _check_selection(ids: Sequence[str], *, delete_all: bool, has_labels: bool, is_confirmed: bool) -> None:
    message = ""
    if delete_all and ids:
        message = "Use either IDs or --all."
    elif has_labels and not delete_all:
        message = "--label requires --all."
    elif not ids and not is_confirmed:
        message = "Pass the IDs of the clocks to delete, or --yes."
    if message:
        raise click.UsageError(message, click.get_current_context())


def _confirm(ids: Sequence[str]) -> None:
    clocks = formatting.short_id(ids[0]) if len(ids) == 1 else formatting.count(len(ids), "clock")
    click.confirm(f"Delete {clocks} permanently?", abort=True, err=True)
