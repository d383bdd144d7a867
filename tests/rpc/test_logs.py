"""The debug log of calls. It contains no text of callers."""

import logging

import pytest

from tests.support.world import ANA, World

_WRONG_CODE = {"email": ANA, "code": "000000", "authenticationMethod": "EMAIL_CODE"}


def _lines(log: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in log.records if record.levelno == logging.DEBUG]


async def test_call_is_logged_in_one_line(world: World, token: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.clear()
    with world.logging_calls():
        response = await world.call("createTestClock", {}, token)
    (line,) = _lines(caplog)
    for part in ("createTestClock", "'ok'", response.headers["x-request-id"], "user_"):
        assert part in line


@pytest.mark.parametrize(
    ("method", "params", "outcome"),
    [
        ("createTestClock", {"nickname": "a name of mine"}, "INVALID_PARAMS"),
        ("loginByEmailVerification", _WRONG_CODE, "LOGIN_REFUSED"),
        ("a name of mine", {}, "METHOD_NOT_FOUND"),
    ],
)
async def test_rejected_call_is_logged_by_its_reason(
    world: World, token: str, caplog: pytest.LogCaptureFixture, method: str, params: dict[str, str], outcome: str
) -> None:
    caplog.clear()
    with world.logging_calls():
        await world.call(method, params, token)
    (line,) = _lines(caplog)
    assert outcome in line
    for secret in (token, ANA, "000000", "a name of mine"):
        assert secret not in line


async def test_calls_are_not_logged_above_debug_level(world: World, caplog: pytest.LogCaptureFixture) -> None:
    await world.call("nothing")
    assert caplog.records == []
