"""The LRU cache."""

from hypothesis import given
from hypothesis import strategies as st

from tickover.server.domain.lru_cache import LruCache


def test_value_can_be_read() -> None:
    recent: LruCache[str, str] = LruCache(10)
    recent.put("a", "first", 4)
    assert (recent.get("a"), recent.get("b")) == ("first", None)


def test_cache_is_full_exactly_at_its_limit() -> None:
    recent: LruCache[str, str] = LruCache(10)
    for key, size in (("a", 4), ("b", 6)):
        recent.put(key, key, size)
    assert [recent.get(key) for key in "ab"] == ["a", "b"]
    recent.put("c", "c", 1)
    assert [recent.get(key) for key in "abc"] == [None, "b", "c"]


def test_least_recently_used_value_is_removed() -> None:
    recent: LruCache[str, str] = LruCache(3)
    for key in "abc":
        recent.put(key, key, 1)
    assert recent.get("a") == "a"
    recent.put("d", "d", 1)
    assert [recent.get(key) for key in "abcd"] == ["a", None, "c", "d"]


def test_large_value_replaces_several() -> None:
    recent: LruCache[str, str] = LruCache(10)
    for key in "abcde":
        recent.put(key, key, 2)
    recent.put("f", "f", 7)
    assert [recent.get(key) for key in "abcdef"] == [None, None, None, None, "e", "f"]


def test_value_over_the_limit_is_not_stored() -> None:
    recent: LruCache[str, str] = LruCache(10)
    recent.put("a", "a", 11)
    assert recent.get("a") is None
    recent.put("a", "a", 10)
    assert recent.get("a") == "a"


def test_new_value_replaces_old_value_and_size() -> None:
    recent: LruCache[str, str] = LruCache(10)
    recent.put("a", "old", 6)
    recent.put("b", "b", 4)
    recent.put("a", "new", 5)
    recent.put("c", "c", 1)
    assert [recent.get(key) for key in "abc"] == ["new", "b", "c"]
    recent.put("a", "newest", 6)
    assert [recent.get(key) for key in "abc"] == ["newest", None, "c"]


def test_cache_with_limit_0_stores_nothing() -> None:
    recent: LruCache[str, str] = LruCache(0)
    recent.put("a", "a", 1)
    assert recent.get("a") is None


_acts = st.lists(
    st.one_of(
        st.tuples(st.just("get"), st.integers(0, 5), st.just(0)),
        st.tuples(st.just("put"), st.integers(0, 5), st.integers(0, 12)),
    ),
    max_size=60,
)


@given(acts=_acts, limit=st.integers(0, 20))
def test_cache_equals_model(acts: list[tuple[str, int, int]], limit: int) -> None:
    recent: LruCache[int, int] = LruCache(limit)
    newest_last: list[tuple[int, int, int]] = []
    for number, (act, key, size) in enumerate(acts):
        [*found] = [kept for kept in newest_last if kept[0] == key]
        if act == "get":
            assert recent.get(key) == (found[0][1] if found else None)
            newest_last = [kept for kept in newest_last if kept[0] != key] + found
        else:
            recent.put(key, number, size)
            newest_last = [kept for kept in newest_last if kept[0] != key] + [(key, number, size)]
            while sum(size for _, _, size in newest_last) > limit:
                del newest_last[0]
    for key in range(6):
        assert recent.get(key) == next((value for kept, value, _ in newest_last if kept == key), None)
