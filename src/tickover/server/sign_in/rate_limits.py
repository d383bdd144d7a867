"""Token buckets, which limit the rate of calls of each client network."""

from datetime import timedelta
from math import ceil

from tickover.api.timestamps import Instant
from tickover.server.lru_cache import LruCache

_OUT_OF_ORDER = timedelta(minutes=10)
_MAX_CLIENTS = 50_000
"""Buckets in memory. A bucket that was unused for longest is likely full again anyway."""


class Buckets:
    """The buckets of this process. They keep floods of calls away from the database.

    Limits that must hold across processes, or against attackers with many addresses, are in the database.
    """

    def __init__(self, burst: int, refill: float) -> None:
        self._burst = burst
        self._refill = refill
        self._levels: LruCache[str, tuple[float, Instant]] = LruCache(_MAX_CLIENTS)

    def take(self, client: str, now: Instant) -> int:
        """Take one token from the client's bucket. Return 0, or the seconds to wait if the bucket is empty."""
        if not self._burst or not self._refill:
            return 0
        level, since = self._levels.get(client) or (float(self._burst), now)
        # Concurrent calls can arrive out of order. A longer step back means that the wall clock was set back.
        if since - _OUT_OF_ORDER < now < since:
            now = since
        passed = max(0.0, (now - since).total_seconds())
        level = min(float(self._burst), level + passed * self._refill)
        admitted = level >= 1
        self._levels.put(client, (level - 1 if admitted else level, now))
        return 0 if admitted else max(1, ceil((1 - level) / self._refill))
