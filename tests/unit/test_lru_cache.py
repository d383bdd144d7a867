"""The LRU cache."""

from hypothesis import given
from hypothesis import strategies as st

from tickover.server.lru_cache import LruCache

_acts = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["get", "remove"]), st.integers(0, 5), st.just(0)),
        st.tuples(st.just("put"), st.integers(0, 5), st.integers(0, 12)),
    ),
    max_size=60,
)


@given(acts=_acts, limit=st.integers(0, 20))
def test_cache_equals_model(acts: list[tuple[str, int, int]], limit: int) -> None:
    cache: LruCache[int, int] = LruCache(limit)
    newest_last: list[tuple[int, int, int]] = []
    for number, (act, key, size) in enumerate(acts):
        [*found] = [stored for stored in newest_last if stored[0] == key]
        if act == "get":
            assert cache.get(key) == (found[0][1] if found else None)
            newest_last = [stored for stored in newest_last if stored[0] != key] + found
        elif act == "remove":
            cache.remove(key)
            newest_last = [stored for stored in newest_last if stored[0] != key]
        else:
            cache.put(key, number, size)
            newest_last = [stored for stored in newest_last if stored[0] != key] + [(key, number, size)]
            while sum(size for _, _, size in newest_last) > limit:
                del newest_last[0]
    for key in range(6):
        assert cache.get(key) == next((value for stored, value, _ in newest_last if stored == key), None)
