"""loginByEmailVerification: a code works once, within ten minutes and five tries. All failures look the same."""

from collections.abc import Awaitable, Callable

import pytest

from tests.rpc.builders import call, login, reason_of, send_link, wrong
from tests.support.world import ANA, HttpResponse, World

LOGIN = "loginByEmailVerification"


async def rejected(world: World, code: str, email: str = ANA) -> bool:
    response = await world.call(LOGIN, login(code, email))
    if "result" in response.json:
        return False
    assert reason_of(response) == "LOGIN_REFUSED"
    return True


# Parameters


async def test_invalid_parameters_are_not_counted_as_try(world: World) -> None:
    code = await world.send_code()
    for invalid in (code[:5], code + "0", f" {code[:5]}", int(code)):
        for _ in range(3):
            assert await world.faults(LOGIN, login(invalid))
    for _ in range(6):
        assert await world.faults(LOGIN, login(code, authenticationMethod="PASSWORD"))
    for _ in range(4):
        assert await rejected(world, wrong(code))
    assert not await rejected(world, code)


# One response for all errors


async def unknown_address(world: World) -> str:
    return "123456"


async def wrong_code(world: World) -> str:
    return wrong(await world.send_code())


async def spent(world: World) -> str:
    code = await world.send_code()
    await world.result(LOGIN, login(code))
    return code


async def only_a_link(world: World) -> str:
    await world.result("sendLoginCodeEmail", send_link())
    return "123456"


REJECTION = (
    b'{"jsonrpc":"2.0","error":{"code":-32020,'
    b'"message":"This code or link is wrong, used or expired. Request a new one.",'
    b'"data":{"reason":"LOGIN_REFUSED"}},"id":7}'
)


@pytest.mark.parametrize("a_bad_code", [unknown_address, wrong_code, spent, only_a_link])
async def test_all_login_errors_are_identical(world: World, a_bad_code: Callable[[World], Awaitable[str]]) -> None:
    """tests/store/test_logins.py has the other reasons for which a store finds no user."""
    response: HttpResponse = await world.post(call(LOGIN, login(await a_bad_code(world))))
    assert (response.status, response.body) == (200, REJECTION)
    names = {"cache-control", "content-length", "content-type", "date", "x-content-type-options", "x-request-id"}
    assert set(response.headers) == names
