"""sendLoginCodeEmail: parameters, emails, the resend interval and failing mail servers."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from tests.rpc.builders import BEN, call, login, open_failing_mail_world, reason_of, send, send_link
from tests.support.world import ANA, World
from tickover.server.sign_in.mail.mailer import Email, MailOutcomeUnknown, MailRejected

SEND = "sendLoginCodeEmail"
LOGIN = "loginByEmailVerification"
LINK = re.compile(r"https://tickover\.example\.test/login#token=[A-Za-z0-9_-]{43}")


# Parameters


@pytest.mark.parametrize(
    ("given", "known_as"), [("Ana@Example.TEST", ANA), ("用户@例子.广告", "用户@xn--fsqu00a.xn--4rr70v")]
)
async def test_email_is_sent_to_the_canonical_address(world: World, given: str, known_as: str) -> None:
    assert await world.result(SEND, send(given)) == {"message": "ok"}
    (file,) = world.outbox.glob("*.eml")
    headers = file.read_bytes().partition(b"\r\n\r\n")[0].replace(b"\r\n ", b" ")
    assert b"\r\nTo: " + known_as.encode() + b"\r\n" in headers


# Emails


async def test_link_email_is_complete(world: World) -> None:
    result = await world.result(SEND, send_link())
    assert result.keys() == {"message", "loginUrl"}
    assert result["message"] == "ok"
    assert LINK.fullmatch(result["loginUrl"])
    (message,) = world.emails()
    assert (message["To"], message["Subject"]) == (ANA, "Sign in to Tickover")
    for kind in ("plain", "html"):
        part = message.get_body((kind,))
        assert part is not None
        assert set(LINK.findall(part.get_content())) == {result["loginUrl"]}
        assert "60 minutes" in part.get_content()


@pytest.mark.parametrize("params", [send, send_link], ids=["code", "link"])
async def test_known_and_unknown_addresses_have_the_same_response(
    tmp_path: Path, database_url: str, params: Any
) -> None:
    async with open_failing_mail_world(tmp_path, database_url) as (world, mailer):
        await world.result(SEND, send(ANA))
        await world.result(LOGIN, login(mailer.emails[0].secret))
        world.pass_time(minutes=1)
        known, unknown = [await world.post(call(SEND, params(email))) for email in (ANA, BEN)]
        assert (known.status, known.body, known.headers.keys()) == (200, unknown.body, unknown.headers.keys())


# The resend interval


async def test_next_email_can_follow_after_60_seconds(world: World) -> None:
    await world.result(SEND, send())
    world.pass_time(seconds=59.999999)
    response = await world.call(SEND, send_link())
    assert (response.status, response.headers["retry-after"], response.json["error"]["code"]) == (429, "1", -32005)
    assert response.json["error"]["data"] == {"reason": "RESEND_TOO_SOON", "retryAfterSeconds": 1}
    world.pass_time(microseconds=1)
    assert (await world.result(SEND, send_link()))["message"] == "ok"
    assert len(world.emails()) == 2


async def test_sign_out_frees_the_slot_of_a_development_server(world: World) -> None:
    signed_in = await world.result(LOGIN, login(await world.send_code()))
    error = await world.error(SEND, send())
    assert error["message"] == (
        "An email was just sent to this address. Try again in 60 s. To sign in more often at this development server,"
        " start it with TICKOVER_RESEND_SECONDS=1, or use an access token."
    )
    await world.result("logout", {}, signed_in["token"])
    assert await world.result(SEND, send()) == {"message": "ok"}


# Real mail servers


async def test_link_is_only_in_the_email(tmp_path: Path, database_url: str) -> None:
    async with open_failing_mail_world(tmp_path, database_url) as (world, mailer):
        assert await world.result(SEND, send_link()) == {"message": "ok"}
        assert LINK.fullmatch(mailer.emails[0].secret)


async def test_sign_out_does_not_free_the_slot(tmp_path: Path, database_url: str) -> None:
    async with open_failing_mail_world(tmp_path, database_url) as (world, mailer):
        await world.result(SEND, send())
        signed_in = await world.result(LOGIN, login(mailer.emails[0].secret))
        await world.result("logout", {}, signed_in["token"])
        error = await world.error(SEND, send())
        assert error["message"] == "An email was just sent to this address. Try again in 60 s."


async def test_success_follows_the_acceptance_of_the_email(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def deliver(email: Email) -> None:
        begun.set()
        await may_end.wait()

    async with open_failing_mail_world(tmp_path, database_url) as (world, mailer):
        monkeypatch.setattr(mailer, "deliver", deliver)
        sending = asyncio.create_task(world.result(SEND, send()))
        await begun.wait()
        # Meanwhile, another email is too soon, and the database is not locked.
        assert (await world.error(SEND, send()))["data"]["reason"] == "RESEND_TOO_SOON"
        assert not sending.done()
        may_end.set()
        assert await sending == {"message": "ok"}


# Failing mail servers


@pytest.mark.parametrize(
    ("params", "mail_error"), [(send(), MailRejected), (send_link(), MailRejected), (send(), MailOutcomeUnknown)]
)
async def test_rejected_email_frees_the_slot(
    tmp_path: Path, database_url: str, params: Any, mail_error: type[Exception]
) -> None:
    async with open_failing_mail_world(tmp_path, database_url) as (world, mailer):
        mailer.error = mail_error
        for _ in range(3):
            response = await world.call(SEND, params)
            assert (response.status, response.json["error"]["code"]) == (200, -32030)
            assert response.json["error"]["data"] == {"reason": "MAIL_NOT_SENT"}
            world.pass_time(microseconds=1)
        mailer.error = None
        assert await world.result(SEND, params) == {"message": "ok"}
        assert (await world.error(SEND, params))["data"]["reason"] == "RESEND_TOO_SOON"


async def test_code_of_an_email_with_unknown_outcome_is_the_newest(tmp_path: Path, database_url: str) -> None:
    async with open_failing_mail_world(tmp_path, database_url) as (world, mailer):
        await world.result(SEND, send())
        world.pass_time(minutes=1)
        mailer.error = MailOutcomeUnknown
        await world.error(SEND, send())
        earlier, newest = (message.secret for message in mailer.emails)
        assert earlier != newest
        assert reason_of(await world.call(LOGIN, login(earlier))) == "LOGIN_REFUSED"
        assert (await world.result(LOGIN, login(newest))).keys() == {"token", "userId"}
