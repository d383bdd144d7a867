"""GET /mailbox/latest: the newest email to an address."""

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.rpc.builders import send_link
from tests.support.emails import ANA
from tests.support.program import Program
from tests.support.world import HttpResponse, World

BO = "bo@example.test"


async def asked_for(world: World, to: str) -> HttpResponse:
    return await world.request("GET", f"/mailbox/latest?to={to}")


# Responses


async def test_latest_email_contains_the_code(world: World) -> None:
    code = await world.send_code()
    response = await asked_for(world, ANA)
    assert response.status == 200
    [file] = world.outbox.glob("*.eml")
    assert {**response.json, "text": ""} == {
        "id": file.stem,
        "to": ANA,
        "subject": f"{code} is your Tickover code",
        "sentAt": "2027-01-01T12:00:00Z",
        "code": code,
        "text": "",
    }
    assert re.search(rf"\b{code}\b", response.json["text"])
    assert "<" not in response.json["text"]
    assert "\r" not in response.json["text"]


async def test_latest_email_contains_the_link(world: World) -> None:
    link = (await world.result("sendLoginCodeEmail", send_link()))["loginUrl"]
    email = (await asked_for(world, ANA)).json
    assert (email["loginUrl"], email["subject"]) == (link, "Sign in to Tickover")
    assert link in email["text"]
    assert "code" not in email


async def test_code_from_the_mailbox_signs_in(world: World) -> None:
    await world.send_code()
    code = (await asked_for(world, ANA)).json["code"]
    params = {"email": ANA, "code": code, "authenticationMethod": "EMAIL_CODE"}
    assert "token" in await world.result("loginByEmailVerification", params)
    await world.result("sendLoginCodeEmail", send_link(BO))
    link = (await asked_for(world, BO)).json["loginUrl"]
    assert "token" in await world.result("loginByEmailLink", {"token": link.partition("#token=")[2]})


async def test_latest_email_is_the_newest_of_its_address(world: World) -> None:
    for email in (ANA, BO, ANA):
        code = await world.send_code(email)
        assert (await asked_for(world, email)).json["code"] == code
        world.pass_time(minutes=1)
    assert (await asked_for(world, BO)).json["sentAt"] == "2027-01-01T12:01:00Z"


async def test_later_emails_have_greater_ids(world: World) -> None:
    ids = []
    for _ in range(3):
        await world.send_code()
        ids.append((await asked_for(world, ANA)).json["id"])
        world.pass_time(minutes=1, microseconds=1)
    assert ids == sorted(set(ids))


async def test_address_without_emails_returns_404(world: World) -> None:
    await world.send_code(BO)
    response = await asked_for(world, ANA)
    assert (response.status, response.headers["content-type"]) == (404, "text/plain; charset=utf-8")
    assert response.body == b"No email to this address.\n"


