"""A mail server that accepts, rejects or hangs up on emails as planned for each address."""

# ruff: noqa: N802 - the names of commands are the library's own

import asyncio
import re
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes, policy
from typing import Literal

from aiosmtpd.smtp import SMTP, Envelope, Session

from lab.soak.linearizability.history import Delivery

Reply = Literal["accepted", "rejected", "none"]
_CODE = re.compile(rb"^Subject: (\d{6}) ", re.MULTILINE)
_LINK = re.compile(r"/login#token=([\w-]+)")


class MailServer:
    """`emails` has the emails to each address in the order of their arrival."""

    def __init__(self) -> None:
        self.port = 0
        self.emails: dict[str, list[Delivery]] = defaultdict(list)
        self.planned: dict[str, list[Reply]] = {}
        """Replies to the next emails to an address. All later emails are accepted."""
        self._conversations: set[SMTP] = set()

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        [address] = envelope.rcpt_tos
        planned = self.planned.get(address)
        reply = planned.pop(0) if planned else "accepted"
        self.emails[address].append(_read(envelope.content, reply))
        if reply == "none":
            assert isinstance(server.transport, asyncio.Transport)
            server.transport.abort()
            await asyncio.Event().wait()  # The lost connection cancels it.
        return "250 accepted" if reply == "accepted" else "550 rejected"

    def converse(self) -> SMTP:
        conversation = SMTP(self, hostname="mail.example.test", loop=asyncio.get_running_loop())
        self._conversations.add(conversation)
        return conversation

    async def close(self) -> None:
        coroutines = [one._handler_coroutine for one in self._conversations if one._handler_coroutine]
        for conversation in self._conversations:
            if isinstance(conversation.transport, asyncio.Transport):
                conversation.transport.abort()
        for coroutine in coroutines:
            coroutine.cancel()
        await asyncio.gather(*coroutines, return_exceptions=True)


@asynccontextmanager
async def run_mail_server() -> AsyncIterator[MailServer]:
    server = MailServer()
    listener = await asyncio.get_running_loop().create_server(server.converse, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        await server.close()


def _read(content: bytes, reply: Reply) -> Delivery:
    if code := _CODE.search(content):
        return Delivery("code", code[1].decode(), reply)
    text = message_from_bytes(content, policy=policy.SMTP).get_body(("plain",))
    assert text is not None
    return Delivery("link", _LINK.findall(text.get_content())[0], reply)
