"""The commands `tickover clock list` and `tickover clock delete`."""

import sys
from collections.abc import Sequence
from itertools import islice
from typing import Final

import click

from tickover.cli import formatting
from tickover.cli.options import shared_options
from tickover.cli.select_clock import forget_clock, resolve_clock_id
from tickover.cli.session import Session, pass_session

_DEFAULT_LIMIT: Final = 20


@click.command("list")
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help=f"List at most N clocks, {_DEFAULT_LIMIT} by default."
)
@click.option("--all", "list_all", is_flag=True, help="List all clocks.")
@shared_options
@pass_session
def list_(session: Session, limit: int | None, list_all: bool) -> None:
    """List your clocks, newest first. An asterisk marks the last used one.

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
        found = list(islice(client.list_clocks(), limit and limit + 1))
    clocks, has_more = found[:limit], len(found) > len(found[:limit])
    if session.output.wants_json:
        session.output.write_json({"clocks": clocks, "hasMore": has_more})
    elif not clocks:
        session.output.write({}, "You have no clocks. Create one: tickover clock create salary-and-rent")
    else:
        session.display.clock_list(clocks, session.profile.clock)
        if has_more:
            session.output.write({}, "  … and more. List all: tickover clock list --all")


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--yes", is_flag=True, help="Don't ask for confirmation.")
@shared_options
@pass_session
def delete(session: Session, ids: Sequence[str], yes: bool) -> None:
    """Delete clocks permanently. At a terminal, ask for confirmation first.

    Examples:

    \b
    tickover clock delete
    tickover clock delete 5597fdf1 903ac1d4 --yes
    """
    deleted: list[str] = []
    with session.signed_in_client() as client:
        # Resolve every ID first, so that a typo deletes nothing.
        full_ids = list(dict.fromkeys(resolve_clock_id(session, client, id) for id in ids or (None,)))
        if not yes and sys.stdin.isatty():
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


def _confirm(ids: Sequence[str]) -> None:
    clocks = formatting.short_id(ids[0]) if len(ids) == 1 else formatting.count(len(ids), "clock")
    click.confirm(f"Delete {clocks} permanently?", abort=True, err=True)
