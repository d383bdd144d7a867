"""The last calls that apps made with connections. They are stored once a second, so that no call waits for it."""

from collections import defaultdict
from collections.abc import Callable
from typing import Final

from tickover.api.connections import ConnectionCall
from tickover.api.limits import MAX_CONNECTION_CALLS
from tickover.api.timestamps import Instant
from tickover.server.storage.store import Store

FLUSH_SECONDS: Final = 1.0


class CallLog:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._new: defaultdict[bytes, list[ConnectionCall]] = defaultdict(list)
        """Calls that aren't stored yet, oldest first, by the key of the connection."""

    def add(self, key: bytes, call: ConnectionCall) -> None:
        calls = self._new[key]
        calls.append(call)
        del calls[:-MAX_CONNECTION_CALLS]

    async def flush(self, now: Callable[[], Instant]) -> None:
        """Store all calls."""
        for key in list(self._new):
            await self.store(key, now())

    async def store(self, key: bytes, now: Instant) -> None:
        """Store the calls of a connection. A failure loses them."""
        if calls := self._new.pop(key, None):
            await self._store.add_bank_calls(key, calls, now)
