"""The command `tickover clock watch`."""

import time
from typing import TYPE_CHECKING, Final

import click

from tickover.api.errors import Reason
from tickover.cli.errors import CliError, Exit
from tickover.cli.options import shared_options
from tickover.cli.select_clock import remember_clock, resolve_clock_id
from tickover.cli.session import Session, pass_session

if TYPE_CHECKING:
    from tickover.cli.watch_views import View
    from tickover.client import Tickover

_TIMEOUT_SECONDS: Final = 5.0


@click.command()
@click.argument("id", required=False)
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=1,
    show_default=True,
    metavar="SECONDS",
    help="Interval between requests.",
)
@shared_options
@pass_session
def watch(session: Session, id: str | None, every: float) -> None:
    """Show a clock and update the view whenever the clock changes.

    With --json, or if the output isn't a terminal, print one line per change. If the server becomes unavailable,
    keep retrying. Press Ctrl-C to stop.

    Examples:

    \b
    tickover clock watch
    tickover clock watch 5597fdf1 --every 0.2 --json
    """
    from tickover.cli.watch_views import open_view

    with session.signed_in_client(timeout=_TIMEOUT_SECONDS, retries=0) as client:
        full_id = resolve_clock_id(session, client, id)
        first = client.get_clock(full_id).snapshot
        remember_clock(session, full_id)
        with open_view(session) as view:
            view.show(first)
            while True:
                time.sleep(every)
                _poll(session, client, full_id, view)


def _poll(session: Session, client: "Tickover", id: str, view: "View") -> None:
    try:
        with session.translate_errors():
            snapshot = client.get_clock(id).snapshot
    except CliError as error:
        if error.reason == Reason.CLOCK_NOT_FOUND:
            raise CliError(Exit.NOT_FOUND, "The clock has been deleted.", error.hint, reason=error.reason) from None
        if error.exit != Exit.UNAVAILABLE:
            raise
        view.show_outage(error)
    else:
        view.show(snapshot)
