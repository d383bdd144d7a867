"""The commands `tickover clock list` and `tickover clock delete`."""

import sys
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

import click

from tickover.cli import formatting
from tickover.cli.options import shared_options
from tickover.cli.select_clock import forget_clock, resolve_clock_id
from tickover.cli.session import Session, pass_session

if TYPE_CHECKING:
    from tickover.client import Tickover

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
@click.option("--all", "delete_all", is_flag=True, help="Delete all your clocks.")
@click.option("--yes", is_flag=True, help="Don't ask for confirmation.")
@shared_options
@pass_session
def delete(session: Session, ids: Sequence[str], delete_all: bool, yes: bool) -> None:
    """Delete clocks permanently. At a terminal, ask for confirmation first.

    In a script, pass IDs or --yes.

    Examples:

    \b
    tickover clock delete
    tickover clock delete 5597fdf1 903ac1d4 --yes
    tickover clock delete --all --yes
    """
    if delete_all and ids:
        raise click.UsageError("Use either IDs or --all.", click.get_current_context())
    asks = not yes and sys.stdin.isatty()
    if not (ids or yes or asks):
        raise click.UsageError("Pass the IDs of the clocks to delete, or --yes.", click.get_current_context())
    deleted: list[str] = []
    with session.signed_in_client() as client:
        full_ids = _clocks_to_delete(session, client, ids, delete_all=delete_all)
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


def _clocks_to_delete(session: Session, client: "Tickover", ids: Sequence[str], *, delete_all: bool) -> list[str]:
    if delete_all:
        return [clock.id for clock in client.list_clocks()]
    # Resolve every ID first, so that a typo deletes nothing.
    return list(dict.fromkeys(resolve_clock_id(session, client, id) for id in ids or (None,)))


def _confirm(ids: Sequence[str]) -> None:
    clocks = formatting.short_id(ids[0]) if len(ids) == 1 else formatting.count(len(ids), "clock")
    click.confirm(f"Delete {clocks} permanently?", abort=True, err=True)
