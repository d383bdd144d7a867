"""Sign-in with an SMTP server that accepts, rejects or loses emails."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.emails import SENDER
from tests.support.log_capture import LogCapture
from tests.support.mail_servers import MailServer, Misbehaviour, Silence, hang_up, mail_server, reply_with
from tests.support.world import ANA, World
from tickover.server.operations.services import Policy
from tickover.server.sign_in.mail.compose import Composer
from tickover.server.sign_in.mail.smtp import SmtpMailer
from tickover.server.storage import open_store

_CODE = {"loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}
_LINK = {"loginCodeType": "LONG_LIVED", "emailType": "WEB_LOGIN_LINK"}


@pytest.fixture
async def server() -> AsyncIterator[MailServer]:
    async with mail_server() as running:
        yield running


@pytest.fixture
async def world(server: MailServer, tmp_path: Path, logged: LogCapture) -> AsyncIterator[World]:
    """A world that sends by SMTP."""
    store = await open_store(f"sqlite:///{tmp_path / 'tickover.db'}")
    mailer = SmtpMailer(f"smtp://{server.address}", Composer(SENDER), logged.log)
    yield World(store, mailer, tmp_path, Policy("https://tickover.example.test", 10))
    await mailer.close()
    await store.close()


async def _send(world: World, kind: dict[str, str] = _CODE, email: str = ANA) -> Any:
    """Return the result of sendLoginCodeEmail, or the reason of its error."""
    response = (await world.call("sendLoginCodeEmail", {"email": email, **kind})).json
    return response["result"] if "result" in response else response["error"]["data"]["reason"]


async def test_link_is_only_in_the_email(world: World, server: MailServer) -> None:
    assert await _send(world, _LINK) == {"message": "ok"}
    [arrived] = server.emails
    assert "\nhttps://tickover.example.test/login#token=" in arrived.text()


async def test_success_follows_the_acceptance_of_the_email(world: World, server: MailServer) -> None:
    token = await _token(world, server)
    silence = Silence("250 taken")
    server.instead[MailServer.END_OF_DATA] = silence
    sending = asyncio.create_task(_send(world))
    await silence.begins(sending)
    # Meanwhile, another email is too soon, and the database is not locked.
    assert await _send(world) == "RESEND_TOO_SOON"
    assert (await world.create(token))["status"] == "READY"
    assert not sending.done()
    silence.over.set()
    assert await sending == {"message": "ok"}


async def _token(world: World, server: MailServer) -> str:
    email = "someone.else@example.test"
    await _send(world, email=email)
    params = {"email": email, "code": server.emails[-1].code, "authenticationMethod": "EMAIL_CODE"}
    return str((await world.result("loginByEmailVerification", params))["token"])


async def test_sign_out_does_not_free_the_slot(world: World, server: MailServer) -> None:
    await world.result("logout", {}, await _token(world, server))
    error = await world.error("sendLoginCodeEmail", {"email": "someone.else@example.test", **_CODE})
    assert error["message"] == "An email was just sent to this address. Try again in 60 s."


@pytest.mark.parametrize(
    ("command", "misbehave"),
    [
        pytest.param("RCPT", reply_with("550 <ana@example.test>: 012345 no such user"), id="server echoes the address"),
        pytest.param(MailServer.END_OF_DATA, hang_up, id="outcome unknown"),
    ],
)
async def test_log_has_one_line_without_address_and_secret(
    world: World,
    server: MailServer,
    logged: LogCapture,
    caplog: pytest.LogCaptureFixture,
    command: str,
    misbehave: Misbehaviour,
) -> None:
    server.instead[command] = misbehave
    with caplog.at_level(logging.DEBUG):
        await _send(world)
    # Ignore the log of the test server, which contains addresses.
    records = [record.getMessage() for record in caplog.records if not record.name.startswith("mail.")]
    everything = f"{logged.lines} {records}"
    secrets = [ANA, *(email.code for email in server.emails)]
    assert [secret for secret in secrets if secret in everything] == []
    assert len(logged.lines) == 1
