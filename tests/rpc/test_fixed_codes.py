"""Addresses in the domains of TICKOVER_TEST_CODES have a fixed code."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.program import code_params, verify_params
from tests.support.world import World, open_world

EVE = "eve@app.test"


@pytest.fixture
async def world(tmp_path: Path, database_url: str) -> AsyncIterator[World]:
    async with open_world(tmp_path, database_url, sends_per_hour=3, test_codes={"app.test": "271828"}) as world:
        yield world


async def try_code(world: World, email: str) -> Any:
    return (await world.call("loginByEmailVerification", verify_params(email, "271828"))).json


async def test_fixed_code_signs_in_again_and_again_without_email(world: World) -> None:
    assert (await try_code(world, EVE))["error"]["data"]["reason"] == "LOGIN_REFUSED", "it was not requested"
    for _ in range(5):
        assert await world.result("sendLoginCodeEmail", code_params("Eve@APP.test")) == {"message": "ok"}
        assert (await try_code(world, EVE))["result"]["token"]
        world.pass_time(seconds=1)
    assert world.emails() == []


@pytest.mark.parametrize("email", ["eve@example.test", "eve@mail.app.test", "eve@app.test.example"])
async def test_other_addresses_get_an_email(world: World, email: str) -> None:
    await world.result("sendLoginCodeEmail", code_params(email))
    assert [sent["To"] for sent in world.emails()] == [email]
    assert "271828" not in str(world.emails()[0])


async def test_hourly_limit_holds(world: World) -> None:
    for _ in range(3):
        world.pass_time(seconds=1)
        await world.result("sendLoginCodeEmail", code_params(EVE))
    world.pass_time(seconds=1)
    assert (await world.error("sendLoginCodeEmail", code_params(EVE)))["data"]["reason"] == "RATE_LIMITED"


async def test_address_that_a_stranger_has_locked_is_unlocked_after_an_hour(world: World) -> None:
    limits = world.services.send_limits
    world.services.send_limits = replace(limits, failures_in_a_row=3, sends_an_hour=0, sends_an_hour_from_one_network=0)
    await world.result("sendLoginCodeEmail", code_params(EVE))
    for _ in range(3):
        await world.error("loginByEmailVerification", verify_params(EVE, "000000"))
    for minutes in (58, 3):
        world.pass_time(minutes=minutes)
        await world.result("sendLoginCodeEmail", code_params(EVE))
        assert ("result" in await try_code(world, EVE)) == (minutes == 3)
