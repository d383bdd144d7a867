"""Selects the clock of a command: by full ID, by part of an ID, by name, or the last used one."""

import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from tickover.cli import formatting
from tickover.cli.errors import CliError, Exit
from tickover.cli.session import Session

if TYPE_CHECKING:
    from tickover.client import Tickover

_PREFIX: Final = "clock_"
_UUID: Final = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MIN_LENGTH: Final = 4
_MAX_LISTED: Final = 3
_ELLIPSES: Final = "….~"


def resolve_clock_id(session: Session, client: "Tickover", id: str | None) -> str:
    """Return the full ID of the selected clock. Raise `CliError` unless exactly one matches."""
    if id is None:
        return _last_used(session)
    # Users can paste shortened IDs such as clock_…5597fdf1.
    part = id.removeprefix(_PREFIX).lstrip(_ELLIPSES).lower()
    if _UUID.fullmatch(part):
        return f"{_PREFIX}{part}"
    return _find(client, id, part)


def _last_used(session: Session) -> str:
    id = session.profile.clock
    if not id:
        raise CliError(
            Exit.WRONG_COMMAND,
            f"No clock is selected at {session.url}. Pass the ID or the name of a clock.",
            "List your clocks: tickover clock list. Create one: tickover clock create salary-and-rent",
        )
    session.uses_last_clock = True
    return id


def _find(client: "Tickover", id: str, part: str) -> str:
    """Return the clock that has this name, or else an ID that starts or ends with `part`."""
    clocks = list(client.list_clocks())
    matches = [clock.id for clock in clocks if clock.name == id]
    if not matches and len(part) < _MIN_LENGTH:
        raise CliError(
            Exit.WRONG_COMMAND,
            f"None of your clocks has the name '{id}', and it is too short for an ID.",
            f"Use at least {_MIN_LENGTH} characters of the ID. List your clocks: tickover clock list",
        )
    if not matches:
        matches = [
            clock.id for clock in clocks if clock.id.removeprefix(_PREFIX).startswith(part) or clock.id.endswith(part)
        ]
    if not matches:
        raise CliError(
            Exit.NOT_FOUND,
            f"None of your clocks has the name '{id}', or an ID that starts or ends with it.",
            "List your clocks: tickover clock list",
        )
    if len(matches) > 1:
        number = formatting.count(len(matches), "clock")
        ids = ", ".join(map(formatting.short_id, matches[:_MAX_LISTED]))
        raise CliError(Exit.WRONG_COMMAND, f"'{id}' matches {number}.", f"Use more of an ID: {ids}")
    return matches[0]


def remember_clock(session: Session, id: str) -> None:
    """Make the clock the default of later commands."""
    try:
        if session.profile.clock != id:
            session.credentials.update(session.url, lambda profile: replace(profile, clock=id))
    except CliError as error:
        # The command itself succeeded.
        session.output.note(f"Can't save this clock as the default. {error.message}")


def forget_clock(session: Session, id: str) -> None:
    if session.profile.clock == id:
        session.credentials.update(session.url, lambda profile: replace(profile, clock=""))
