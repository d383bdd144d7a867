"""Names and labels: given at creation, inherited by forks, changed by updateTestClock, found by listTestClocks."""

from typing import Any

import pytest

from tests.rpc.builders import START, transaction
from tests.support.world import World

LIST, UPDATE, FORK = "listTestClocks", "updateTestClock", "forkTestClock"
NAMED: dict[str, Any] = {"name": "Summer", "labels": {"ci": "1", "team/a": "é"}}


def names_of(clock: dict[str, Any]) -> dict[str, Any]:
    return {name: clock[name] for name in ("name", "labels") if name in clock}


async def found(world: World, token: str, **labels: str) -> list[str]:
    return [clock["id"] for clock in (await world.result(LIST, {"labels": labels}, token))["clocks"]]


@pytest.mark.parametrize("given", [{}, {"name": "x"}, {"labels": {}}, {"name": "x" * 200, "labels": {"a": ""}}, NAMED])
async def test_clock_has_exactly_the_names_that_were_given(world: World, token: str, given: Any) -> None:
    clock = await world.create(token, frozenTime=START, transactions=[transaction()], **given)
    assert names_of(clock) == given
    moved = await world.advance(token, clock["id"], "2027-03-01T00:00:00Z")
    preview = await world.result("getTestClock", {"id": clock["id"], "at": "2027-04-01T00:00:00Z"}, token)
    [listed] = (await world.result(LIST, {}, token))["clocks"]
    assert names_of(moved) == names_of(preview["clock"]) == names_of(listed) == given
    assert list(moved)[:5] == ["id", "status", "frozenTime", "maxTime", "expiresAt"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, NAMED),
        ({"name": "Fork"}, NAMED | {"name": "Fork"}),
        ({"labels": {}}, NAMED | {"labels": {}}),
        ({"name": "Fork", "labels": {"x": "y"}}, {"name": "Fork", "labels": {"x": "y"}}),
    ],
)
async def test_fork_inherits_what_it_is_not_given(world: World, token: str, given: Any, expected: Any) -> None:
    original = await world.create(token, **NAMED)
    fork = (await world.result(FORK, {"id": original["id"], **given}, token))["clock"]
    assert names_of(fork) == expected
    assert names_of((await world.result("getTestClock", {"id": original["id"]}, token))["clock"]) == NAMED


@pytest.mark.parametrize("operation", [FORK, UPDATE])
async def test_empty_name_is_rejected(world: World, token: str, operation: str) -> None:
    clock = await world.create(token, **NAMED)
    assert await world.faults(operation, {"id": clock["id"], "name": ""}, token) == {"name": "minLength"}


async def test_pages_of_a_search_join_to_the_whole_result(
    world: World, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tickover.server.operations.list_test_clocks.MAX_SCANNED_CLOCKS", 3)
    expected: list[str] = []
    for number in range(9):
        world.pass_time(seconds=1)
        clock = await world.create(token, labels={"odd": str(number % 2)})
        expected[:0] = [clock["id"]] if number % 2 else []
    for limit in (1, 2, 9):
        ids: list[str] = []
        cursor: dict[str, str] = {}
        # A page more than needed: a cursor that leads nowhere must not hang the test.
        for _ in range(len(expected) + 1):
            page = await world.result(LIST, {"labels": {"odd": "1"}, "limit": limit, **cursor}, token)
            assert len(page["clocks"]) <= limit
            ids += [clock["id"] for clock in page["clocks"]]
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}
        assert ids == expected, limit


async def test_page_with_large_labels_ends_early(world: World, token: str) -> None:
    large = {"labels": {f"{number:064}": "\x01" * 200 for number in range(20)}}
    ids = []
    for _ in range(6):
        world.pass_time(seconds=1)
        ids.append((await world.create(token, **large))["id"])
    first = await world.result(LIST, {}, token)
    rest = await world.result(LIST, {"labels": {"0" * 64: "\x01" * 200}, "cursor": first["nextCursor"]}, token)
    last = await world.result(LIST, {"cursor": rest["nextCursor"]}, token)
    pages = [[clock["id"] for clock in page["clocks"]] for page in (first, rest, last)]
    assert [len(page) for page in pages] == [2, 2, 2]
    assert [id for page in pages for id in page] == ids[::-1]
    assert "nextCursor" not in last


async def test_list_by_name_finds_exactly_this_name(world: World, token: str) -> None:
    ids = [(await world.create(token, **names))["id"] for names in (NAMED, {"name": "summer"}, {}, {"name": "Summer"})]
    for params, expected in (
        ({"name": "Summer"}, [ids[3], ids[0]]),
        ({"name": "Summer", "labels": {"ci": "1"}}, [ids[0]]),
        ({"name": "Summ"}, []),
        ({"labels": {"ci": "1"}}, [ids[0]]),
    ):
        listed = await world.result(LIST, params, token)
        assert [clock["id"] for clock in listed["clocks"]] == expected
