"""How many clocks an owner may still make, without counting them for each new one."""

from typing import Any, TypeVar

import apsw

_MOST_OWNERS = 10_000
_K = TypeVar("_K")
_V = TypeVar("_V")


class Tally:
    """For each owner, a number that its living clocks do not exceed.

    It is kept in memory, which one server on one file may do: its clocks are made here, and otherwise only grow fewer.
    Where the number says that there may be no room, they are counted.
    """

    def __init__(self) -> None:
        self._at_most: dict[bytes, int] = {}
        self._full: dict[tuple[bytes, int], bytes] = {}
        """Of owners that had no room for as many, the oldest clock: until it has expired, they have none."""

    def take_place(self, db: apsw.Connection, owner: bytes, living_from: bytes, most: int) -> bytes | None:
        """Take a place for one more clock; if there is none, the key of the oldest living one."""
        at_most = self._at_most.get(owner, most)
        if at_most >= most:
            oldest = self._full.get((owner, most))
            if oldest is not None and oldest >= living_from:
                return oldest
            at_most, oldest = _count(db, owner, living_from)
            if at_most >= most:
                return oldest
        _remember(self._at_most, owner, at_most + 1)
        return None

    def note_full(self, owner: bytes, most: int, oldest: bytes) -> None:
        """Remember that there was no place; not before what was counted is on the disk, or it may be undone."""
        _remember(self._full, (owner, most), oldest)

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
