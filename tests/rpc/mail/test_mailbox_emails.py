"""GET /mailbox/emails.json and /mailbox/emails/{id}.json, which the console uses."""

import asyncio
import os
from datetime import timedelta
from pathlib import Path

import pytest

from tests.rpc.builders import send_link
from tests.rpc.mail.test_mailbox_folder import LATER, ODD, STRANGE, TO_ANA
from tests.support.cases import each_case
from tests.support.emails import ANA, NOW, SENDER, make_email
from tests.support.world import HttpResponse, World
from tickover.server.sign_in.mail.compose import Composer
from tickover.server.sign_in.mail.outbox import TIMESTAMP_FORMAT, Outbox
from tickover.server.web.mailbox import Mailbox

BO = "bo@example.test"
UMLAUT = "jürgen@example.test"


async def listed(world: World) -> list[dict[str, str]]:
    response = await world.request("GET", "/mailbox/emails.json")
    assert response.status == 200
    assert list(response.json) == ["emails"]
    emails: list[dict[str, str]] = response.json["emails"]
    return emails


async def asked_for(world: World, id: str, form: str = "json") -> HttpResponse:
    return await world.request("GET", f"/mailbox/emails/{id}.{form}")


# The list


async def test_list_of_an_empty_outbox_is_empty(world: World) -> None:
    assert await listed(world) == []


async def test_emails_are_listed_newest_first(world: World) -> None:
    code = await world.send_code()
    world.pass_time(seconds=1)
    link = (await world.result("sendLoginCodeEmail", send_link(BO)))["loginUrl"]
    older, newer = sorted(file.stem for file in world.outbox.glob("*.eml"))
    assert await listed(world) == [
        {
            "id": newer,
            "to": BO,
            "subject": "Sign in to Tickover",
            "sentAt": "2027-01-01T12:00:01Z",
            "loginUrl": link,
        },
        {
            "id": older,
            "to": ANA,
            "subject": f"{code} is your Tickover code",
            "sentAt": "2027-01-01T12:00:00Z",
            "code": code,
        },
    ]


async def test_address_that_is_not_ascii_is_listed(world: World) -> None:
    await world.send_code(UMLAUT)
    assert [one["to"] for one in await listed(world)] == [UMLAUT]


@pytest.mark.parametrize(("count", "listed_count"), [(99, 99), (100, 100), (101, 100), (250, 100)])
def test_last_100_emails_are_listed(tmp_path: Path, count: int, listed_count: int) -> None:
    for number in range(count):
        (tmp_path / f"n{number:012}-{NOW + timedelta(seconds=number):{TIMESTAMP_FORMAT}}.eml").write_bytes(TO_ANA)
    found = asyncio.run(Mailbox(tmp_path).list_emails())
    newest = NOW + timedelta(seconds=count - 1)
    assert [one.sent_at for one in found] == [newest - timedelta(seconds=number) for number in range(listed_count)]


@pytest.mark.parametrize(("name", "content"), ODD.values(), ids=ODD)
def test_other_files_are_not_listed(tmp_path: Path, name: str, content: bytes) -> None:
    asyncio.run(Outbox(tmp_path, Composer(SENDER)).deliver(make_email()))
    (tmp_path / name).write_bytes(content)
    assert [one.code for one in asyncio.run(Mailbox(tmp_path).list_emails())] == ["012345"]


def test_special_files_are_not_listed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.eml"
    outside.write_bytes(TO_ANA)
    folder = tmp_path / "outbox"
    asyncio.run(Outbox(folder, Composer(SENDER)).deliver(make_email()))
    (folder / f"{LATER}.eml").mkdir()
    (folder / f"{LATER[:-1]}1.eml").symlink_to(outside)
    (folder / f"{LATER[:-1]}2.eml").symlink_to(folder / "nothing")
    # Reading a pipe without a writer would block.
    os.mkfifo(folder / f"{LATER[:-1]}3.eml")
    mailbox = Mailbox(folder)
    assert [one.code for one in asyncio.run(mailbox.list_emails())] == ["012345"]
    for number in range(4):
        assert asyncio.run(mailbox.get_email(f"{LATER[:-1]}{number}")) is None
        assert asyncio.run(mailbox.get_html(f"{LATER[:-1]}{number}")) is None


def test_missing_folder_has_an_empty_list(tmp_path: Path) -> None:
    assert asyncio.run(Mailbox(tmp_path / "outbox").list_emails()) == []


@pytest.mark.parametrize("rest", STRANGE.values(), ids=STRANGE)
def test_malformed_email_is_listed(tmp_path: Path, rest: bytes) -> None:
    (tmp_path / f"{LATER}.eml").write_bytes(b"From: x\r\nTo: ana@example.test\r\n" + rest)
    mailbox = Mailbox(tmp_path)
    [one] = asyncio.run(mailbox.list_emails())
    whole = asyncio.run(mailbox.get_email(LATER))
    page = asyncio.run(mailbox.get_html(LATER))
    assert whole is not None
    assert page is not None
    assert (one.id, one.to, one.subject) == (whole.id, whole.to, whole.subject) == (LATER, ANA, one.subject)
    assert "\n" not in one.subject
    assert whole.headers[:2] == [("From", "x"), ("To", ANA)]
    # The result can be encoded.
    for text in (whole.subject, whole.text, whole.source, *(value for _, value in whole.headers)):
        assert text.encode().decode() == text


