"""The round trips of each operation to PostgreSQL, on a server that has seen the token before."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.rpc.bank_client import connect_plaid, connect_simplefin
from tests.rpc.token_calls import calls_with_token
from tests.support.program import link_params
from tests.support.proxy import Proxy
from tests.support.world import World, open_world


@pytest.fixture
def proxy(postgres_url: str) -> Iterator[Proxy]:
    port = urlsplit(postgres_url).port
    assert port
    with Proxy(port) as opened:
        yield opened


@pytest.fixture
async def world(tmp_path: Path, proxy: Proxy, postgres_url: str) -> AsyncIterator[World]:
    async with open_world(tmp_path, proxy.url_of(postgres_url)) as opened:
        yield opened


async def test_reads_and_advances_take_one_round_trip_and_changes_two(world: World, proxy: Proxy) -> None:
    # Run the operations once, because the first run of a statement prepares it in a separate round trip.
    for method, params in (await calls_with_token(world, token := await world.sign_in())).items():
        await world.result(method, params, token)
        token = await world.sign_in() if method == "deleteCurrentUser" else token
    token = await world.sign_in()
    taken = {}
    for method, params in (await calls_with_token(world, token)).items():
        before = proxy.round_trips
        await world.result(method, params, token)
        taken[method] = proxy.round_trips - before
        if method == "deleteCurrentUser":
            token = await world.sign_in()
            await world.result("getCurrentUser", {}, token)
    # A fork and an amendment read the schedule, and write the next one. Only a valid token may expand a scenario.
    read_first = ("forkTestClock", "amendTestClock", "createTestClockFromScenario")
    # What a quota or another limit decides is read, and then written if nothing has changed.
    read_and_write = (
        "createTestClock",
        "updateTestClock",
        "createAccessToken",
        "connectTestClock",
        "updateTestClockConnection",
        "disconnectTestClock",
    )
    both = dict.fromkeys((*read_and_write, "logout"), 2) | dict.fromkeys(read_first, 3) | {"deleteCurrentUser": 6}
    assert taken == {method: both.get(method, 1) for method in taken}


async def test_sign_ins_take_few_round_trips(world: World, proxy: Proxy) -> None:
    """An email takes two. An attempt with a code takes two, and the sign-in one. A link is found and then used."""
    # The first run of a statement prepares it in a separate round trip.
    for number in range(2):
        before = proxy.round_trips
        await world.sign_in(f"code{number}@example.test")
        by_code = proxy.round_trips - before
        sent = await world.result("sendLoginCodeEmail", link_params(f"link{number}@example.test"))
        await world.result("loginByEmailLink", {"token": sent["loginUrl"].partition("#token=")[2]})
        by_link = proxy.round_trips - before - by_code
    assert (by_code, by_link) == (2 + 3, 2 + 2)


async def test_every_call_of_a_connected_program_takes_one_round_trip(world: World, proxy: Proxy) -> None:
    token = await world.sign_in()
    members = {"start_date": "2027-01-01", "end_date": "2027-02-01"}
    paths = ("/transactions/sync", "/accounts/get", "/transactions/get", "/item/get", "/item/remove")
    # The first run of a statement prepares it in a separate round trip.
    for _ in range(2):
        clock = (await world.create(token))["id"]
        item, app = await connect_plaid(world, token, clock), await connect_simplefin(world, token, clock)
        before = proxy.round_trips
        for path in paths:
            await item.call(path, **members)
        await app.accounts()
    # Before it removes the item, the bank opens its clock to find its owner, whose turn it is.
    assert proxy.round_trips - before == len(paths) + 1 + 1


async def test_first_call_with_a_token_also_looks_it_up(world: World, proxy: Proxy) -> None:
    """So that callers without a token can't make the server decode large parameters."""
    await world.create(await world.sign_in())
    token = await world.sign_in()
    before = proxy.round_trips
    await world.create(token)
    # The user's earlier clock was the last change of the quota, and this server knows what it left.
    assert proxy.round_trips - before == 2
