"""The LRU cache."""

from hypothesis import given
from hypothesis import strategies as st

from tickover.server.lru_cache import LruCache


def test_value_can_be_read() -> None:
    cache: LruCache[str, str] = LruCache(10)
    cache.put("a", "first", 4)
    assert (cache.get("a"), cache.get("b")) == ("first", None)


def test_cache_is_full_exactly_at_its_limit() -> None:
    cache: LruCache[str, str] = LruCache(10)
    for key, size in (("a", 4), ("b", 6)):
        cache.put(key, key, size)
    assert [cache.get(key) for key in "ab"] == ["a", "b"]
    cache.put("c", "c", 1)
    assert [cache.get(key) for key in "abc"] == [None, "b", "c"]


def test_least_recently_used_value_is_removed() -> None:
    cache: LruCache[str, str] = LruCache(3)
    for key in "abc":
        cache.put(key, key, 1)
    assert cache.get("a") == "a"
    cache.put("d", "d", 1)
    assert [cache.get(key) for key in "abcd"] == ["a", None, "c", "d"]


def test_large_value_replaces_several() -> None:
    cache: LruCache[str, str] = LruCache(10)
    for key in "abcde":
        cache.put(key, key, 2)
    cache.put("f", "f", 7)
    assert [cache.get(key) for key in "abcdef"] == [None, None, None, None, "e", "f"]


def test_value_over_the_limit_is_not_stored() -> None:
    cache: LruCache[str, str] = LruCache(10)
    cache.put("a", "a", 11)
    assert cache.get("a") is None
    cache.put("a", "a", 10)
    assert cache.get("a") == "a"


def test_new_value_replaces_old_value_and_size() -> None:
    cache: LruCache[str, str] = LruCache(10)
    cache.put("a", "old", 6)
    cache.put("b", "b", 4)
    cache.put("a", "new", 5)
    cache.put("c", "c", 1)
    assert [cache.get(key) for key in "abc"] == ["new", "b", "c"]
    cache.put("a", "newest", 6)
    assert [cache.get(key) for key in "abc"] == ["newest", None, "c"]


def test_removed_value_frees_its_size() -> None:
    cache: LruCache[str, str] = LruCache(2)
    for key in "ab":
        cache.put(key, key, 1)
    for key in "ax":
        cache.remove(key)
    cache.put("c", "c", 1)
    assert [cache.get(key) for key in "abc"] == [None, "b", "c"]


def test_cache_with_limit_0_stores_nothing() -> None:
    cache: LruCache[str, str] = LruCache(0)
    cache.put("a", "a", 1)
    assert cache.get("a") is None


_acts = st.lists(
    st.one_of(
        st.tuples(st.just("get"), st.integers(0, 5), st.just(0)),
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
        else:
            cache.put(key, number, size)
            newest_last = [stored for stored in newest_last if stored[0] != key] + [(key, number, size)]
            while sum(size for _, _, size in newest_last) > limit:
                del newest_last[0]
    for key in range(6):
        assert cache.get(key) == next((value for stored, value, _ in newest_last if stored == key), None)