# One email


async def test_email_has_headers_text_and_source(world: World) -> None:
    code = await world.send_code(UMLAUT)
    [one] = await listed(world)
    email = (await asked_for(world, one["id"])).json
    [file] = world.outbox.glob("*.eml")
    assert {**email, "text": "", "headers": [], "source": ""} == {**one, "text": "", "headers": [], "source": ""}
    assert f"\n{code}\n" in f"\n{email['text']}\n".replace(" ", "\n")
    assert email["source"] == file.read_bytes().decode().replace("\r\n", "\n")
    names = [name for name, _ in email["headers"]]
    assert names[:4] == ["X-Tickover-Code", "To", "From", "Subject"]
    headers = dict(email["headers"])
    assert len(headers) == len(names)
    assert (headers["To"], headers["X-Tickover-Code"]) == (UMLAUT, code)


@pytest.mark.parametrize("form", ["json", "html"])
async def test_response_headers_prevent_caching_and_framing(world: World, form: str) -> None:
    await world.send_code()
    [one] = await listed(world)
    headers = dict((await asked_for(world, one["id"], form)).headers)
    policy = headers.pop("content-security-policy")
    assert "default-src 'none'" in policy
    assert ("sandbox; " in policy) == (form == "html")
    assert headers.pop("date")
    assert headers.pop("x-request-id")
    assert headers.pop("content-length")
    assert headers == {
        "content-type": {"json": "application/json", "html": "text/html; charset=utf-8"}[form],
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
    }


async def test_deleted_email_returns_404(world: World) -> None:
    await world.send_code()
    [one] = await listed(world)
    [file] = world.outbox.glob("*.eml")
    file.unlink()
    for form in ("json", "html"):
        response = await asked_for(world, one["id"], form)
        assert (response.status, response.body) == (404, b"No such email.\n")


ESCAPES = (
    "../outside", "..%2foutside", "%2e%2e/outside", "..", ".", "", "/etc/passwd", "./{id}", "../outbox/{id}",
    "{id}/../{id}", "{id}/", "/{id}", "{id}\x00", "{id}\n", "{id}.eml", "{id}.json", ".{id}", " {id}", "{id} ",
    "{id}.json\x00", "*", "????????T*", "٠{id}", "{id}" * 100, "{id}" + "0" * 300, "{id}%00", "{id};x", "{id}\\..\\x",
)  # fmt: skip


@pytest.mark.parametrize("written", ESCAPES, ids=lambda text: ascii(text[:40]))
async def test_invalid_id_returns_404(world: World, written: str) -> None:
    await world.send_code()
    [one] = await listed(world)
    (world.outbox.parent / "outside.eml").write_bytes(TO_ANA)
    id = written.replace("{id}", one["id"])
    for form in ("json", "html", "eml", "txt", "JSON"):
        assert (await asked_for(world, id, form)).status == 404
    mailbox = Mailbox(world.outbox)
    assert (await mailbox.get_email(id), await mailbox.get_html(id)) == (None, None)


@each_case("path", ["emails", "emails/", "emails.html", "emails.json/", "Emails.json", "emails/.json"])
async def test_other_paths_return_404(world: World, path: str) -> None:
    assert (await world.request("GET", f"/mailbox/{path}")).status == 404


@each_case("path", ["emails.json", f"emails/{LATER}.json", f"emails/{LATER}.html"])
async def test_emails_cannot_be_modified(world: World, path: str) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        response = await world.request(method, f"/mailbox/{path}", b"{}")
        assert (response.status, response.headers["allow"]) == (405, "GET, HEAD")


def nested(depth: int) -> bytes:
    """Return nested emails."""
    return TO_ANA[:-2] + b"Content-Type: message/rfc822\r\n\r\n" * depth + b"\r\nx\r\n"


LARGE: dict[str, bytes] = {
    "long": TO_ANA + b"x" * 3_000_000,
    "of one long header": TO_ANA[:-2] + b"X: " + b"x" * 3_000_000 + b"\r\n\r\n",
    "of many headers": TO_ANA[:-2] + b"X: y\r\n" * 30_000 + b"\r\n",
    "in itself": nested(5000),
}


@pytest.mark.parametrize("written", LARGE.values(), ids=LARGE)
def test_huge_email_is_read_partially(tmp_path: Path, written: bytes) -> None:
    (tmp_path / f"{LATER}.eml").write_bytes(written)
    asyncio.run(Outbox(tmp_path, Composer(SENDER)).deliver(make_email(BO)))
    mailbox = Mailbox(tmp_path)
    assert BO in [one.to for one in asyncio.run(mailbox.list_emails())]
    whole = asyncio.run(mailbox.get_email(LATER))
    assert whole is None or len(whole.source) <= 1024 * 1024
    asyncio.run(mailbox.get_html(LATER))
    latest = asyncio.run(mailbox.latest_email(BO))
    assert latest is not None
