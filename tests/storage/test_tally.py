"""How many clocks an owner may have: exact whatever happens in which order, and seldom counted."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.values import DAY, NOW, WEEK, clock, keep, key, user
from tickover.core.errors import Reason, Rejection
from tickover.core.ids import first_living_key
from tickover.core.moments import Moment
from tickover.storage import tally as module
from tickover.storage.sqlite import SqliteStore

_numbers = count(1)


async def _create(store: SqliteStore, owner: int, most: int, now: Moment = NOW) -> tuple[bytes, bytes | None]:
    """The key of a new clock, and what the store says to it."""
    new = clock(next(_numbers), now)
    return new.key, await store.create_clock(new, user(owner), b"", first_living_key(now), most)


@contextmanager
def _counting(store: SqliteStore) -> Iterator[list[str]]:
    """The statements that count clocks."""
    counted: list[str] = []

    def just_before_a_statement(_: object, statement: str, __: object) -> bool:
        if "count(*)" in statement:
            counted.append(statement)
        return True

    store._writing.set_exec_trace(just_before_a_statement)
    yield counted
    store._writing.set_exec_trace(None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tickover.db"


# Exact


class _Plain:
    """The same by plain counting."""

    def __init__(self) -> None:
        self._kept: list[tuple[int, bytes]] = []

    def create(self, owner: int, new: bytes, living_from: bytes, most: int) -> bytes | None:
        living = sorted(kept for whose, kept in self._kept if whose == owner and kept >= living_from)
        if most and len(living) >= most:
            return living[0]
        self._kept.append((owner, new))
        return None


_acts = st.one_of(
    # Mostly one limit, as it is in life; others, because it may be changed, and 0, because it may be none.
    st.tuples(st.just("create"), st.integers(1, 4), st.sampled_from([2, 2, 2, 3, 1, 0])),
    st.tuples(st.just("create at once"), st.integers(1, 4), st.integers(2, 4)),
    st.tuples(st.just("wait"), st.sampled_from([DAY, 2 * DAY, WEEK - DAY, WEEK, timedelta(milliseconds=1)])),
    st.tuples(st.just("sweep")),
    st.tuples(st.just("restart")),
)


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(acts=st.lists(_acts, min_size=5, max_size=60), owners=st.sampled_from([1, 2, 3, 10_000]))
async def test_the_limit_is_exact_whatever_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, acts: list[tuple[Any, ...]], owners: int
) -> None:
    monkeypatch.setattr(module, "_MOST_OWNERS", owners)
    path = tmp_path / f"{next(_numbers)}.db"
    store, plain, now = await SqliteStore.open(path), _Plain(), NOW
    for act, *how in acts:
        match act, *how:
            case "create", owner, most:
                new, oldest = await _create(store, owner, most, now)
                assert oldest == plain.create(owner, new, first_living_key(now), most)
            case "create at once", owner, many:
                created = await asyncio.gather(*(_create(store, owner, 2, now) for _ in range(many)))
                expected = [plain.create(owner, new, first_living_key(now), 2) for new, _ in created]
                assert [oldest for _, oldest in created] == expected
            case "wait", time:
                now += time
            case "sweep", *_:
                await store.sweep(now, 1000)
            case _:
                await store.close()
                store = await SqliteStore.open(path)
    await store.close()


async def test_after_a_restart_the_limit_is_what_it_was(path: Path) -> None:
    for _ in range(3):
        store = await SqliteStore.open(path)
        assert (await _create(store, 1, 3))[1] is None
        await store.close()
    store = await SqliteStore.open(path)
    assert (await _create(store, 1, 3))[1] is not None
    assert (await _create(store, 2, 3))[1] is None
    await store.close()


def _fail(db: apsw.Connection) -> None:
    raise RuntimeError("a fault in another job")


@pytest.mark.parametrize("failing", [_fail, lambda db: db.execute("insert into tokens values (1, null, null)")])
async def test_a_fault_beside_it_takes_no_place(path: Path, failing: Callable[[apsw.Connection], Any]) -> None:
    """What was counted before all was undone is counted again."""
    store = await SqliteStore.open(path)
    for _ in range(2):
        creating, failed = asyncio.create_task(_create(store, 1, 2)), store._writer.submit(failing)
        await asyncio.wait([creating, failed])
        assert (await creating)[1] is None
        assert failed.exception() is not None
    assert (await _create(store, 1, 2))[1] is not None
    await store.close()


async def test_a_commit_that_fails_leaves_all_places_free(path: Path) -> None:
    """Even to those who were refused beside the clock that took the last."""
    store = await SqliteStore.open(path)

    def the_disk_is_broken() -> bool:
        raise apsw.IOError("the disk is broken")

    store._writing.set_commit_hook(the_disk_is_broken)
    outcomes = await asyncio.gather(*(_create(store, 1, 1) for _ in range(3)), return_exceptions=True)
    reasons = [outcome.reason for outcome in outcomes if isinstance(outcome, Rejection)]
    assert reasons == [Reason.UNAVAILABLE] * 3
    store._writing.set_commit_hook(None)
    assert (await _create(store, 1, 1))[1] is None
    assert (await _create(store, 1, 1))[1] is not None
    await store.close()


# Seldom counted


async def test_clocks_are_counted_once_while_there_is_room(path: Path) -> None:
    store = await SqliteStore.open(path)
    with _counting(store) as counted:
        for _ in range(50):
            assert (await _create(store, 1, 50))[1] is None
    assert len(counted) == 1
    await store.close()


async def test_who_has_no_room_is_refused_without_counting_until_the_oldest_has_expired(path: Path) -> None:
    store = await SqliteStore.open(path)
    await keep(store, clock(1_000_001, NOW), user(1))
    await keep(store, clock(1_000_002, NOW + DAY), user(1))
    end = NOW + WEEK - timedelta(milliseconds=1)
    with _counting(store) as counted:
        for now in (NOW + DAY, NOW + 2 * DAY, end):
            assert (await _create(store, 1, 2, now))[1] == key(1_000_001, NOW)
        assert len(counted) == 1
        assert (await _create(store, 1, 2, NOW + WEEK))[1] is None
        assert len(counted) == 2
        assert (await _create(store, 1, 2, NOW + WEEK))[1] == key(1_000_002, NOW + DAY)
    assert len(counted) == 3
    await store.close()


async def test_another_limit_is_counted_anew(path: Path) -> None:
    store = await SqliteStore.open(path)
    for _ in range(2):
        assert (await _create(store, 1, 2))[1] is None
    refused = [(await _create(store, 1, most))[1] is not None for most in (2, 1, 3, 3, 2, 0, 4, 5)]
    assert refused == [True, True, False, True, True, False, True, False]
    await store.close()


async def test_more_owners_than_are_remembered_are_counted_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_OWNERS", 5)
    store = await SqliteStore.open(path)
    for most in (1, 2, 3):
        for owner in range(20):
            assert (await _create(store, owner, most))[1] is None
    for owner in range(20):
        assert (await _create(store, owner, 3))[1] is not None
    assert len(store._tally._at_most) <= 5
    assert len(store._tally._full) <= 5
    await store.close()
