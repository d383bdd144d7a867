"""loginByEmailLink: a link works once within an hour. All invalid links get the same response."""

import base64
import hashlib
from collections.abc import Callable

import pytest

from tests.support.program import link_params, verify_params
from tests.support.world import ANA, World

SEND = "sendLoginCodeEmail"
BY_CODE = "loginByEmailVerification"
BY_LINK = "loginByEmailLink"


async def send_link(world: World, email: str = ANA) -> str:
    """Send a link, and return its secret from `loginUrl`."""
    url: str = (await world.result(SEND, link_params(email)))["loginUrl"]
    start, mark, secret = url.partition("#token=")
    assert (start, mark) == ("https://tickover.example.test/login", "#token=")
    return secret


async def opens(world: World, secret: str) -> bool:
    response = await world.call(BY_LINK, {"token": secret})
    if "result" in response.json:
        return True
    assert response.json["error"]["data"] == {"reason": "LOGIN_REFUSED"}
    return False


async def test_invalid_token_is_not_repeated(world: World) -> None:
    link = await send_link(world)
    response = await world.call(BY_LINK, {"token": f"{link}\0"})
    [fault] = response.json["error"]["data"]["errors"]
    assert (fault["path"], fault["rule"]) == ("token", "format")
    assert link.encode() not in response.body
    assert await opens(world, link)


# One response for all errors


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def with_other_unused_bits(link: str) -> str:
    # The last of 43 characters has two unused bits. A link is compared as text.
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return link[:-1] + alphabet[alphabet.index(link[-1]) ^ 1]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda _: base64url(bytes(32)), id="unknown"),
        with_other_unused_bits,
        pytest.param(lambda link: base64url(hashlib.sha256(link.encode()).digest()), id="the stored digest"),
    ],
)
async def test_changed_link_is_rejected_like_an_invalid_code(world: World, change: Callable[[str], str]) -> None:
    link = await send_link(world)
    await check_rejection(world, change(link))
    assert await opens(world, link)
    await check_rejection(world, link)


async def check_rejection(world: World, link: str) -> None:
    by_link = await world.post({"jsonrpc": "2.0", "id": 7, "method": BY_LINK, "params": {"token": link}})
    params = verify_params("nobody@example.test", "123456")
    by_code = await world.post({"jsonrpc": "2.0", "id": 7, "method": BY_CODE, "params": params})
    assert by_link.json["error"]["data"] == {"reason": "LOGIN_REFUSED"}
    assert (by_link.status, by_link.body) == (by_code.status, by_code.body)
    assert by_link.headers.keys() == by_code.headers.keys()


# Links and codes


async def test_link_uses_the_configured_public_url(world: World) -> None:
    params = {"email": ANA, "loginCodeType": "LONG_LIVED", "emailType": "WEB_LOGIN_LINK"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "sendLoginCodeEmail", "params": params}
    forged = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    response = await world.post(call, **forged)
    assert response.json["result"]["loginUrl"].startswith("https://tickover.example.test/login#token=")
    assert "evil" not in str(world.emails()[-1])
