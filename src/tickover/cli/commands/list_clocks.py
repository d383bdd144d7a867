"""The commands on several clocks: listing and deleting them."""

import sys
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

import click

from tickover.cli import formatting
from tickover.cli.options import shared_options
from tickover.cli.select_clock import chosen, forget
from tickover.cli.session import Session, pass_session

if TYPE_CHECKING:
    from datetime import datetime

    from rich.text import Text

    from tickover.client import Summary

_USUAL_NUMBER: Final = 20
_WIDTH_OF_WHOLE_IDS: Final = 74
_WIDTH_OF_TIMES: Final = 46


@click.command("list")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help=f"At most so many. [default: {_USUAL_NUMBER}]")
@click.option("--all", "every", is_flag=True, help="All of them.")
@shared_options
@pass_session
def list_(session: Session, limit: int | None, every: bool) -> None:
    """List your clocks, newest first; * is the one that commands mean when none is named.

    \b
    tickover clock list
    tickover clock list --all --json
    """
    if every and limit:
        raise click.UsageError("Give one of --limit and --all.", click.get_current_context())
    most = None if every else limit or _USUAL_NUMBER
    with session.signed_in() as server:
        # One more, to know whether there are more.
        found = list(islice(server.list_clocks(), most and most + 1))
    shown, has_more = found[:most], len(found) > len(found[:most])
    if session.output.wants_json:
        session.output.document({"clocks": shown, "hasMore": has_more})
    elif not shown:
        session.output.say({}, "You have no clocks. Make one with: tickover clock create salary-and-rent")
    else:
        session.output.draw(_table(shown, session.kept.clock, session.output.width, session.now()))
        if has_more:
            session.output.say({}, "  … and more: tickover clock list --all")


def _table(clocks: "Sequence[Summary]", last_used: str, width: int, now: "datetime") -> "list[Text]":
    from rich.text import Text

    from tickover.cli.render.lines import FAINT, Column, table

    shown_id = formatting.safe if width >= _WIDTH_OF_WHOLE_IDS else formatting.short_id
    shown_time = formatting.minute if width >= _WIDTH_OF_TIMES else formatting.day
    rows = [[Text(title, FAINT) for title in ("ID", "NOW", "EXPIRES")]]
    rows += [
        [Text(shown_id(one.id)), Text(shown_time(one.frozen_time)), Text(formatting.span(one.expires_at - now))]
        for one in clocks
    ]
    lines = table(rows, [Column(least=15), Column(), Column()], width)
    marks = ["  ", *("* " if one.id == last_used else "  " for one in clocks)]
    return [Text(mark).append_text(line[2:]) for mark, line in zip(marks, lines, strict=True)]


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--yes", is_flag=True, help="Do not ask.")
@shared_options
@pass_session
def delete(session: Session, ids: Sequence[str], yes: bool) -> None:
    """Delete clocks, for good; at a terminal only after asking.

    \b
    tickover clock delete
    tickover clock delete 5597fdf1 903ac1d4 --yes
    """
    deleted: list[str] = []
    with session.signed_in() as server:
        # All are known before the first is deleted, so that a slip deletes nothing.
        meant = list(dict.fromkeys(chosen(session, server, id) for id in ids or (None,)))
        if not yes and sys.stdin.isatty():
            _ask(meant)
        try:
            for id in meant:
                server.delete_clock(id)
                deleted.append(id)
                forget(session, id)
        finally:
            # What is deleted is said, even if the next one could not be.
            if deleted:
                session.output.say({"deleted": deleted}, *(f"✓ Deleted {id}" for id in deleted))


def _ask(ids: Sequence[str]) -> None:
    what = formatting.short_id(ids[0]) if len(ids) == 1 else formatting.count(len(ids), "clock")
    click.confirm(f"Delete {what} for good?", abort=True, err=True)
