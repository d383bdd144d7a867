"""Checks quotas on SQLite without counting an owner's clocks for each new one."""

from typing import Literal

import apsw
from msgspec import Struct

from tickover.server.lru_cache import LruCache
from tickover.server.storage.store import Quota, QuotaExceeded

_MAX_OWNERS = 10_000


class Usage(Struct, frozen=True):
    """The number of an owner's live clocks, and the total size of their schedules."""

    clocks: int
    bytes: int

    def plus(self, more: "Usage") -> "Usage":
        return Usage(self.clocks + more.clocks, self.bytes + more.bytes)

    def exceeded(self, quota: Quota) -> Literal["clocks", "bytes"] | None:
        """Return the limit that this usage exceeds, if any."""
        if quota.clocks and self.clocks > quota.clocks:
            return "clocks"
        return "bytes" if quota.bytes and self.bytes > quota.bytes else None


class ClockQuota:
    """Caches the usage of owners, so that their clocks are seldom counted.

    The usage is exact, because only this process creates and changes clocks in the file, and a rollback empties the
    cache. It is too high when the oldest clock has expired, or after a deletion.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._known: LruCache[bytes, tuple[Usage, bytes | None]] = LruCache(_MAX_OWNERS)
        """The usage, and the key of the oldest clock. Without a key, the usage may be too high."""
        db.set_rollback_hook(self._known.clear)

    def reserve(self, owner: bytes, key: bytes, more: Usage, quota: Quota) -> QuotaExceeded | None:
        """Reserve quota for a new or changed clock, and return None. Or return why the clock doesn't fit."""
        known = self._known.get(owner)
        if known is None and not (quota.clocks or quota.bytes):
            return None
        if known is None or known[0].plus(more).exceeded(quota):
            if known is None or known[1] is None or known[1] < quota.min_live_key:
                known = self._count(owner, quota.min_live_key)
            if limit := known[0].plus(more).exceeded(quota):
                self._known.put(owner, known)
                return QuotaExceeded(limit, known[1] or key)
        usage, oldest = known
        self._known.put(owner, (usage.plus(more), oldest and min(oldest, key)))
        return None

    def reserve_growth(
        self, owner: bytes, key: bytes, growth: int, quota: Quota, min_growth: int = 1
    ) -> QuotaExceeded | None:
        """Reserve quota for an amendment or new names. Less growth than `min_growth` always fits."""
        limit = quota.bytes if growth >= min_growth else 0
        return self.reserve(owner, key, Usage(0, growth), Quota(0, limit, quota.min_live_key))

    def on_deleted(self, owner: bytes) -> None:
        known = self._known.get(owner)
        if known is not None:
            self._known.put(owner, (known[0], None))

    def _count(self, owner: bytes, min_live_key: bytes) -> tuple[Usage, bytes | None]:
        """Return the exact usage of an owner, and the key of the oldest clock."""
        clocks, size, oldest = self._db.execute(
            "select count(*), coalesce(sum(bytes), 0), min(key) from clocks where owner = ? and key >= ?",
            (owner, min_live_key),
        ).get
        return Usage(clocks, size), oldest
