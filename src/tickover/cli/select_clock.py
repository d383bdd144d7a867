"""Selects the clock of a command: by full ID, by part of an ID, or the last used one."""

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
_MAX_LENGTH: Final = 36
_ELLIPSES: Final = "….~"


def resolve_clock_id(session: Session, client: "Tickover", id: str | None) -> str:
    """Return the full ID of the selected clock. Raise `CliError` unless exactly one matches."""
    if id is None:
        return _last_used(session)
    # Users can paste shortened IDs such as clock_…5597fdf1.
    part = id.removeprefix(_PREFIX).lstrip(_ELLIPSES).lower()
    if _UUID.fullmatch(part):
        return f"{_PREFIX}{part}"
    if len(part) > _MAX_LENGTH:
        return id
    if len(part) < _MIN_LENGTH:
        raise CliError(Exit.WRONG_COMMAND, f"'{id}' is too short. Use at least {_MIN_LENGTH} characters of the ID.")
    return _find_by_part(client, id, part)


def _last_used(session: Session) -> str:
    id = session.profile.clock
    if not id:
        raise CliError(
            Exit.WRONG_COMMAND,
            f"No clock is selected at {session.url}. Pass the ID of a clock.",
            "List your clocks: tickover clock list. Create one: tickover clock create salary-and-rent",
        )
    session.uses_last_clock = True
    return id


def _find_by_part(client: "Tickover", id: str, part: str) -> str:
    matches = [
        summary.id
        for summary in client.list_clocks()
        if summary.id.removeprefix(_PREFIX).startswith(part) or summary.id.endswith(part)
    ]
    if not matches:
        raise CliError(
            Exit.NOT_FOUND,
            f"None of your clocks has an ID that starts or ends with '{id}'.",
            "List your clocks: tickover clock list",
        )
    if len(matches) > 1:
        clocks = formatting.count(len(matches), "clock")
        raise CliError(Exit.WRONG_COMMAND, f"'{id}' matches {clocks}. Use more characters of the ID.")
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
