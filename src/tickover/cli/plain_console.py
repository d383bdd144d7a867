"""A console of the library rich that prints text unchanged."""

import os

from rich.console import Console


class PlainConsole(Console):
    """A console without markup, emoji codes and highlighting."""

    def __init__(self) -> None:
        has_colors = not os.environ.get("NO_COLOR")
        super().__init__(color_system="auto" if has_colors else None, markup=False, emoji=False, highlight=False)

    def on_broken_pipe(self) -> None:
        """Raise instead of exiting as rich does. `root.run` handles the error."""
        raise BrokenPipeError
