"""loginByEmailLink: a link works once within an hour. All invalid links get the same response."""

import base64
import hashlib
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.support.program import link_params, verify_params
from tests.support.world import ANA, NOW, HttpResponse, World, run_concurrently
from tickover.server.sign_in.tokens import Mint

SEND = "sendLoginCodeEmail"
BY_CODE = "loginByEmailVerification"
BY_LINK = "loginByEmailLink"
BEN = "ben@example.test"
KEY = b"a key for tests alone"


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


async def code_opens(world: World, code: str, email: str = ANA) -> bool:
    return "result" in (await world.call(BY_CODE, verify_params(email, code))).json


# The secret


async def test_link_has_256_bits(world: World) -> None:
    secrets = [await send_link(world, f"u{number}@example.test") for number in range(20)]
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", secret) for secret in secrets)
    assert {len(base64.urlsafe_b64decode(secret + "=")) for secret in secrets} == {32}
    assert len(set(secrets)) == 20


def test_every_bit_of_a_link_is_random() -> None:
    drawn = bytes(range(7, 39))
    asked: list[int] = []

    def entropy(count: int) -> bytes:
        asked.append(count)
        return drawn

    secret = Mint(KEY, entropy).new_link_secret()
    assert asked == [32]
    assert base64.urlsafe_b64decode(secret + "=") == drawn


# Parameters


@pytest.mark.parametrize(
    "in_place_of",
    [
        pytest.param(lambda link: None, id="null"),
        pytest.param(lambda link: 5, id="a whole number"),
        pytest.param(lambda link: 5.5, id="a broken number"),
        pytest.param(lambda link: True, id="true"),
        pytest.param(lambda link: [], id="an empty array"),
        pytest.param(lambda link: {}, id="an empty object"),
        pytest.param(lambda link: [link], id="a link in an array"),
        pytest.param(lambda link: {"token": link}, id="a link in an object"),
        pytest.param(lambda link: {link: 1}, id="a link as a name"),
    ],
)
async def test_token_other_than_string_is_rejected_and_not_repeated(
    world: World, in_place_of: Callable[[str], Any]
) -> None:
    link = await send_link(world)
    response = await world.call(BY_LINK, {"token": in_place_of(link)})
    (fault,) = response.json["error"]["data"]["errors"]
    assert (response.status, response.json["error"]["code"]) == (200, -32602)
    assert (fault["path"], fault["rule"]) == ("token", "type")
    assert "got" not in fault
    assert link.encode() not in response.body
    assert await opens(world, link)


@pytest.mark.parametrize("after", ["\0", "\ud800"], ids=["U+0000", "a lone surrogate"])
async def test_invalid_text_as_token_is_rejected_and_not_repeated(world: World, after: str) -> None:
    link = await send_link(world)
    response = await world.call(BY_LINK, {"token": link + after})
    (fault,) = response.json["error"]["data"]["errors"]
    assert (fault["path"], fault["rule"]) == ("token", "format")
    assert link.encode() not in response.body
    assert await opens(world, link)


@pytest.mark.parametrize(
    ("params", "faults"),
    [
        ({}, {"token": "required"}),
        ({"Token": "x"}, {"token": "required", "Token": "unknown"}),
        ({"token": "x", "email": ANA}, {"email": "unknown"}),
        ({"token": "x", "authenticationMethod": "EMAIL_LINK"}, {"authenticationMethod": "unknown"}),
        ({"token": 5, "code": "123456"}, {"token": "type", "code": "unknown"}),
        (["x"], {"params": "type"}),
    ],
    ids=str,
)
async def test_unknown_parameters_are_rejected(world: World, params: Any, faults: dict[str, str]) -> None:
    assert await world.faults(BY_LINK, params) == faults


async def test_link_with_unknown_parameters_is_not_used(world: World) -> None:
    link = await send_link(world)
    assert await world.faults(BY_LINK, {"token": link, "email": ANA}) == {"email": "unknown"}
    assert await opens(world, link)


# Results


async def test_valid_link_returns_a_token_and_a_user_id(world: World) -> None:
    result = await world.result(BY_LINK, {"token": await send_link(world)})
    assert result.keys() == {"token", "userId"}
    assert re.fullmatch(r"tko_[A-Za-z0-9_-]{43}", result["token"])
    assert re.fullmatch(r"user_[0-9a-f-]{36}", result["userId"])
    await world.create(result["token"])


async def test_link_and_code_sign_in_the_same_user(world: World) -> None:
    user_ids = [(await world.result(BY_LINK, {"token": await send_link(world, "Ana@Example.TEST")}))["userId"]]
    world.pass_time(minutes=1)
    code = await world.send_code()
    user_ids.append((await world.result(BY_CODE, verify_params(ANA, code)))["userId"])
    world.pass_time(days=40)
    user_ids.append((await world.result(BY_LINK, {"token": await send_link(world)}))["userId"])
    assert len(set(user_ids)) == 1
    bens = await world.result(BY_LINK, {"token": await send_link(world, BEN)})
    assert bens["userId"] not in user_ids


