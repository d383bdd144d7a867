"""GET /scenarios.json and /site.json."""

from pathlib import Path

from tests.support.world import World
from tickover import scenarios

NAMES = scenarios.names()


async def shown(world: World) -> dict[str, dict[str, object]]:
    response = await world.request("GET", "/scenarios.json")
    assert response.status == 200
    return {one["name"]: one for one in response.json}


# Content


def source(name: str) -> str:
    return (Path(scenarios.__file__).parent / "shipped" / f"{name}.toml").read_text("utf-8")


async def test_gallery_has_every_scenario(world: World) -> None:
    found = await shown(world)
    assert list(found) == NAMES
    for name, one in found.items():
        scenario = scenarios.load(name)
        texts = {"name": name, "title": scenario.title, "about": scenario.about, "text": source(name)}
        assert {**one, **texts} == one
        assert set(one) == {*texts, "params"}


async def test_expectations_of_every_scenario_hold_except_those_of_the_tight_month(world: World, token: str) -> None:
    for name, found in (await shown(world)).items():
        clock = (await world.result("createTestClockFromScenario", {"scenario": name}, token))["clock"]
        params = found["params"]
        assert isinstance(params, dict)
        assert clock.get("expectations") == params.get("expectations")
        if "expectations" in clock:
            holds = (await world.result("checkTestClock", {"id": clock["id"]}, token))["ok"]
            assert holds is (name != "tight-month"), name


async def test_gallery_is_refreshed_every_month(world: World) -> None:
    first = await shown(world)
    world.pass_time(days=30, hours=11, minutes=59, seconds=59)
    assert await shown(world) == first
    world.pass_time(seconds=1)
    second = await shown(world)
    assert second["student"] != first["student"]
    assert second["limits"] == first["limits"]
