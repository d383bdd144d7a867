"""A mail server that stores only the newest code for each address, and returns it on request.

It is a separate process, so that its cost doesn't count for the sender. `python -m lab.bench.sink` prints two ports and
serves until its standard input ends. The first port is SMTP. The second returns codes: a line with an address gets a
line with its code as soon as there is one, and the code is deleted.
"""

import asyncio
import re
import sys
from collections import defaultdict

HOST = "127.0.0.1"
# Six digits, or letters and digits as in allauth's K3FX-9TQW, in the body of an email.
_CODE = re.compile(r"\b(?:[0-9]{6}|[A-Z0-9]{3,4}-[A-Z0-9]{3,4})\b")
GREETING = b"220 sink\r\n"
_RESPONSES = {
    b"EHLO": b"250-sink\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n",
    b"DATA": b"354 Go on\r\n",
    b"QUIT": b"221 Bye\r\n",
}
_OK = b"250 OK\r\n"
_END_OF_EMAIL = b"\r\n.\r\n"


class Codes:
    """The newest unread code for each address."""

    def __init__(self) -> None:
        self._newest: dict[str, str] = {}
        self._came = defaultdict[str, asyncio.Event](asyncio.Event)

    def deliver(self, recipients: list[str], message: bytes) -> None:
        body = message.partition(b"\r\n\r\n")[2].decode("utf-8", "replace")
        found = _CODE.search(body)
        if found is None:
            print(f"an email without a code: {body!r}", file=sys.stderr)
            return
        for recipient in recipients:
            self._newest[recipient] = found[0]
            self._came[recipient].set()

    async def take(self, recipient: str) -> str:
        await self._came[recipient].wait()
        del self._came[recipient]
        return self._newest.pop(recipient)


class Conversation(asyncio.Protocol):
    """One SMTP connection for any number of emails. It checks nothing."""

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        self._received = b""
        self._recipients: list[str] = []
        self._reads_message = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(GREETING)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while self._has_more():
            pass

    def _has_more(self) -> bool:
        """Handle one complete command or email, and return whether there was one."""
        end = _END_OF_EMAIL if self._reads_message else b"\r\n"
        whole, found, rest = self._received.partition(end)
        if not found:
            return False
        self._received = rest
        if self._reads_message:
            self._handle_email(whole)
        else:
            self._handle_command(whole)
        return True

    def _handle_email(self, message: bytes) -> None:
        self._reads_message = False
        self._codes.deliver(self._recipients, message)
        self._recipients = []
        self._transport.write(_OK)

    def _handle_command(self, line: bytes) -> None:
        verb = line[:4].upper()
        if verb in (b"EHLO", b"HELO", b"RSET", b"MAIL"):
            self._recipients = []
        elif verb == b"RCPT":
            self._recipients.append(line[line.index(b"<") + 1 : line.rindex(b">")].decode())
        self._reads_message = verb == b"DATA"
        self._transport.write(_RESPONSES.get(verb, _OK))
        if verb == b"QUIT":
            self._transport.close()


async def _serve_codes(codes: Codes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read addresses and write their codes, one after the other, until the connection is closed."""
    while line := await reader.readline():
        writer.write(f"{await codes.take(line.decode().strip())}\n".encode())
    writer.close()


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    codes = Codes()
    smtp = await loop.create_server(lambda: Conversation(codes), HOST, 0)
    code_server = await asyncio.start_server(lambda reader, writer: _serve_codes(codes, reader, writer), HOST, 0)
    print(*(server.sockets[0].getsockname()[1] for server in (smtp, code_server)), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve())
