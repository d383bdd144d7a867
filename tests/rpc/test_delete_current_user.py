"""deleteCurrentUser, and logout everywhere."""

from tests.rpc.builders import BEN, START, reason_of
from tests.support.world import World


async def test_deleted_user_has_no_clocks_and_comes_back_as_a_new_one(world: World, token: str) -> None:
    first = (await world.result("getCurrentUser", {}, token))["userId"]
    for _ in range(3):
        await world.create(token, frozenTime=START)
    access = (await world.result("createAccessToken", {"name": "CI"}, token))["token"]
    bens = await world.sign_in(BEN)
    await world.create(bens)
    assert await world.result("deleteCurrentUser", {}, token) == {"message": "ok"}
    for revoked in (token, access):
        assert reason_of(await world.call("listTestClocks", {}, revoked)) == "UNAUTHENTICATED"
    again = await world.sign_in()
    assert (await world.result("getCurrentUser", {}, again))["userId"] != first
    assert await world.result("listTestClocks", {}, again) == {"clocks": []}
    assert len((await world.result("listTestClocks", {}, bens))["clocks"]) == 1


async def test_logout_everywhere_ends_all_sessions_and_no_access_token(world: World, token: str) -> None:
    access = (await world.result("createAccessToken", {"name": "CI"}, token))["token"]
    world.pass_time(minutes=2)
    other, bens = await world.sign_in(), await world.sign_in(BEN)
    assert await world.result("logout", {"everywhere": True}, other) == {"message": "ok"}
    for revoked in (token, other):
        assert reason_of(await world.call("listTestClocks", {}, revoked)) == "UNAUTHENTICATED"
    for live in (access, bens):
        await world.result("listTestClocks", {}, live)
