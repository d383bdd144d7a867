"""Selects the clock of a command: by full ID, by part of an ID, by name, or the last used one."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tickover.api.limits import MAX_CLOCK_NAME
from tickover.cli import formatting
from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.cli_run import CliRun

if TYPE_CHECKING:
    from tickover.client import Tickover

_PREFIX: Final = "clock_"
_UUID: Final = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MIN_LENGTH: Final = 4
_MAX_LISTED: Final = 3
_HINT: Final = "List your clocks: tickover clock list"


@contextmanager
def selected_clock(run: CliRun, id: str | None) -> Iterator[tuple["Tickover", str]]:
    """Open a client, and select a clock. If the block succeeds, the clock is the default of later commands."""
    with run.signed_in_client() as client:
        clock_id = resolve_clock_id(run, client, id)
        try:
            yield client, clock_id
        except ValueError as error:
            # The client rejected a value.
            raise CliError(Exit.WRONG_COMMAND, formatting.sentence(error)) from None
        remember_clock(run, clock_id)


def resolve_clock_id(run: CliRun, client: "Tickover", id: str | None) -> str:
    """Return the full ID of the selected clock. Raise `CliError` unless exactly one matches."""
    if id is None:
        run.uses_last_clock = True
        if last := run.profile.clock:
            return last
        message = f"No clock is selected at {run.url}. Pass the ID or the name of a clock."
        raise CliError(Exit.WRONG_COMMAND, message, f"{_HINT}. Create one: tickover clock create salary-and-rent")
    # Users can paste shortened IDs such as clock_…5597fdf1.
    part = id.removeprefix(_PREFIX).lstrip("….~").lower()
    if _UUID.fullmatch(part):
        return f"{_PREFIX}{part}"
    matches = [clock.id for clock in client.list_clocks(name=id)] if 1 <= len(id) <= MAX_CLOCK_NAME else []
    if not matches and len(part) >= _MIN_LENGTH:
        ids = [clock.id for clock in client.list_clocks()]
        matches = [each for each in ids if each.removeprefix(_PREFIX).startswith(part) or each.endswith(part)]
    if not matches:
        message = f"'{id}' isn't the name of one of your clocks, or at least {_MIN_LENGTH} characters of an ID."
        raise CliError(Exit.NOT_FOUND, message, _HINT)
    if len(matches) > 1:
        number = formatting.count(len(matches), "clock")
        examples = ", ".join(map(formatting.short_id, matches[:_MAX_LISTED]))
        raise CliError(Exit.WRONG_COMMAND, f"'{id}' matches {number}.", f"Use more of an ID: {examples}")
    return matches[0]


def remember_clock(run: CliRun, id: str) -> None:
    """Make the clock the default of later commands."""
    try:
        if run.profile.clock != id:
            run.credentials.update(run.url, clock=id)
    except CliError as error:
        # The command itself succeeded.
        run.output.note(f"Can't save this clock as the default. {error.message}")


def forget_clock(run: CliRun, id: str) -> None:
    if run.profile.clock == id:
        run.credentials.update(run.url, clock="")
