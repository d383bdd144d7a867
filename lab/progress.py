"""Shows the progress of a run: one line that changes on a terminal, plain lines in a log."""

import sys
import time
from typing import TextIO

_PLAIN_LINE_SECONDS = 10.0
_UPDATE_SECONDS = 20.0
_CLEAR_LINE = "\r\033[K"


class Progress:
    """Shows the current step, and the time that is left of the planned seconds of all parts."""

    def __init__(self, out: TextIO = sys.stderr) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._planned: dict[str, float] = {}
        self._done: dict[str, float] = {}
        self._started = time.monotonic()
        self._last_line = float("-inf")

    def plan(self, part: str, seconds: float) -> None:
        self._planned[part] = seconds

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    @property
    def minutes_left(self) -> float:
        done = sum(self._done.values())
        # If the run was slower than planned so far, it will stay so.
        pace = max(1.0, self.elapsed / done) if done > _UPDATE_SECONDS else 1.0
        return max(0.0, sum(self._planned.values()) - done) * pace / 60

    def show_step(self, what: str, part: str = "", share: float = 0.0) -> None:
        """Show the current step; `share` is the finished share of a planned part."""
        if part:
            self._done[part] = share * self._planned[part]
        left = f"{self.minutes_left:.1f} min left" if self._planned else f"{self.elapsed / 60:.1f} min"
        if self._is_terminal:
            self._out.write(f"{_CLEAR_LINE}{left}: {what[:100]}")
        elif time.monotonic() - self._last_line > _PLAIN_LINE_SECONDS:
            self._last_line = time.monotonic()
            self._out.write(f"{left}: {what}\n")
        self._out.flush()

    def print_line(self, line: str) -> None:
        """Print a line that stays."""
        self._out.write(f"{_CLEAR_LINE if self._is_terminal else ''}{line}\n")
        self._out.flush()

    def end(self) -> None:
        if self._is_terminal:
            self._out.write(_CLEAR_LINE)
            self._out.flush()
