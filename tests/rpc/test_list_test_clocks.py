"""listTestClocks: the caller's live clocks, newest first, in pages."""

from datetime import datetime
from typing import Any

import pytest

from tests.rpc.builders import BEN, MICROSECOND, START, call, raw_call, reason_of, rows
from tests.support.cases import each_case
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


async def create_at_once(world: World, token: str, count: int) -> set[str]:
    """Create clocks at one instant."""
    made = set()
    for start in range(0, count, 50):
        calls = [
            call("createTestClock", {"frozenTime": START}, number) for number in range(start, min(count, start + 50))
        ]
        made |= {response["result"]["clock"]["id"] for response in (await world.post(calls, token)).json}
    return made


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


async def test_list_without_clocks_is_empty(world: World, token: str) -> None:
    assert await world.result(LIST, {}, token) == {"clocks": []}
    assert await world.result(LIST, None, token) == {"clocks": []}


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


async def test_newest_clock_is_first(world: World, token: str) -> None:
    made = await create(world, token, 5)
    await world.advance(token, made[3], "2030-01-01T00:00:00Z")
    world.pass_time(seconds=1)
    fork = (await world.result("forkTestClock", {"id": made[4]}, token))["clock"]["id"]
    assert ids_in(await world.result(LIST, {}, token)) == [fork, *made]


async def test_clocks_of_other_users_are_not_listed(world: World, token: str) -> None:
    made = await create(world, token, 2)
    ben = await world.sign_in(BEN)
    assert await world.result(LIST, {}, ben) == {"clocks": []}
    bens = await create(world, ben, 1)
    assert ids_in(await world.result(LIST, {}, ben)) == bens
    assert ids_in(await world.result(LIST, {}, token)) == made


async def test_deleted_clocks_are_not_listed(world: World, token: str) -> None:
    newest, middle, oldest = await create(world, token, 3)
    await world.result("deleteTestClock", {"id": middle}, token)
    assert ids_in(await world.result(LIST, {}, token)) == [newest, oldest]


@pytest.mark.parametrize("sweeps", [False, True], ids=["still kept", "swept"])
async def test_clock_is_listed_until_it_expires(world: World, token: str, sweeps: bool) -> None:
    made = await create(world, token, 2)
    clocks = (await world.result(LIST, {}, token))["clocks"]
    world.now = datetime.fromisoformat(clocks[1]["expiresAt"]) - MICROSECOND
    assert ids_in(await world.result(LIST, {}, token)) == made
    world.now += MICROSECOND
    if sweeps:
        assert await world.store.sweep(world.now, 100) > 0
    assert ids_in(await world.result(LIST, {}, token)) == made[:1]
    world.now = datetime.fromisoformat(clocks[0]["expiresAt"])
    assert await world.result(LIST, {}, token) == {"clocks": []}


@each_case("wrong", [None, "tko_" + "A" * 43])
async def test_list_without_valid_token_is_rejected(world: World, token: str, wrong: str | None) -> None:
    await create(world, token, 1)
    for params in ({}, {"limit": 0}):
        response = await world.call(LIST, params, wrong)
        assert (response.status, reason_of(response)) == (401, "UNAUTHENTICATED")


# limit


@pytest.mark.parametrize(("count", "shown", "has_more"), [(19, 19, False), (20, 20, False), (21, 20, True)])
async def test_default_page_has_20_clocks(world: World, token: str, count: int, shown: int, has_more: bool) -> None:
    made = await create(world, token, count)
    page = await world.result(LIST, {}, token)
    assert ids_in(page) == made[:shown]
    assert ("nextCursor" in page) == has_more
    assert await world.result(LIST, {"limit": 20}, token) == page


@pytest.mark.parametrize(("limit", "count"), [(1, 1), (1, 2), (2, 2), (2, 3), (3, 2), (100, 100), (100, 101)])
async def test_page_has_next_cursor_only_if_there_is_a_next_page(
    world: World, token: str, limit: int, count: int
) -> None:
    made = await create_at_once(world, token, count)
    page = await world.result(LIST, {"limit": limit}, token)
    assert len(ids_in(page)) == min(limit, count)
    assert set(ids_in(page)) <= made
    assert page.keys() == {"clocks", "nextCursor"} if count > limit else {"clocks"}


@each_case("limit", ["2.0", "2e0", "20E-1", "0.02e+2"])
async def test_limit_accepts_any_json_form_of_an_integer(world: World, token: str, limit: str) -> None:
    made = await create(world, token, 3)
    response = await world.post(raw_call(LIST, f'{{"limit": {limit}}}'), token)
    assert ids_in(response.json["result"]) == made[:2]


