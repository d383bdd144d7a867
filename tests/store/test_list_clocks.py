"""Every store: an owner's live clocks are listed newest first, in pages, each exactly once."""

import random
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.store.values import (
    DAY,
    END,
    HOUR,
    NOW,
    START,
    WEEK,
    add_clock,
    clock,
    key,
    listed,
    user,
)
from tickover.api.ids import first_live_key
from tickover.server.schedule.clocks import Clock
from tickover.server.storage.store import Store

_MILLISECOND = timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("age", "lives"),
    [
        pytest.param(WEEK - _MILLISECOND, True, id="in its last millisecond"),
        pytest.param(WEEK, False, id="when it expires"),
        pytest.param(WEEK + _MILLISECOND, False, id="a millisecond after"),
        pytest.param(9 * DAY, False, id="long after"),
    ],
)
async def test_only_live_clocks_are_listed_to_the_millisecond(store: Store, age: timedelta, lives: bool) -> None:
    # The random part of a key is at its minimum and its maximum.
    small, large = clock(0, NOW - age).key, clock(2**74 - 1, NOW - age).key
    assert small[:6] == large[:6]
    for each in (small, large):
        await add_clock(store, Clock(each, START, START, END), user(1))
    await add_clock(store, clock(1), user(1))
    expected = [key(1), large, small] if lives else [key(1)]
    assert await listed(store, user(1), first_live_key(NOW)) == expected


async def _pages(store: Store, owner: bytes, min_live_key: bytes, size: int) -> list[list[bytes]]:
    """Yield page after page."""
    pages: list[list[bytes]] = []
    before: bytes | None = None
    while page := await listed(store, owner, min_live_key, before, size):
        pages.append(page)
        before = page[-1]
    return pages


async def test_pages_cover_a_week_with_each_clock_once(store: Store) -> None:
    """Clocks of ten days, one partition each in PostgreSQL. Only those of the last seven days are live."""
    lot = random.Random(1)
    made = [clock(number, NOW - lot.random() * 10 * DAY) for number in range(200)]
    for number, each in enumerate(made):
        await add_clock(store, each, user(number % 2))
    min_live_key = first_live_key(NOW)
    live = sorted((each.key for each in made[::2] if each.key >= min_live_key), reverse=True)
    assert 50 < len(live) < 100
    for size in (1, 7, 20, 100, 101):
        pages = await _pages(store, user(0), min_live_key, size)
        assert [each for page in pages for each in page] == live
        assert {len(page) for page in pages[:-1]} <= {size}


_acts = st.lists(
    st.one_of(
        st.tuples(st.just("page"), st.integers(1, 4)),
        st.tuples(st.just("create"), st.integers(0, 1)),
        st.tuples(st.just("delete"), st.integers(0, 99)),
    ),
    min_size=5,
    max_size=30,
)
_owners = iter(range(1_000_000, 2_000_000))


@settings(
    deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(births=st.lists(st.integers(0, 6 * 24), min_size=1, max_size=15), acts=_acts)
async def test_pages_during_creations_and_deletions_miss_none_and_repeat_none(
    store: Store, births: list[int], acts: list[tuple[Any, ...]]
) -> None:
    """Clocks that exist throughout are listed once. Clocks created in between are newer, so they are not listed."""
    owner, other = user(next(_owners)), user(next(_owners))
    numbers = iter(range(int.from_bytes(owner[-4:], "big") * 1000, 2**62))
    at_first = [key(next(numbers), NOW - hours * HOUR) for hours in births]
    there = list(at_first)
    for each in at_first:
        await add_clock(store, Clock(each, START, START, END), owner)
    seen: list[bytes] = []
    for act, how in [*acts, ("page", 1000)]:
        match act:
            case "page":
                before = seen[-1] if seen else None
                page = await listed(store, owner, bytes(16), before, how)
                assert page == sorted((each for each in there if not before or each < before), reverse=True)[:how]
                seen += page
            case "create":
                new = key(next(numbers), NOW + HOUR)
                await add_clock(store, Clock(new, START, START, END), other if how else owner)
                there += [] if how else [new]
            case _ if there:
                assert await store.delete_clock(there.pop(how % len(there)), owner)
    assert seen == sorted(set(seen), reverse=True)
    assert set(at_first) & set(there) <= set(seen)
