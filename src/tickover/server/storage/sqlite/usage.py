"""Caches what owners use of their quotas, so that their clocks are seldom counted."""

from typing import Any

import apsw

from tickover.server.lru_cache import LruCache
from tickover.server.storage.rules.steps import UsageChange

_MAX_OWNERS = 10_000


class UsageCache:
    """The number and size of owners' live clocks.

    They are exact, because only this process creates and changes clocks in the file, and a rollback empties the cache.
    They are too high when the oldest clock has expired, or after a deletion.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._known: LruCache[bytes, tuple[int, int, bytes | None]] = LruCache(_MAX_OWNERS)
        """The clocks, their bytes, and the key of the oldest one. Without a key, they may be too high."""
        db.set_rollback_hook(self._known.clear)

    def get(self, owner: bytes, min_live_key: bytes, *, exact: bool) -> tuple[int, int, bytes | None] | None:
        known = self._known.get(owner)
        if known is None or (exact and (known[2] is None or known[2] < min_live_key)):
            return None
        return known

    def put(self, owner: bytes, counted: Any) -> None:
        self._known.put(owner, tuple(counted))

    def change(self, change: UsageChange) -> None:
        if known := self._known.get(change.owner):
            clocks, size, oldest = known
            oldest = min(oldest, change.oldest) if oldest and change.oldest else None
            self._known.put(change.owner, (clocks + change.clocks, size + change.bytes, oldest))
