"""loginByEmailVerification: a code works once, within ten minutes and five attempts. All failures look the same."""

from tests.rpc.builders import BEN, call, login, reason_of, send_link, wrong
from tests.support.world import ANA, World

LOGIN = "loginByEmailVerification"


async def rejected(world: World, code: str, email: str = ANA) -> bool:
    response = await world.call(LOGIN, login(code, email))
    if "result" in response.json:
        return False
    assert reason_of(response) == "LOGIN_REFUSED"
    return True


async def test_all_login_errors_are_identical(world: World) -> None:
    """tests/store/test_logins.py has the other reasons for which a store finds no user."""
    used = await world.send_code()
    await world.result(LOGIN, login(used))
    await world.result("sendLoginCodeEmail", send_link("only-a-link@example.test"))
    wrong_code = wrong(await world.send_code(BEN))
    attempts = [
        login(used),
        login("123456", "only-a-link@example.test"),
        login(wrong_code, BEN),
        login("123456", "x@y.test"),
    ]
    responses = [await world.post(call(LOGIN, params)) for params in attempts]
    assert reason_of(responses[0]) == "LOGIN_REFUSED"
    assert len({(response.status, response.body, tuple(response.headers)) for response in responses}) == 1
