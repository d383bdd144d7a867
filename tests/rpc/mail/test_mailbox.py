"""The mailbox over HTTP: the newest email to an address, the list of emails, one email and its HTML."""

from pathlib import Path
from urllib.parse import quote

import pytest

from tests.rpc.builders import send_link
from tests.support.emails import ANA
from tests.support.log_capture import LogCapture
from tests.support.world import HttpResponse, World
from tickover.server.app import TickoverServer
from tickover.server.settings import read_settings

BO = "bo@example.test"
ID = "n000000000009-20270101T120000.000000Z"
HTML_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'none'"
)


async def latest(world: World, to: str) -> HttpResponse:
    return await world.request("GET", f"/mailbox/latest?to={to}")


async def listed(world: World) -> list[dict[str, str]]:
    response = await world.request("GET", "/mailbox/emails.json")
    assert (response.status, list(response.json)) == (200, ["emails"])
    emails: list[dict[str, str]] = response.json["emails"]
    return emails


async def get_email(world: World, id: str, form: str = "json") -> HttpResponse:
    return await world.request("GET", f"/mailbox/emails/{id}.{form}")


# The newest email to an address


async def test_latest_email_contains_the_code(world: World) -> None:
    await world.send_code(BO)
    code = await world.send_code()
    email = (await latest(world, ANA)).json
    text = email.pop("text")
    assert email == {
        "id": "n000000000002-20270101T120000.000000Z",
        "to": ANA,
        "subject": f"{code} is your Tickover code",
        "sentAt": "2027-01-01T12:00:00Z",
        "code": code,
    }
    assert code in text.split()
    assert "10 minutes" in text
    assert "<" not in text
    assert "\r" not in text


@pytest.mark.parametrize(
    ("to", "asked"),
    [
        ("ana+x@example.test", "Ana%2bX%40example.TEST"),
        ("o'neil&co=x@example.test", quote("o'neil&co=x@example.test") + "&x=1"),
    ],
)
async def test_address_is_normalized(world: World, to: str, asked: str) -> None:
    code = await world.send_code(to)
    assert (await latest(world, asked)).json["code"] == code


@pytest.mark.parametrize(
    "query",
    [
        "", "?to=ana", "?to=ana+x@example.test", "?to=ana@example.test%0A", "?to=ana@example.test&to=ana@example.test",
        "?to=ana@example.test" + "&x=1" * 10,
    ],
)  # fmt: skip
async def test_invalid_address_is_rejected(world: World, query: str) -> None:
    await world.send_code()
    response = await world.request("GET", f"/mailbox/latest{query}")
    assert response.status == 400
    assert b"/mailbox/latest?to=ADDRESS" in response.body


# All emails


async def test_emails_are_listed_newest_first(world: World) -> None:
    code = await world.send_code()
    # The wall clock is set back.
    world.pass_time(seconds=-1)
    link = (await world.result("sendLoginCodeEmail", send_link(BO)))["loginUrl"]
    older, newer = sorted(file.stem for file in world.outbox.glob("*.eml"))
    assert await listed(world) == [
        {"id": newer, "to": BO, "subject": "Sign in to Tickover", "sentAt": "2027-01-01T11:59:59Z", "loginUrl": link},
        {
            "id": older,
            "to": ANA,
            "subject": f"{code} is your Tickover code",
            "sentAt": "2027-01-01T12:00:00Z",
            "code": code,
        },
    ]


@pytest.mark.parametrize(
    "written",
    [
        "../outside", "..%2foutside", "", "/etc/passwd", "../outbox/{id}", "{id}\x00", "{id}\n", ".{id}", "*", "٠{id}",
    ],
    ids=lambda text: ascii(text[:40]),
)  # fmt: skip
async def test_invalid_id_returns_404(world: World, written: str) -> None:
    await world.send_code()
    [one] = await listed(world)
    (world.outbox.parent / "outside.eml").write_bytes(b"From: x\r\nTo: ana@example.test\r\n\r\n")
    id = written.replace("{id}", one["id"])
    for form in ("json", "html", "eml"):
        assert (await get_email(world, id, form)).status == 404


# Headers and methods


@pytest.mark.parametrize("path", [f"latest?to={ANA}", "emails.json", "emails/{id}.json", "emails/{id}.html"])
async def test_response_is_not_cached_or_framed(world: World, path: str) -> None:
    await world.send_code()
    [one] = await listed(world)
    response = await world.request("GET", f"/mailbox/{path.format(id=one['id'])}")
    changing = {"content-security-policy", "content-type", "date", "x-request-id"}
    assert {name: value for name, value in response.headers.items() if name not in changing} == {
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
    }
    content_type, policy = response.headers["content-type"], response.headers["content-security-policy"]
    if path.endswith(".html"):
        assert (content_type, policy) == ("text/html; charset=utf-8", HTML_POLICY)
    else:
        assert content_type == "application/json"
        assert "default-src 'none'" in policy


# HTML. Tests in a browser show that it is inert in the console's frame.


async def test_html_is_sandboxed_whatever_it_contains(world: World) -> None:
    content = b"From: x\r\nTo: y\r\nContent-Type: text/html\r\n\r\n<script>x</script>"
    (world.outbox / f"{ID}.eml").write_bytes(content)
    response = await get_email(world, ID, "html")
    assert response.headers["content-security-policy"] == HTML_POLICY
    assert response.body.decode() == "<script>x</script>"


# SMTP


@pytest.mark.parametrize("mail_url", ["outbox:", "smtp://127.0.0.1:9"])
async def test_mailbox_is_missing_with_smtp(tmp_path: Path, mail_url: str) -> None:
    settings = read_settings({}, {"data_dir": str(tmp_path), "port": "0", "mail_url": mail_url})
    server = await TickoverServer.open(settings, LogCapture().log)
    await server.close()
    site = server._handler._site
    for path in ("/mailbox/latest", "/mailbox/emails.json", f"/mailbox/emails/{ID}.json"):
        assert site.has(path) == (mail_url == "outbox:")
