"""A little memory: what was used last, up to a total size."""

from collections import OrderedDict
from typing import Generic, TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")


class LruCache(Generic[_K, _V]):
    """Values by their keys; those that were not used for longest make room."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[_K, tuple[_V, int]] = OrderedDict()

    def get(self, key: _K) -> _V | None:
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def put(self, key: _K, value: _V, size: int) -> None:
        """Keep a value of this size; one that is larger than all there is room for is let go at once."""
        if key in self._kept:
            self._size -= self._kept.pop(key)[1]
        self._kept[key] = value, size
        self._size += size
        while self._size > self._limit:
            self._size -= self._kept.popitem(last=False)[1][1]