async def test_token_from_link_is_valid_for_30_days(world: World) -> None:
    token = (await world.result(BY_LINK, {"token": await send_link(world)}))["token"]
    world.pass_time(days=30, microseconds=-1)
    await world.create(token)
    world.pass_time(microseconds=1)
    assert (await world.error("createTestClock", {}, token))["data"]["reason"] == "UNAUTHENTICATED"


@pytest.mark.parametrize("token", [None, "", "tko_" + "x" * 43, "nonsense"])
async def test_link_sign_in_ignores_bearer_token(world: World, token: str | None) -> None:
    await world.result(BY_LINK, {"token": await send_link(world)}, token)


async def test_link_works_from_another_network(world: World) -> None:
    link = await send_link(world)
    world.client = "2001:db8::1"
    assert await opens(world, link)


# Validity of links


@pytest.mark.parametrize(
    ("seconds", "still_good"),
    [
        pytest.param(0, True, id="at once"),
        pytest.param(600, True, id="when a code would be too old"),
        pytest.param(3_599.999999, True, id="just before an hour"),
        pytest.param(3_600, False, id="after an hour to the instant"),
        pytest.param(86_400, False, id="the next day"),
    ],
)
async def test_link_is_valid_for_an_hour(world: World, seconds: float, still_good: bool) -> None:
    link = await send_link(world)
    world.pass_time(seconds=seconds)
    assert await opens(world, link) == still_good


async def test_sweep_keeps_valid_links(world: World) -> None:
    link = await send_link(world)
    world.pass_time(seconds=3_599.999999)
    await world.store.sweep(world.now, 1_000)
    assert await opens(world, link)


async def test_link_works_once(world: World) -> None:
    link = await send_link(world)
    assert await opens(world, link)
    assert not await opens(world, link)


async def test_one_of_50_concurrent_uses_succeeds(world: World) -> None:
    link = await send_link(world)
    assert sorted(await run_concurrently(50, lambda _: opens(world, link))) == [False] * 49 + [True]


@pytest.mark.parametrize("used", [0, 1, 2])
async def test_links_do_not_void_each_other(world: World, used: int) -> None:
    links = []
    for _ in range(3):
        links.append(await send_link(world))
        world.pass_time(minutes=1)
    assert await opens(world, links[used])


async def test_newer_code_keeps_the_link_valid(world: World) -> None:
    link = await send_link(world)
    world.pass_time(minutes=1)
    await world.send_code()
    assert await opens(world, link)


@pytest.mark.parametrize("by", ["code", "oldest link", "newest link"])
async def test_sign_in_voids_code_and_links_of_the_address(world: World, by: str) -> None:
    oldest = await send_link(world)
    world.pass_time(minutes=1)
    code = await world.send_code()
    world.pass_time(minutes=1)
    newest = await send_link(world)
    if by == "code":
        assert await code_opens(world, code)
    else:
        assert await opens(world, oldest if by == "oldest link" else newest)
    assert not await opens(world, oldest)
    assert not await opens(world, newest)
    assert not await code_opens(world, code)


async def test_sign_in_voids_nothing_of_other_addresses(world: World) -> None:
    bens_link = await send_link(world, BEN)
    world.pass_time(minutes=1)
    bens_code = await world.send_code(BEN)
    assert await opens(world, await send_link(world, ANA))
    assert await code_opens(world, bens_code, BEN)
    world.pass_time(minutes=1)
    assert not await opens(world, bens_link)
    assert await opens(world, await send_link(world, BEN))


async def test_emails_after_a_sign_in_are_valid(world: World) -> None:
    assert await opens(world, await send_link(world))
    world.pass_time(minutes=1)
    link = await send_link(world)
    world.pass_time(minutes=1)
    code = await world.send_code()
    world.pass_time(minutes=1)
    assert await opens(world, link)
    assert not await code_opens(world, code)


async def test_wrong_links_use_up_nothing(world: World) -> None:
    link = await send_link(world)
    world.pass_time(minutes=1)
    code = await world.send_code()
    for number in range(200):
        assert not await opens(world, f"{number:043}")
    assert await code_opens(world, code)
    world.pass_time(minutes=1)
    assert not await opens(world, link)
    assert await opens(world, await send_link(world))


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_loading_the_page_of_a_link_does_not_use_it(world: World, method: str) -> None:
    link = await send_link(world)
    assert (await world.request(method, "/login")).status == 200
    assert await opens(world, link)


# One response for all errors


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


async def unknown(world: World) -> str:
    return base64url(bytes(32))


async def empty(world: World) -> str:
    return ""


