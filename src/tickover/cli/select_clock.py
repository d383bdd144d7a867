"""Which clock is meant: the one that was named in full or by an end of its id, or the one that was used last."""

import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from tickover.cli import formatting
from tickover.cli.errors import Exit, Trouble
from tickover.cli.session import Session

if TYPE_CHECKING:
    from tickover.client import Tickover

_PREFIX: Final = "clock_"
_WHOLE: Final = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FEWEST: Final = 4
_LONGEST: Final = 36
_CUT_MARKS: Final = "….~"


def chosen(session: Session, server: "Tickover", given: str | None) -> str:
    """The id of the clock that is meant; Trouble when none is, or several could be."""
    if given is None:
        return _last_used(session)
    # Shortened ids, as pictures show them, can be copied back.
    part = given.removeprefix(_PREFIX).lstrip(_CUT_MARKS).lower()
    if _WHOLE.fullmatch(part):
        return f"{_PREFIX}{part}"
    if len(part) > _LONGEST:
        return given
    if len(part) < _FEWEST:
        raise Trouble(Exit.WRONG_COMMAND, f"'{given}' is too little of an id; give {_FEWEST} characters or more.")
    return _only_one(server, given, part)


def _last_used(session: Session) -> str:
    last = session.kept.clock
    if not last:
        raise Trouble(
            Exit.WRONG_COMMAND,
            f"No clock is in use here at {session.url}, so name one.",
            "Make one with: tickover clock create, or see which there are with: tickover clock list",
        )
    return last


def _only_one(server: "Tickover", given: str, part: str) -> str:
    fitting = [
        summary.id
        for summary in server.list_clocks()
        if summary.id.removeprefix(_PREFIX).startswith(part) or summary.id.endswith(part)
    ]
    if not fitting:
        raise Trouble(
            Exit.GONE,
            f"No clock of yours has an id that begins or ends with '{given}'.",
            "See which there are with: tickover clock list",
        )
    if len(fitting) > 1:
        several = formatting.count(len(fitting), "clock")
        raise Trouble(Exit.WRONG_COMMAND, f"'{given}' fits {several}; give more of the id.")
    return fitting[0]


def remember(session: Session, id: str) -> None:
    """Have this clock be the one that is meant when none is named."""
    try:
        if session.kept.clock != id:
            session.credentials.change(session.url, lambda kept: replace(kept, clock=id))
    except Trouble as trouble:
        # What was asked for is done all the same.
        session.output.remark(f"The clock is not remembered: {trouble.sentence}")


def forget(session: Session, id: str) -> None:
    if session.kept.clock == id:
        session.credentials.change(session.url, lambda kept: replace(kept, clock=""))