async def test_response_is_not_cached(world: World) -> None:
    await world.send_code()
    headers = dict((await asked_for(world, ANA)).headers)
    assert "default-src 'none'" in headers.pop("content-security-policy")
    assert headers.pop("date")
    assert headers.pop("x-request-id")
    assert headers.pop("content-length")
    assert headers == {
        "content-type": "application/json",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
    }


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get"])
async def test_other_methods_are_rejected(world: World, method: str) -> None:
    response = await world.request(method, f"/mailbox/latest?to={ANA}", b"{}")
    assert (response.status, response.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("path", ["/mailbox", "/mailbox/", "/mailbox/latest/", "/Mailbox/latest", "/mailbox/all"])
async def test_other_paths_return_404(world: World, path: str) -> None:
    assert (await world.request("GET", path)).status == 404


# Addresses


@pytest.mark.parametrize(
    ("to", "asked"),
    [
        (ANA, "ana%40example.test"),
        (ANA, "ANA@Example.TEST"),
        ("ana+x@example.test", "ana%2Bx@example.test"),
        ("ana+x@example.test", "Ana%2bX%40example.test"),
        ("ana@bücher.test", quote("ana@bücher.test")),
        ("ana@bücher.test", quote("ANA@BÜCHER.test")),
        ("ana@bücher.test", "ana@xn--bcher-kva.test"),
        ("ölaf@example.test", quote("ölaf@example.test")),
        ('"a b"@example.test', quote('"a b"@example.test')),
        ("o'neil&co=x@example.test", quote("o'neil&co=x@example.test")),
        ("ana@localhost", "ana@localhost"),
    ],
)
async def test_address_is_normalized(world: World, to: str, asked: str) -> None:
    code = await world.send_code(to)
    email = (await asked_for(world, asked)).json
    assert email["code"] == code
    assert email["to"] == to.replace("bücher", "xn--bcher-kva")


@pytest.mark.parametrize("asked", ["na@example.test", "ana@example.tes", "xana@example.test", "ana@example.test.test"])
async def test_other_address_is_not_found(world: World, asked: str) -> None:
    await world.send_code()
    assert (await asked_for(world, asked)).status == 404


@pytest.mark.parametrize(
    "query",
    [
        "", "?", "?to", "?to=", "?to=ana", "?to=ana@", "?to=@example.test", "?to=ana@example.test,bo@example.test",
        "?to=ana+x@example.test", "?to=ana%0D%0A@example.test", "?to=ana@example.test%0A",
        "?to=ana%00@example.test", "?TO=ana@example.test", "?email=ana@example.test",
        "?to=ana@example.test&to=bo@example.test", "?to=ana@example.test&to=ana@example.test",
        "?to=%3Cana@example.test%3E", f"?to={'a' * 64}@{'b.' * 95}test", f"?to={'a' * 30_000}@example.test",
        "?to=ana@example.test" + "&x=1" * 10,
    ],
    ids=lambda query: repr(query[:60]),
)  # fmt: skip
async def test_invalid_address_is_rejected(world: World, query: str) -> None:
    await world.send_code()
    response = await world.request("GET", f"/mailbox/latest{query}")
    assert (response.status, response.headers["content-type"]) == (400, "text/plain; charset=utf-8")
    assert b"/mailbox/latest?to=ADDRESS" in response.body


@pytest.mark.parametrize("query", ["&x=1" * 9, "&x", "&&", f"&x={'y' * 20_000}"], ids=lambda query: query[:20])
async def test_other_query_parameters_are_ignored(world: World, query: str) -> None:
    code = await world.send_code()
    assert (await asked_for(world, ANA + query)).json["code"] == code


# SMTP


@pytest.fixture(params=["outbox:", "smtp://127.0.0.1:9"], ids=["outbox", "SMTP"])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Program]:
    with Program(tmp_path, TICKOVER_MAIL_URL=request.param) as started:
        yield started


PLACES = (
    f"/mailbox/latest?to={ANA}",
    "/mailbox/emails.json",
    "/mailbox/emails/20270101T120000.000000Z-1-000000.json",
    "/mailbox/emails/20270101T120000.000000Z-1-000000.html",
    "/mailbox/emails/n000000000001-20270101T120000.000000Z.json",
)


def test_mailbox_is_missing_with_smtp(program: Program) -> None:
    has_mailbox = program.environment["TICKOVER_MAIL_URL"] == "outbox:"
    for method, place in product(("GET", "POST"), PLACES):
        response = program.request(method, place)
        unknown = program.request(method, f"/mailboxes?to={ANA}")
        assert unknown.status == 404
        assert ((response.status, response.body) != (404, unknown.body)) == has_mailbox
    if has_mailbox:
        code = program.send_code()
        assert program.request("GET", f"/mailbox/latest?to={ANA}").json["code"] == code
        [listed] = program.request("GET", "/mailbox/emails.json").json["emails"]
        email = f"/mailbox/emails/{listed['id']}"
        for place in (f"/mailbox/latest?to={ANA}", "/mailbox/emails.json", f"{email}.json", f"{email}.html"):
            got, head = (program.request(method, place) for method in ("GET", "HEAD"))
            assert (got.status, head.status, head.body) == (200, 200, b"")
            assert head.headers["content-length"] == got.headers["content-length"] == str(len(got.body))
