"""The command that shows a clock again whenever it has changed, whoever has moved it."""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

import click

from tickover.cli import formatting
from tickover.cli.errors import Exit, Trouble
from tickover.cli.options import shared_options
from tickover.cli.output import tell
from tickover.cli.select_clock import chosen, remember
from tickover.cli.session import Session, pass_session
from tickover.core.errors import Reason

if TYPE_CHECKING:
    from rich.live import Live

    from tickover.client import AdvanceResult, Snapshot, Tickover

_PATIENCE: Final = 5.0
_ENDED: Final = 128
_GOES_ON: Final = "Trying again until it answers. Ctrl-C ends it."


class _View(Protocol):
    """Where what is watched is shown."""

    def show(self, snapshot: "Snapshot") -> None:
        """The server has answered."""

    def miss(self, trouble: Trouble) -> None:
        """The server is away."""


@click.command()
@click.argument("id", required=False)
@click.option("--every", type=click.FloatRange(min=0.1), default=1.0, metavar="SECONDS", help="How often to look.")
@shared_options
@pass_session
def watch(session: Session, id: str | None, every: float) -> None:
    """Show a clock, and again whenever it moves, until Ctrl-C.

    In a pipe, and with --json, every change is a line. A server that goes away meanwhile is waited for.

    \b
    tickover clock watch
    tickover clock watch 5597fdf1 --every 0.2 --json
    """
    with session.signed_in(timeout=_PATIENCE, retries=0) as server:
        meant = chosen(session, server, id)
        first = server.get_clock(meant).snapshot
        remember(session, meant)
        with _view(session) as view:
            view.show(first)
            while True:
                time.sleep(every)
                _look(session, server, meant, view)


def _look(session: Session, server: "Tickover", id: str, view: _View) -> None:
    try:
        with session.telling():
            snapshot = server.get_clock(id).snapshot
    except Trouble as trouble:
        if trouble.reason == Reason.CLOCK_NOT_FOUND:
            raise Trouble(Exit.GONE, "The clock has been deleted.", trouble.hint, reason=trouble.reason) from None
        if trouble.exit != Exit.AWAY:
            raise
        view.miss(trouble)
    else:
        view.show(snapshot)


@contextmanager
def _view(session: Session) -> Iterator[_View]:
    if session.output.wants_json or not session.output.is_terminal or session.output.console.is_dumb_terminal:
        yield _Lines(session)
        return
    from rich.live import Live

    # The other screen of the terminal, so that this one is as it was when we leave.
    live = Live(
        console=session.output.console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
    )
    with _ending_in_order(), live:
        yield _Screen(session, live)


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Have the signals that end a process leave the terminal in order too."""
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda number, _: sys.exit(_ENDED + number)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Screen:
    """The whole terminal, drawn anew at every look."""

    def __init__(self, session: Session, live: "Live") -> None:
        self._session = session
        self._live = live
        self._last: Snapshot | None = None
        self._happened: AdvanceResult | None = None

    def show(self, snapshot: "Snapshot") -> None:
        from tickover.client.clocks import diff_snapshots

        if self._last is not None and snapshot != self._last:
            self._happened = diff_snapshots(self._last, snapshot)
        self._last = snapshot
        self._draw(snapshot, "Watching. Ctrl-C ends it.")

    def miss(self, trouble: Trouble) -> None:
        assert self._last is not None, "the first look was a good one"
        self._draw(self._last, f"{trouble.sentence} Trying again.")

    def _draw(self, snapshot: "Snapshot", remark: str) -> None:
        from rich.console import Group
        from rich.text import Text

        from tickover.cli.render.items import items_in
        from tickover.cli.render.lines import INDENT, NOW, cut
        from tickover.cli.render.picture import advanced, picture

        output, now = self._session.output, self._session.now()
        width, height = output.console.size
        lines = (
            picture(snapshot, width, now)
            if self._happened is None
            else advanced(snapshot, self._happened.before, items_in(self._happened), width, now)
        )
        shown = [*lines[: height - 3], Text(), cut(Text(f"{INDENT}{formatting.safe(remark)}", NOW), width)]
        self._live.update(Group(*map(output.drawable, shown)), refresh=True)


class _Lines:
    """A line for every change."""

    def __init__(self, session: Session) -> None:
        self._output = session.output
        self._last: Snapshot | None = None
        self._is_away = False

    def show(self, snapshot: "Snapshot") -> None:
        if self._is_away:
            self._output.remark("The server is back.")
        self._is_away = False
        if snapshot != self._last:
            self._tell(snapshot)
        self._last = snapshot

    def miss(self, trouble: Trouble) -> None:
        if not self._is_away:
            goes_on = Trouble(trouble.exit, trouble.sentence, _GOES_ON, reason=trouble.reason)
            tell(goes_on, as_json=self._output.wants_json)
        self._is_away = True

    def _tell(self, snapshot: "Snapshot") -> None:
        from tickover.cli.render.items import items_in
        from tickover.cli.render.picture import summed_up, to_come
        from tickover.client.clocks import diff_snapshots

        if self._output.wants_json:
            self._output.line(snapshot)
            return
        news = [] if self._last is None else [summed_up(items_in(diff_snapshots(self._last, snapshot)))]
        parts = [formatting.moment(snapshot.frozen_time), *news, to_come(snapshot)]
        self._output.say({}, "  ".join(parts))
