"""listTestClocks: the caller's live clocks, newest first, in pages."""

from typing import Any

import pytest

from tests.rpc.builders import BEN, START
from tests.support.world import World

LIST = "listTestClocks"
FIELDS = ("id", "status", "frozenTime", "maxTime", "expiresAt")


async def create(world: World, token: str, count: int) -> list[str]:
    """Create clocks one second apart. Return their ids, newest first."""
    made = []
    for _ in range(count):
        world.pass_time(seconds=1)
        made.append((await world.create(token, frozenTime=START))["id"])
    return made[::-1]


def ids_in(page: Any) -> list[str]:
    return [clock["id"] for clock in page["clocks"]]


async def walk(world: World, token: str, limit: int) -> list[list[str]]:
    """Return all pages as lists of ids."""
    page = await world.result(LIST, {"limit": limit}, token)
    pages = [ids_in(page)]
    while "nextCursor" in page:
        assert len(pages) < 100, "it never ends"
        page = await world.result(LIST, {"limit": limit, "cursor": page["nextCursor"]}, token)
        pages.append(ids_in(page))
    return pages


# Listed clocks


@pytest.mark.parametrize("labels", [{}, {"team": "a"}])
async def test_details_add_the_start(world: World, token: str, labels: dict[str, str]) -> None:
    clock = await world.create(token, frozenTime=START, labels={"team": "a"})
    await world.advance(token, clock["id"], "2027-06-01T00:00:00Z")
    [plain] = (await world.result(LIST, {"labels": labels}, token))["clocks"]
    [found] = (await world.result(LIST, {"labels": labels, "details": True}, token))["clocks"]
    assert found == {**plain, "startTime": START}


async def test_summary_has_exactly_the_documented_fields(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime="2027-01-01T00:00:00.5Z")
    moved = await world.advance(token, clock["id"], "2027-03-01T00:00:00.000001Z")
    assert await world.result(LIST, {}, token) == {"clocks": [{name: moved[name] for name in FIELDS}]}


# limit


@pytest.mark.parametrize(("count", "shown", "has_more"), [(19, 19, False), (20, 20, False), (21, 20, True)])
async def test_default_page_has_20_clocks(world: World, token: str, count: int, shown: int, has_more: bool) -> None:
    made = await create(world, token, count)
    page = await world.result(LIST, {}, token)
    assert ids_in(page) == made[:shown]
    assert ("nextCursor" in page) == has_more
    assert await world.result(LIST, {"limit": 20}, token) == page


async def test_all_faults_are_listed(world: World, token: str) -> None:
    params = {"limit": 0, "cursor": "x", "page": 1}
    assert await world.faults(LIST, params, token) == {"limit": "min", "cursor": "format", "page": "unknown"}


# Pages


@pytest.mark.parametrize(("limit", "sizes"), [(1, [1] * 6), (2, [2, 2, 2]), (4, [4, 2]), (5, [5, 1]), (6, [6])])
async def test_pages_contain_every_clock_once_in_order(world: World, token: str, limit: int, sizes: list[int]) -> None:
    made = await create(world, token, 6)
    pages = await walk(world, token, limit)
    assert [len(page) for page in pages] == sizes
    assert [id for page in pages for id in page] == made


async def test_cursor_of_another_user_shows_no_foreign_clocks(world: World, token: str) -> None:
    ben = await world.sign_in(BEN)
    bens_old = await create(world, ben, 2)
    await create(world, token, 3)
    await create(world, ben, 2)
    anas = await world.result(LIST, {"limit": 1}, token)
    assert ids_in(await world.result(LIST, {"cursor": anas["nextCursor"]}, ben)) == bens_old
