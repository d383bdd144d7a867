"""Every store: an owner's live clocks are listed newest first, in pages, each exactly once."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.store.values import (
    END,
    HOUR,
    NOW,
    START,
    add_clock,
    key,
    listed,
    user,
)
from tickover.server.schedule.clocks import Clock
from tickover.server.storage.store import Store

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
