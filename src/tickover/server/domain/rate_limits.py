"""Token buckets: how much one client may do at once, and how fast it may go on."""

from collections import OrderedDict
from datetime import timedelta
from math import ceil

from tickover.api.timestamps import Instant

_OUT_OF_ORDER = timedelta(minutes=10)
_MAX_CLIENTS = 50_000
"""Beyond this the client that was quiet longest is forgotten; it would find its bucket full, or fuller."""


class Buckets:
    """A bucket for each client, in this process alone: it keeps a flood away from the database.

    What must hold against an attacker with many addresses, or over many processes, is counted in the database.
    """

    def __init__(self, burst: int, refill: float) -> None:
        self._burst = burst
        self._refill = refill
        self._levels: OrderedDict[str, tuple[float, Instant]] = OrderedDict()

    def take(self, client: str, now: Instant) -> int:
        """Take one from the client's bucket: 0, or the whole seconds until there is one again."""
        if not self._burst or not self._refill:
            return 0
        level, since = self._levels.pop(client, (float(self._burst), now))
        # Calls that run side by side may come out of order; only a wall clock that was set back goes back for good.
        if since - _OUT_OF_ORDER < now < since:
            now = since
        passed = max(0.0, (now - since).total_seconds())
        level = min(float(self._burst), level + passed * self._refill)
        admitted = level >= 1
        self._levels[client] = (level - 1 if admitted else level, now)
        if len(self._levels) > _MAX_CLIENTS:
            self._levels.popitem(last=False)
        return 0 if admitted else max(1, ceil((1 - level) / self._refill))
