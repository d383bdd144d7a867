"""Faults of the mail server: sign-in emails fail with a clear error, and everything else goes on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import count

from lab.soak.faults.fault import fault
from lab.soak.servers import Servers
from lab.soak.write_load import WriteLoad
from tests.support.mail_servers import MailServer, Misbehaviour, Silence, hang_up, mail_server, reply_with
from tests.support.ports import reusable_port
from tests.support.program import code_params, verify_params

_EMAILS = 5
_NUMBERS = count()


@asynccontextmanager
async def _smtp(servers: Servers) -> AsyncIterator[MailServer]:
    """Let the program send its emails by SMTP."""
    async with mail_server() as server:
        url = f"smtp://{server.address}"
        restarted = servers.restarted_with(TICKOVER_MAIL_URL=url, TICKOVER_MAIL_FROM="tickover@example.test")
        await asyncio.to_thread(restarted.__enter__)
        try:
            yield server
        finally:
            await asyncio.to_thread(restarted.__exit__, None, None, None)


async def _send(servers: Servers) -> tuple[str, str]:
    """Request an email. Return the address, and the reason of an error."""
    email = f"mail{next(_NUMBERS)}@example.test"
    response = await asyncio.to_thread(servers.program.call, "sendLoginCodeEmail", code_params(email))
    return email, response["error"]["data"]["reason"] if "error" in response else ""


async def _sign_in(servers: Servers, server: MailServer) -> None:
    email, reason = await _send(servers)
    assert reason == "", reason
    [sent] = [accepted for accepted in server.emails if accepted.message["To"] == email]
    params = verify_params(email, sent.code)
    response = await asyncio.to_thread(servers.program.call, "loginByEmailVerification", params)
    assert "result" in response, response


async def _misbehave(command: str, how: Misbehaviour, servers: Servers, load: WriteLoad) -> None:
    async with _smtp(servers) as server:
        await _sign_in(servers, server)
        server.instead[command] = how
        for _ in range(_EMAILS):
            assert (await _send(servers))[1] == "MAIL_NOT_SENT"
        await load.succeed(20)
        del server.instead[command]
        await _sign_in(servers, server)


fault("mail server rejects recipients", visitors=0)(partial(_misbehave, "RCPT", reply_with("550 no such user")))
fault("mail server rejects for a while", visitors=0)(partial(_misbehave, "MAIL", reply_with("451 try again later")))
fault("mail server hangs up", visitors=0)(partial(_misbehave, "DATA", hang_up))
fault("mail server hangs up after the email", visitors=0)(partial(_misbehave, MailServer.END_OF_DATA, hang_up))


@fault("silent mail server", visitors=0)
async def is_silent(servers: Servers, load: WriteLoad) -> None:
    """The mail server accepts connections and says nothing. Other calls don't wait for it."""
    async with _smtp(servers) as server:
        silence = server.instead["connect"] = Silence()
        sending = [asyncio.create_task(_send(servers)) for _ in range(_EMAILS)]
        await load.succeed(50)
        assert {reason for _, reason in await asyncio.gather(*sending)} == {"MAIL_NOT_SENT"}
        del server.instead["connect"]
        silence.over.set()
        await _sign_in(servers, server)


@fault("mail server down", visitors=0)
async def is_down(servers: Servers, load: WriteLoad) -> None:
    """Nobody listens at the port of the mail server."""
    url = f"smtp://127.0.0.1:{reusable_port()}"
    restarted = servers.restarted_with(TICKOVER_MAIL_URL=url, TICKOVER_MAIL_FROM="tickover@example.test")
    await asyncio.to_thread(restarted.__enter__)
    try:
        for _ in range(_EMAILS):
            assert (await _send(servers))[1] == "MAIL_NOT_SENT"
        await load.succeed(20)
    finally:
        await asyncio.to_thread(restarted.__exit__, None, None, None)
