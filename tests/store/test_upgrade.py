"""A database of an earlier version, opened by the current one: old data stays usable, and new features work."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.store import previous_version
from tests.store.values import ANA, MINUTE, NOW, code, code_limits, link, sent, session, user_of_token
from tests.support.world import World, open_world
from tickover.server.sign_in.logins import CountedAttempt
from tickover.server.storage import open_store


@pytest.fixture(params=["sqlite", "postgres"])
async def old_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    sqlite_url = f"sqlite:///{tmp_path / 'old.db'}"
    return await previous_version.make(request.param, sqlite_url, lambda: request.getfixturevalue("postgres"))


@pytest.fixture
async def world(tmp_path: Path, old_url: str) -> AsyncIterator[World]:
    await (await open_store(old_url)).close()
    async with open_world(tmp_path, old_url) as opened:
        opened.pass_time(hours=1)
        yield opened


async def _get(world: World) -> Any:
    return (await world.result("getTestClock", {"id": previous_version.CLOCK_ID}, previous_version.TOKEN))["clock"]


async def test_old_clock_is_unchanged(world: World) -> None:
    assert await _get(world) == previous_version.RESPONSE
    frozen_time = previous_version.RESPONSE["frozenTime"]
    assert (
        await world.advance(previous_version.TOKEN, previous_version.CLOCK_ID, str(frozen_time))
        == previous_version.RESPONSE
    )


async def test_old_clock_is_listed_forked_and_deleted(world: World) -> None:
    (listed,) = (await world.result("listTestClocks", {}, previous_version.TOKEN))["clocks"]
    assert listed == {name: previous_version.RESPONSE[name] for name in listed}
    params = {"id": previous_version.CLOCK_ID, "at": previous_version.RESPONSE["frozenTime"]}
    fork = (await world.result("forkTestClock", params, previous_version.TOKEN))["clock"]
    assert [goal["name"] for goal in fork["goals"]] == ["Trip"]
    await world.result("deleteTestClock", {"id": previous_version.CLOCK_ID}, previous_version.TOKEN)
    left = (await world.result("listTestClocks", {}, previous_version.TOKEN))["clocks"]
    assert [clock["id"] for clock in left] == [fork["id"]]


async def test_old_codes_and_links_are_valid_and_in_order(old_url: str) -> None:
    older, newer, other = code(1), code(2, NOW + MINUTE), link(3, NOW + 2 * MINUTE)
    await previous_version.insert_sends(old_url, [newer, other, older])
    store = await open_store(old_url)
    now = NOW + 3 * MINUTE
    assert await store.count_attempt(ANA, code_limits(), now) == CountedAttempt(newer.digest, newer.sent_at)
    newest = await sent(store, code(4, now))
    assert await store.count_attempt(ANA, code_limits(), now) == CountedAttempt(newest.digest, now)
    await store.undo_send(newest)
    assert await store.count_attempt(ANA, code_limits(), now) == CountedAttempt(newer.digest, newer.sent_at)
    assert await store.redeem_link(other.digest, session(1, now)) is not None
    await store.close()


async def test_old_data_is_swept(world: World) -> None:
    world.pass_time(days=40)
    while await world.store.sweep(world.now, 100):
        pass
    assert await world.store.find_clock(previous_version.ROWS["clocks"][0], previous_version.ROWS["clocks"][1]) is None
    assert await user_of_token(world.store, previous_version.ROWS["tokens"][0], world.now.replace(year=2020)) is None