@each_case(
    ("field", "rule", "value"),
    [
        *rows("limit", "min", 0, -1, -(10**30)),
        *rows("limit", "max", 101, 101.0, 10**18, 10**30),
        *rows("limit", "type", 1.5, "20", True, [], {}),
        *rows("limit", "null", None),
        *rows("cursor", "null", None),
        *rows("cursor", "type", 5, True, [], {}),
        *rows("cursor", "format", "", "x", "cursor_", "cursor_" + "0" * 31, "cursor_" + "0" * 33, "x" * 100_000),
        *rows("cursor", "format", "cursor_" + "g" * 32, "cursor_" + "A" * 32, "Cursor_" + "0" * 32, "0" * 32),
        *rows("cursor", "format", "cursor_" + "0" * 32 + "\n", " cursor_" + "0" * 32, "cursor_" + "٠" * 32),
        *rows("cursor", "format", "clock_01a2d11f-0200-7000-8000-000000000000", "\0", "\ud800"),
        *rows("page", "unknown", 2),
        *rows("nextCursor", "unknown", "cursor_" + "0" * 32),
    ],
)
async def test_invalid_parameters_are_rejected(world: World, token: str, field: str, rule: str, value: Any) -> None:
    assert await world.faults(LIST, {field: value}, token) == {field: rule}


async def test_huge_limit_is_rejected(world: World, token: str) -> None:
    for limit, rule in (("9" * 5000, "max"), ("1e400", "max"), ("-1e400", "min"), ("1e300", "max")):
        response = await world.post(raw_call(LIST, f'{{"limit": {limit}}}'), token)
        assert [fault["rule"] for fault in response.json["error"]["data"]["errors"]] == [rule]


async def test_all_faults_are_listed(world: World, token: str) -> None:
    params = {"limit": 0, "cursor": "x", "page": 1}
    assert await world.faults(LIST, params, token) == {"limit": "min", "cursor": "format", "page": "unknown"}


async def test_fault_contains_short_invalid_cursor(world: World, token: str) -> None:
    for cursor, got in (("x" * 200, "x" * 200), ("x" * 201, "x" * 199 + "…")):
        (fault,) = (await world.error(LIST, {"cursor": cursor}, token))["data"]["errors"]
        assert fault["got"] == got


# Pages


@pytest.mark.parametrize(("limit", "sizes"), [(1, [1] * 6), (2, [2, 2, 2]), (4, [4, 2]), (5, [5, 1]), (6, [6])])
async def test_pages_contain_every_clock_once_in_order(world: World, token: str, limit: int, sizes: list[int]) -> None:
    made = await create(world, token, 6)
    pages = await walk(world, token, limit)
    assert [len(page) for page in pages] == sizes
    assert [id for page in pages for id in page] == made


async def test_clocks_created_at_one_instant_are_listed_once(world: World, token: str) -> None:
    made = await create_at_once(world, token, 23)
    for limit in (1, 5, 23):
        listed = [id for page in await walk(world, token, limit) for id in page]
        assert (set(listed), len(listed)) == (made, 23)


async def test_limit_can_change_between_pages(world: World, token: str) -> None:
    made = await create(world, token, 6)
    first = await world.result(LIST, {"limit": 2}, token)
    second = await world.result(LIST, {"limit": 3, "cursor": first["nextCursor"]}, token)
    third = await world.result(LIST, {"cursor": second["nextCursor"]}, token)
    assert ids_in(first) + ids_in(second) + ids_in(third) == made
    assert "nextCursor" not in third
    assert await world.result(LIST, {"limit": 3, "cursor": first["nextCursor"]}, token) == second


async def test_changes_between_pages_hide_no_other_clock(world: World, token: str) -> None:
    made = await create(world, token, 6)
    page = await world.result(LIST, {"limit": 2}, token)
    await create(world, token, 2)
    # The last one on the page, the next one, and an earlier one.
    for gone in (made[1], made[2], made[0]):
        await world.result("deleteTestClock", {"id": gone}, token)
    rest = await world.result(LIST, {"limit": 3, "cursor": page["nextCursor"]}, token)
    assert ids_in(rest) == made[3:]
    assert "nextCursor" not in rest


async def test_cursor_of_expired_clock_returns_an_empty_page(world: World, token: str) -> None:
    await create(world, token, 3)
    page = await world.result(LIST, {"limit": 1}, token)
    world.now = datetime.fromisoformat(page["clocks"][0]["expiresAt"])
    newer = await create(world, token, 1)
    assert await world.result(LIST, {"cursor": page["nextCursor"]}, token) == {"clocks": []}
    assert ids_in(await world.result(LIST, {}, token)) == newer


async def test_cursor_of_another_user_shows_no_foreign_clocks(world: World, token: str) -> None:
    ben = await world.sign_in(BEN)
    bens_old = await create(world, ben, 2)
    await create(world, token, 3)
    await create(world, ben, 2)
    anas = await world.result(LIST, {"limit": 1}, token)
    assert ids_in(await world.result(LIST, {"cursor": anas["nextCursor"]}, ben)) == bens_old


@pytest.mark.parametrize(("digit", "shown"), [("0", 0), ("f", 3)])
async def test_invented_cursor_is_accepted(world: World, token: str, digit: str, shown: int) -> None:
    made = await create(world, token, 3)
    assert ids_in(await world.result(LIST, {"cursor": f"cursor_{digit * 32}"}, token)) == made[3 - shown :]
