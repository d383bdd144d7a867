"""listTestClocks: the caller's live clocks, newest first, in pages."""

from typing import Any

import pytest

from tests.rpc.builders import START
from tests.support.world import World

LIST = "listTestClocks"


async def create(world: World, token: str, count: int) -> list[str]:
    """Create clocks one second apart. Return their ids, newest first."""
    made = []
    for _ in range(count):
        world.pass_time(seconds=1)
        made.append((await world.create(token, frozenTime=START))["id"])
    return made[::-1]


def ids_in(page: Any) -> list[str]:
    return [clock["id"] for clock in page["clocks"]]


# Listed clocks


@pytest.mark.parametrize("labels", [{}, {"team": "a"}])
async def test_details_add_the_start(world: World, token: str, labels: dict[str, str]) -> None:
    clock = await world.create(token, frozenTime=START, labels={"team": "a"})
    await world.advance(token, clock["id"], "2027-06-01T00:00:00Z")
    [plain] = (await world.result(LIST, {"labels": labels}, token))["clocks"]
    [found] = (await world.result(LIST, {"labels": labels, "details": True}, token))["clocks"]
    assert found == {**plain, "startTime": START}


# Pages


async def test_invalid_cursor_is_rejected(world: World, token: str) -> None:
    assert await world.faults(LIST, {"cursor": "cursor_1"}, token) == {"cursor": "format"}


async def test_pages_contain_every_clock_once_in_order(world: World, token: str) -> None:
    made = await create(world, token, 6)
    for limit, sizes in ((2, [2, 2, 2]), (4, [4, 2])):
        page = await world.result(LIST, {"limit": limit}, token)
        pages = [ids_in(page)]
        while "nextCursor" in page:
            page = await world.result(LIST, {"limit": limit, "cursor": page["nextCursor"]}, token)
            pages.append(ids_in(page))
        assert [len(ids) for ids in pages] == sizes
        assert [id for ids in pages for id in ids] == made
