"""Quotas on SQLite, checked without counting an owner's clocks for each new one."""

from typing import Any, Literal, TypeVar

import apsw
from msgspec import Struct

from tickover.server.storage.store import Quota, QuotaExceeded

_MAX_OWNERS = 10_000
_V = TypeVar("_V")


class Usage(Struct, frozen=True):
    """How many live clocks an owner has, and how many bytes their schedules take."""

    clocks: int
    bytes: int

    def plus(self, size: int) -> "Usage":
        return Usage(self.clocks + 1, self.bytes + size)

    def exceeded(self, quota: Quota) -> Literal["clocks", "bytes"] | None:
        """Which limit of the quota this is above, if any."""
        if quota.clocks and self.clocks > quota.clocks:
            return "clocks"
        return "bytes" if quota.bytes and self.bytes > quota.bytes else None


class Count(Struct, frozen=True):
    """The exact usage of an owner, as it was counted in the database, and the oldest clock in it."""

    usage: Usage
    oldest: bytes | None


class Refusal(Struct, frozen=True):
    exceeded: QuotaExceeded
    count: Count | None
    """None if nothing was counted for it."""


class ClockQuota:
    """For each owner, two bounds of its usage: it is at most the one, and at least the other.

    They are kept in memory, which one server on one file may do: clocks are created here, and otherwise only grow
    fewer. Clocks are counted only if the bounds don't decide.
    """

    def __init__(self) -> None:
        self._at_most: dict[bytes, Usage] = {}
        self._at_least: dict[bytes, Count] = {}
        """Valid until the oldest clock of the count expires, or the owner deletes a clock."""

    def take_place(
        self, db: apsw.Connection, owner: bytes, key: bytes, size: int, min_live_key: bytes, quota: Quota
    ) -> Refusal | None:
        """Take the place of a new clock, and return None, or return why it has none."""
        at_most = self._at_most.get(owner)
        then = at_most and at_most.plus(size)
        if then is None or then.exceeded(quota):
            known = self._at_least.get(owner)
            if (
                known
                and known.oldest
                and known.oldest >= min_live_key
                and (over := known.usage.plus(size).exceeded(quota))
            ):
                return Refusal(QuotaExceeded(over, known.oldest), None)
            count = _count(db, owner, min_live_key)
            then = count.usage.plus(size)
            if over := then.exceeded(quota):
                return Refusal(QuotaExceeded(over, count.oldest or key), count)
        _remember(self._at_most, owner, then)
        return None

    def note_refused(self, owner: bytes, refusal: Refusal) -> None:
        """Remember what was counted. Call it after the commit: until then, what was counted may be undone.

        What was only remembered is not noted anew: a clock may have been deleted since.
        """
        if refusal.count is not None:
            _remember(self._at_least, owner, refusal.count)

    def note_created(self, owner: bytes, size: int) -> None:
        """Add the clock to what was counted. Call it after the commit."""
        known = self._at_least.get(owner)
        if known is not None:
            self._at_least[owner] = Count(known.usage.plus(size), known.oldest)

    def note_deleted(self, owner: bytes) -> None:
        """There may be a place again. Call it after the commit of the deletion, after all that was before it."""
        self._at_least.pop(owner, None)

    def forget(self, owner: bytes) -> None:
        """Count anew next time, because places were taken unseen."""
        self._at_most.pop(owner, None)


def _remember(tally: dict[bytes, _V], owner: bytes, value: _V) -> None:
    if len(tally) >= _MAX_OWNERS:
        tally.clear()
    tally[owner] = value


def _count(db: apsw.Connection, owner: bytes, min_live_key: bytes) -> Count:
    found: Any = db.execute(
        "select count(*), coalesce(sum(bytes), 0), min(key) from clocks where owner = ? and key >= ?",
        (owner, min_live_key),
    ).fetchone()
    clocks, size, oldest = found
    return Count(Usage(clocks, size), oldest)
