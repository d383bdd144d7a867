"""Shows the progress of a run: one line that changes on a terminal, plain lines in a log."""

import sys
import time
from typing import TextIO

_PLAIN_LINE_SECONDS = 10.0
_UPDATE_SECONDS = 20.0
_CLEAR_LINE = "\r\033[K"


class Progress:
    """Compares the planned seconds of each part with the finished steps."""

    def __init__(self, out: TextIO = sys.stderr) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._planned: dict[str, float] = {}
        self._steps: dict[str, int] = {}
        self._done_seconds: dict[str, float] = {}
        self._done_steps = 0
        self._started = time.monotonic()
        self._last_line = float("-inf")

    def plan(self, part: str, steps: int, seconds: float) -> None:
        """Set, or correct, the size of a part."""
        self._steps[part] = steps
        self._planned[part] = seconds

    def planned(self, part: str) -> float:
        return self._planned.get(part, 0)

    @property
    def planned_seconds(self) -> float:
        return sum(self._planned.values())

    @property
    def steps(self) -> int:
        return sum(self._steps.values())

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    def show_step(self, what: str, part: str = "", share: float = 0.0) -> None:
        """Show the current step; `share` is the finished share of a long step."""
        if part:
            self._done_seconds[part] = max(self._done_seconds.get(part, 0), share * self._planned.get(part, 0))
        self._show(what)

    def count_steps(self, part: str, steps: int = 1) -> None:
        """Count finished steps of a part."""
        self._done_steps += steps
        if self._steps.get(part):
            each = self._planned[part] / self._steps[part]
            self._done_seconds[part] = min(self._planned[part], self._done_seconds.get(part, 0) + steps * each)

    def end_of(self, part: str) -> None:
        self._done_seconds[part] = self._planned.get(part, 0)

    @property
    def minutes_left(self) -> float:
        done = sum(self._done_seconds.values())
        # If the run was slower than planned so far, it will stay so.
        pace = max(1.0, self.elapsed / done) if done > _UPDATE_SECONDS else 1.0
        return max(0.0, self.planned_seconds - done) * pace / 60

    def _show(self, what: str) -> None:
        line = f"{self._done_steps} of {self.steps}, {self.minutes_left:.1f} min left: {what}"
        if self._is_terminal:
            self._out.write(f"{_CLEAR_LINE}{line[:110]}")
        elif time.monotonic() - self._last_line > _PLAIN_LINE_SECONDS:
            self._last_line = time.monotonic()
            self._out.write(f"{line}\n")
        self._out.flush()

    def print_line(self, line: str) -> None:
        """Print a line that stays."""
        self._out.write(f"{_CLEAR_LINE if self._is_terminal else ''}{line}\n")
        self._out.flush()

    def end(self) -> None:
        if self._is_terminal:
            self._out.write(_CLEAR_LINE)
            self._out.flush()