async def one_bit_wrong(world: World) -> str:
    raw = base64.urlsafe_b64decode(await send_link(world) + "=")
    return base64url(bytes([raw[0] ^ 1]) + raw[1:])


async def other_bits_in_the_last_character(world: World) -> str:
    # The last of 43 characters has two unused bits. A link is compared as text.
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    link = await send_link(world)
    return link[:-1] + alphabet[alphabet.index(link[-1]) ^ 1]


async def expired(world: World) -> str:
    link = await send_link(world)
    world.pass_time(hours=1)
    return link


async def used(world: World) -> str:
    link = await send_link(world)
    assert await opens(world, link)
    return link


async def voided_by_a_code(world: World) -> str:
    link = await send_link(world)
    world.pass_time(minutes=1)
    assert await code_opens(world, await world.send_code())
    return link


async def swept(world: World) -> str:
    link = await send_link(world)
    world.pass_time(hours=2)
    await world.store.sweep(world.now, 1_000)
    return link


async def a_code(world: World) -> str:
    return await world.send_code()


async def the_digest_of_a_code(world: World) -> str:
    return base64url(Mint(KEY).code_digest(ANA, NOW, await world.send_code()))


async def the_digest_of_a_code_in_hex(world: World) -> str:
    return Mint(KEY).code_digest(ANA, NOW, await world.send_code()).hex()


async def the_digest_of_a_link(world: World) -> str:
    return base64url(hashlib.sha256((await send_link(world)).encode()).digest())


async def a_bearer_token(world: World) -> str:
    return await world.sign_in()


async def the_whole_url(world: World) -> str:
    return f"https://tickover.example.test/login#token={await send_link(world)}"


async def space_before(world: World) -> str:
    return " " + await send_link(world)


async def line_break_after(world: World) -> str:
    return await send_link(world) + "\n"


async def padded(world: World) -> str:
    return await send_link(world) + "="


async def cut_short(world: World) -> str:
    return (await send_link(world))[:-1]


async def in_another_case(world: World) -> str:
    return (await send_link(world)).swapcase()


async def not_ascii(world: World) -> str:
    return "ключ"


async def very_long(world: World) -> str:
    return await send_link(world) * 10_000


@pytest.mark.parametrize(
    "a_bad_link",
    [unknown, empty, one_bit_wrong, other_bits_in_the_last_character, expired, used, voided_by_a_code, swept, a_code,
     the_digest_of_a_code, the_digest_of_a_code_in_hex, the_digest_of_a_link, a_bearer_token, the_whole_url,
     space_before, line_break_after, padded, cut_short, in_another_case, not_ascii,
     very_long],
    ids=lambda make: make.__name__,
)  # fmt: skip
async def test_invalid_link_and_invalid_code_have_the_same_response(
    world: World, a_bad_link: Callable[[World], Awaitable[str]]
) -> None:
    link = await a_bad_link(world)
    by_link = await world.post({"jsonrpc": "2.0", "id": 7, "method": BY_LINK, "params": {"token": link}})
    params = verify_params("nobody@example.test", "123456")
    by_code = await world.post({"jsonrpc": "2.0", "id": 7, "method": BY_CODE, "params": params})
    assert reason_and_code(by_link) == ("LOGIN_REFUSED", -32020)
    assert (by_link.status, by_link.body) == (by_code.status, by_code.body) == (200, by_code.body)
    assert without_request_id(by_link) == without_request_id(by_code)


def reason_and_code(response: HttpResponse) -> tuple[str, int]:
    error = response.json["error"]
    return error["data"]["reason"], error["code"]


def without_request_id(response: HttpResponse) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name != "x-request-id"}


# Links and codes


async def test_link_as_code_is_rejected_and_not_counted(world: World) -> None:
    code = await world.send_code()
    world.pass_time(minutes=1)
    link = await send_link(world)
    for text in (link, hashlib.sha256(link.encode()).hexdigest(), link[:6] + "x"):
        for _ in range(6):
            response = await world.call(BY_CODE, verify_params(ANA, text))
            assert response.json["error"]["data"]["errors"] == [
                {"path": "code", "rule": "format", "message": "must be 6 digits"}
            ]
            assert text.encode() not in response.body
    assert await code_opens(world, code)


async def test_address_with_only_a_link_has_no_code(world: World) -> None:
    link = await send_link(world)
    for number in range(20):
        assert not await code_opens(world, f"{number:06}")
    assert await opens(world, link)


async def test_link_uses_the_configured_public_url(world: World) -> None:
    params = {"email": ANA, "loginCodeType": "LONG_LIVED", "emailType": "WEB_LOGIN_LINK"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "sendLoginCodeEmail", "params": params}
    forged = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    response = await world.post(call, **forged)
    assert response.json["result"]["loginUrl"].startswith("https://tickover.example.test/login#token=")
    assert "evil" not in str(world.emails()[-1])
