"""Shows the progress of a run: one line that changes on a terminal, plain lines in a log."""

import sys
import time
from typing import TextIO

_PLAIN_LINE_SECONDS = 10.0
_CLEAR_LINE = "\r\033[K"


class Progress:
    def __init__(self, out: TextIO = sys.stderr) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._started = time.monotonic()
        self._last_line = float("-inf")
        self.step = ""
        """The last step that was shown."""

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    def show_step(self, step: str) -> None:
        self.step = step
        if self._is_terminal:
            self._out.write(f"{_CLEAR_LINE}{self.elapsed / 60:.1f} min: {step[:100]}")
        elif time.monotonic() - self._last_line > _PLAIN_LINE_SECONDS:
            self._last_line = time.monotonic()
            self._out.write(f"{self.elapsed / 60:.1f} min: {step}\n")
        self._out.flush()

    def print_line(self, line: str) -> None:
        """Print a line that stays."""
        self._out.write(f"{_CLEAR_LINE if self._is_terminal else ''}{line}\n")
        self._out.flush()

    def end(self) -> None:
        if self._is_terminal:
            self._out.write(_CLEAR_LINE)
            self._out.flush()
