"""Checks quotas on SQLite without counting an owner's clocks for each new one."""

from typing import Any, Literal

import apsw
from msgspec import Struct

from tickover.server.lru_cache import LruCache
from tickover.server.storage.store import Quota, QuotaExceeded

_MAX_OWNERS = 10_000
_NO_QUOTA = Quota()


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

    An upper bound is valid because only this process creates clocks in the file. Expiry, deletion and rollbacks only
    make it higher than the usage. The exact count of an owner at the limit makes further rejections cheap. It is valid
    until the owner's clocks change, the oldest one expires, or a transaction is rolled back.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._upper_bounds: LruCache[bytes, Usage] = LruCache(_MAX_OWNERS)
        self._counts: LruCache[bytes, tuple[Usage, bytes | None]] = LruCache(_MAX_OWNERS)
        db.set_rollback_hook(self._counts.clear)

    def reserve(
        self, db: apsw.Connection, owner: bytes, key: bytes, more: Usage, min_live_key: bytes, quota: Quota
    ) -> QuotaExceeded | None:
        """Reserve quota for a new or growing clock, and return None. Or return why the clock doesn't fit."""
        bound = self._upper_bounds.get(owner)
        if quota != _NO_QUOTA and (bound is None or bound.plus(more).exceeded(quota)):
            bound, oldest = self._count(db, owner, min_live_key)
            if limit := bound.plus(more).exceeded(quota):
                return QuotaExceeded(limit, oldest or key)
        self.on_change(owner)
        if bound is not None:
            self._upper_bounds.put(owner, bound.plus(more))
        return None

    def reserve_growth(  # noqa: PLR0913, PLR0917 - like `reserve`
        self,
        db: apsw.Connection,
        owner: bytes,
        key: bytes,
        growth: int,
        min_live_key: bytes,
        quota: Quota,
        min_growth: int = 1,
    ) -> QuotaExceeded | None:
        """Reserve quota for an amendment or new names. Return None, or why they don't fit. Less growth always fits."""
        limits = Quota(bytes=quota.bytes) if growth >= min_growth else _NO_QUOTA
        return self.reserve(db, owner, key, Usage(0, max(growth, 0)), min_live_key, limits)

    def on_change(self, owner: bytes) -> None:
        """Forget the count. Call it for each created, changed or deleted clock."""
        self._counts.remove(owner)

    def _count(self, db: apsw.Connection, owner: bytes, min_live_key: bytes) -> tuple[Usage, bytes | None]:
        """Return the exact usage of an owner, and the key of the oldest clock."""
        known = self._counts.get(owner)
        if known is not None and known[1] is not None and known[1] >= min_live_key:
            return known
        found: Any = db.execute(
            "select count(*), coalesce(sum(bytes), 0), min(key) from clocks where owner = ? and key >= ?",
            (owner, min_live_key),
        ).fetchone()
        clocks, size, oldest = found
        self._counts.put(owner, (Usage(clocks, size), oldest))
        return Usage(clocks, size), oldest
