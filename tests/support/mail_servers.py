"""SMTP servers in the test's event loop. They record emails and can misbehave."""

# ruff: noqa: N802 - the names of commands are the library's own

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, NamedTuple, TypeVar

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

Misbehaviour = Callable[[SMTP], Awaitable[None]]


class Accepted(NamedTuple):
    """An email that a server accepted."""

    content: bytes
    over_tls: bool
    login: LoginPassword | None

    @property
    def message(self) -> EmailMessage:
        return message_from_bytes(self.content, policy=policy.SMTPUTF8)

    def text(self, subtype: str = "plain") -> str:
        part = self.message.get_body((subtype,))
        assert part is not None
        return str(part.get_content()).replace("\r\n", "\n")

    @property
    def code(self) -> str:
        return str(self.message["Subject"]).split()[0]


class MailServer:
    """Records commands in `said` and accepted emails in `emails`.

    `instead` maps commands to alternative behaviour. END_OF_DATA is the dot after an email.
    """

    END_OF_DATA = "."

    def __init__(self) -> None:
        self.port = 0
        self.said: list[str] = []
        self.emails: list[Accepted] = []
        self.instead: dict[str, Misbehaviour] = {}
        self.login: LoginPassword | None = None
        self.connections: list[_Conversation] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        assert server.transport is not None
        over_tls = session.ssl is not None or server.transport.get_extra_info("sslcontext") is not None
        self.emails.append(Accepted(envelope.content, over_tls, session.auth_data))
        if misbehave := self.instead.get(self.END_OF_DATA):
            await misbehave(server)
            return "451 the library adds this response after the disconnect"
        return "250 taken"

    def authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, given: LoginPassword
    ) -> AuthResult:
        return AuthResult(success=given == self.login, handled=False, auth_data=given)


_Server = TypeVar("_Server", bound=MailServer)


class _Conversation(SMTP):
    """One connection. It records the envelope verbatim, because the library normalizes addresses."""

    def __init__(self, server: MailServer, **options: Any) -> None:
        super().__init__(
            server,
            hostname="mail.example.test",
            authenticator=server.authenticate,
            loop=asyncio.get_running_loop(),
            **options,
        )
        self._server = server
        server.connections.append(self)

    async def _handle_client(self) -> None:
        if misbehave := self._server.instead.get("connect"):
            await misbehave(self)
        await super()._handle_client()

    async def smtp_EHLO(self, hostname: str) -> None:
        await self._hear("EHLO", hostname, super().smtp_EHLO)

    async def smtp_AUTH(self, arg: str) -> None:
        await self._hear("AUTH", arg, super().smtp_AUTH)

    async def smtp_MAIL(self, arg: str | None) -> None:
        await self._hear("MAIL", arg, super().smtp_MAIL)

    async def smtp_RCPT(self, arg: str | None) -> None:
        await self._hear("RCPT", arg, super().smtp_RCPT)

    async def smtp_DATA(self, arg: str | None) -> None:
        await self._hear("DATA", arg, super().smtp_DATA)

    async def smtp_QUIT(self, arg: str | None) -> None:
        await self._hear("QUIT", arg, super().smtp_QUIT)

    async def _hear(self, command: str, arg: Any, behave: Callable[[Any], Awaitable[None]]) -> None:
        self._server.said.append(f"{command} {arg}" if arg else command)
        if misbehave := self._server.instead.get(command):
            await misbehave(self)
        else:
            await behave(arg)


def reply_with(line: str) -> Misbehaviour:
    async def misbehave(server: SMTP) -> None:
        await server.push(line)

    return misbehave


async def hang_up(server: SMTP) -> None:
    assert isinstance(server.transport, asyncio.Transport)
    server.transport.abort()
    await asyncio.Event().wait()  # The lost connection cancels it.


class Silence:
    """Sends nothing until it ends, and then one line."""

    def __init__(self, line: str = "") -> None:
        self.over = asyncio.Event()
        self._begun = asyncio.Event()
        self._line = line

    async def __call__(self, server: SMTP) -> None:
        self._begun.set()
        await self.over.wait()
        await server.push(self._line)

    async def begins(self, delivery: "asyncio.Task[Any]") -> None:
        """Return when the client waits for the response. Fail if the delivery ends first."""
        waiting = asyncio.create_task(self._begun.wait())
        await asyncio.wait({waiting, delivery}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        assert self._begun.is_set(), f"the delivery has ended: {delivery}"


@asynccontextmanager
async def mail_server(tls: ssl.SSLContext | None = None, **options: Any) -> AsyncIterator[MailServer]:
    """Run a server. With `tls`, it uses implicit TLS."""
    async with run_mail_server(MailServer(), tls, **options) as server:
        yield server


@asynccontextmanager
async def run_mail_server(server: _Server, tls: ssl.SSLContext | None = None, **options: Any) -> AsyncIterator[_Server]:
    loop = asyncio.get_running_loop()
    listener = await loop.create_server(lambda: _Conversation(server, **options), "127.0.0.1", 0, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for connection in server.connections:
            if isinstance(connection.transport, asyncio.Transport):
                connection.transport.abort()
        conversations = [c._handler_coroutine for c in server.connections if c._handler_coroutine]
        for conversation in conversations:
            conversation.cancel()
        await asyncio.gather(*conversations, return_exceptions=True)
