"""A least-recently-used cache with a limit on the total size of its values."""

from collections import OrderedDict
from typing import Generic, TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")


class LruCache(Generic[_K, _V]):
    """Removes the least recently used values when their total size exceeds `limit`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._entries: OrderedDict[_K, tuple[_V, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: _K) -> _V | None:
        found = self._entries.get(key)
        if found is None:
            return None
        self._entries.move_to_end(key)
        return found[0]

    def put(self, key: _K, value: _V, size: int = 1) -> None:
        """Add or replace a value. A value larger than the limit empties the cache."""
        self.remove(key)
        self._entries[key] = value, size
        self._size += size
        while self._size > self._limit:
            self._size -= self._entries.popitem(last=False)[1][1]

    def remove(self, key: _K) -> None:
        """Remove a value, if it is there."""
        if key in self._entries:
            self._size -= self._entries.pop(key)[1]

    def clear(self) -> None:
        self._entries.clear()
        self._size = 0
