"""How many clocks an owner may still make, without counting them for each new one."""

from typing import Any, TypeVar

import apsw
from msgspec import Struct

_MOST_OWNERS = 10_000
_K = TypeVar("_K")
_V = TypeVar("_V")


class Full(Struct, frozen=True):
    """An owner had `most` clocks that lived, and this was the oldest."""

    most: int
    oldest: bytes
    counted: bool
    """In the database just now; otherwise it was remembered."""


class Tally:
    """For each owner, a number that its living clocks do not exceed.

    It is kept in memory, which one server on one file may do: its clocks are made here, and otherwise only grow fewer.
    Where the number says that there may be no room, they are counted.
    """

    def __init__(self) -> None:
        self._at_most: dict[bytes, int] = {}
        self._full: dict[bytes, Full] = {}
        """Owners that had no room. Until their oldest clock has expired, or they delete one, they have none."""

    def take_place(self, db: apsw.Connection, owner: bytes, living_from: bytes, most: int) -> Full | None:
        """Take a place for one more clock; if there is none, what is known of that."""
        at_most = self._at_most.get(owner, most)
        if at_most >= most:
            full = self._full.get(owner)
            if full is not None and full.most == most and full.oldest >= living_from:
                return Full(most, full.oldest, counted=False)
            at_most, oldest = _count(db, owner, living_from)
            if at_most >= most:
                return Full(most, oldest, counted=True)
        _remember(self._at_most, owner, at_most + 1)
        return None

    def note_full(self, owner: bytes, full: Full) -> None:
        """Remember that there was no place; not before what was counted is on the disk, or it may be undone.

        What was only remembered is not noted anew: a clock may have been deleted since.
        """
        if full.counted:
            _remember(self._full, owner, full)

    def note_deleted(self, owner: bytes) -> None:
        """There may be a place again. To be told once the deletion is on the disk, after all that was before it."""
        self._full.pop(owner, None)

    def forget(self, owner: bytes) -> None:
        """Count anew when it is asked for next, because places were taken unseen."""
        self._at_most.pop(owner, None)


def _remember(tally: dict[_K, _V], key: _K, value: _V) -> None:
    if len(tally) >= _MOST_OWNERS:
        tally.clear()
    tally[key] = value


def _count(db: apsw.Connection, owner: bytes, living_from: bytes) -> tuple[int, bytes]:
    found: Any = db.execute(
        "select count(*), min(key) from clocks where owner = ? and key >= ?", (owner, living_from)
    ).fetchone()
    return found[0], found[1]
