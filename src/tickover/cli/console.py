"""The terminal as rich writes to it: what was given is shown as it is, and nothing is made of it."""

import os

from rich.console import Console


class PlainConsole(Console):
    """Takes no markup, no emoji codes and no highlights for anything but text."""

    def __init__(self, *, colors: bool) -> None:
        wanted = colors and not os.environ.get("NO_COLOR")
        super().__init__(color_system="auto" if wanted else None, markup=False, emoji=False, highlight=False)

    def on_broken_pipe(self) -> None:
        """Rich would end the process here; it is for `commands.run` to do so."""
        raise BrokenPipeError
