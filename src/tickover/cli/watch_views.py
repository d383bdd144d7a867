"""Views of a watched clock: the whole screen, or one line per change."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from rich.console import Group
from rich.live import Live
from rich.text import Text

from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.errors import CliError
from tickover.cli.output import report_error
from tickover.cli.render.clock import render_advance, render_clock, summarize, upcoming
from tickover.cli.render.items import advance_items
from tickover.cli.render.lines import INDENT, NOW, truncate
from tickover.cli.session import Session
from tickover.client import AdvanceResult, Snapshot
from tickover.client.clocks import diff_snapshots

_SIGNAL_EXIT: Final = 128
_RETRYING: Final = "Retrying until it responds. Press Ctrl-C to stop."


class View(Protocol):
    """Shows a clock while it is watched."""

    def show(self, snapshot: Snapshot) -> None:
        """Show the clock. The server has responded."""

    def show_outage(self, error: CliError) -> None:
        """Show that the server is unavailable."""


@contextmanager
def open_view(session: Session) -> Iterator[View]:
    """Open a full-screen view at a terminal, and a line view elsewhere."""
    if session.output.wants_json or not session.output.is_terminal or session.output.console.is_dumb_terminal:
        yield _LineView(session)
        return
    # The alternate screen leaves the user's screen untouched.
    live = Live(
        console=session.output.console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
    )
    with _exit_on_signals(), live:
        yield _ScreenView(session, live)


@contextmanager
def _exit_on_signals() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into an exit that restores the terminal."""
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda number, _: sys.exit(_SIGNAL_EXIT + number)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _ScreenView:
    """Redraws the whole screen."""

    def __init__(self, session: Session, live: Live) -> None:
        self._session = session
        self._live = live
        self._last: Snapshot | None = None
        self._advance: AdvanceResult | None = None

    def show(self, snapshot: Snapshot) -> None:
        if self._last is not None and snapshot != self._last:
            self._advance = diff_snapshots(self._last, snapshot)
        self._last = snapshot
        self._draw(snapshot, "Watching. Press Ctrl-C to stop.")

    def show_outage(self, error: CliError) -> None:
        assert self._last is not None, "the first request succeeded"
        self._draw(self._last, f"{error.message} Retrying.")

    def _draw(self, snapshot: Snapshot, status: str) -> None:
        output, now = self._session.output, self._session.now()
        width, height = output.console.size
        lines = (
            render_clock(snapshot, width, now)
            if self._advance is None
            else render_advance(snapshot, self._advance.before, advance_items(self._advance), width, now)
        )
        status_line = truncate(Text(f"{INDENT}{sanitize(status)}", NOW), width)
        shown = [*lines[: height - 3], Text(), status_line]
        self._live.update(Group(*map(output.drawable, shown)), refresh=True)


class _LineView:
    """Writes one line per change."""

    def __init__(self, session: Session) -> None:
        self._output = session.output
        self._last: Snapshot | None = None
        self._is_unavailable = False

    def show(self, snapshot: Snapshot) -> None:
        if self._is_unavailable:
            self._output.note("The server is back.")
        self._is_unavailable = False
        if snapshot != self._last:
            self._write(snapshot)
        self._last = snapshot

    def show_outage(self, error: CliError) -> None:
        if not self._is_unavailable:
            retrying = CliError(error.exit, error.message, _RETRYING, reason=error.reason)
            report_error(retrying, as_json=self._output.wants_json)
        self._is_unavailable = True

    def _write(self, snapshot: Snapshot) -> None:
        if self._output.wants_json:
            self._output.write_json_line(snapshot)
            return
        news = [] if self._last is None else [summarize(advance_items(diff_snapshots(self._last, snapshot)))]
        parts = [formatting.timestamp(snapshot.frozen_time), *news, upcoming(snapshot)]
        self._output.write({}, "  ".join(parts))
