"""Checks quotas on SQLite without counting an owner's clocks for each new one."""

from typing import Any, Literal

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


class Count(Struct, frozen=True):
    """The exact usage of an owner, counted in the database, and the key of the oldest clock."""

    usage: Usage
    oldest: bytes | None


class OverQuota(Struct, frozen=True):
    """A new clock would exceed the quota."""

    result: QuotaExceeded
    count: Count | None
    """None if the cached bounds decided."""


class ClockQuota:
    """Caches an upper and a lower bound of each owner's usage.

    The cache is valid because only this process creates clocks in the file. Expiry and deletion only reduce usage.
    Clocks are counted only if the bounds don't decide.
    """

    def __init__(self) -> None:
        self._upper_bounds: LruCache[bytes, Usage] = LruCache(_MAX_OWNERS)
        self._lower_bounds: LruCache[bytes, Count] = LruCache(_MAX_OWNERS)
        """Valid until the oldest clock of the count expires, or the owner deletes a clock."""

    def reserve(
        self, db: apsw.Connection, owner: bytes, key: bytes, more: Usage, min_live_key: bytes, quota: Quota
    ) -> OverQuota | None:
        """Reserve quota for a new or growing clock, and return None. Or return why the clock doesn't fit."""
        upper_bound = self._upper_bounds.get(owner)
        usage = upper_bound and upper_bound.plus(more)
        if usage is None or usage.exceeded(quota):
            lower_bound = self._lower_bounds.get(owner)
            if (
                lower_bound
                and lower_bound.oldest
                and lower_bound.oldest >= min_live_key
                and (limit := lower_bound.usage.plus(more).exceeded(quota))
            ):
                return OverQuota(QuotaExceeded(limit, lower_bound.oldest), None)
            count = _count(db, owner, min_live_key)
            usage = count.usage.plus(more)
            if limit := usage.exceeded(quota):
                return OverQuota(QuotaExceeded(limit, count.oldest or key), count)
        self._upper_bounds.put(owner, usage)
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
    ) -> OverQuota | None:
        """Reserve quota for an amendment or new names. Return None, or why they don't fit. Less growth always fits."""
        if growth >= min_growth and quota.bytes:
            return self.reserve(db, owner, key, Usage(0, growth), min_live_key, Quota(bytes=quota.bytes))
        self.on_growth(owner, growth)
        return None

    def on_rejected(self, owner: bytes, over: OverQuota) -> None:
        """Cache the count. Call it after the commit, because a rollback would make the count wrong.

        A rejection by cached bounds is not cached again: the owner may have deleted a clock since.
        """
        if over.count is not None:
            self._lower_bounds.put(owner, over.count)

    def on_created(self, owner: bytes, size: int) -> None:
        """Add the clock to the cached count. Call it after the commit."""
        known = self._lower_bounds.get(owner)
        if known is not None:
            self._lower_bounds.put(owner, Count(known.usage.plus(Usage(1, size)), known.oldest))

    def on_growth(self, owner: bytes, growth: int) -> None:
        """Add the growth of a clock to the cached upper bound. A rollback leaves the bound too high, which is valid."""
        known = self._upper_bounds.get(owner)
        if known is not None and growth > 0:
            self._upper_bounds.put(owner, Usage(known.clocks, known.bytes + growth))

    def on_deleted(self, owner: bytes) -> None:
        """Drop the cached count. Call it after a commit that reduces usage, and in the order of commits."""
        self._lower_bounds.remove(owner)

    def on_created_without_quota(self, owner: bytes) -> None:
        """Drop the cached upper bound, because it doesn't include the new clock."""
        self._upper_bounds.remove(owner)


def _count(db: apsw.Connection, owner: bytes, min_live_key: bytes) -> Count:
    found: Any = db.execute(
        "select count(*), coalesce(sum(bytes), 0), min(key) from clocks where owner = ? and key >= ?",
        (owner, min_live_key),
    ).fetchone()
    clocks, size, oldest = found
    return Count(Usage(clocks, size), oldest)
