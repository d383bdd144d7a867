"""A mail server that stores only the newest code for each address, and returns it on request.

It is a separate process, so that its cost doesn't count for the sender. `python -m lab.bench.sink` prints two ports and
serves until its standard input ends. The first port is SMTP. The second returns codes: a line with an address gets a
line with its code as soon as there is one, and the code is deleted.
"""

import asyncio
import re
import sys
from collections import defaultdict

from aiosmtpd.smtp import SMTP, Envelope, Session

HOST = "127.0.0.1"
# Six digits, or letters and digits as in allauth's K3FX-9TQW, in the body of an email.
_CODE = re.compile(r"\b(?:[0-9]{6}|[A-Z0-9]{3,4}-[A-Z0-9]{3,4})\b")


class Codes:
    """The newest unread code for each address."""

    def __init__(self) -> None:
        self._newest: dict[str, str] = {}
        self._came = defaultdict[str, asyncio.Event](asyncio.Event)

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        assert isinstance(envelope.content, bytes)
        body = envelope.content.partition(b"\r\n\r\n")[2].decode("utf-8", "replace")
        found = _CODE.search(body)
        assert found is not None, f"an email without a code: {body!r}"
        for recipient in envelope.rcpt_tos:
            self._newest[recipient] = found[0]
            self._came[recipient].set()
        return "250 OK"

    async def take(self, recipient: str) -> str:
        await self._came[recipient].wait()
        del self._came[recipient]
        return self._newest.pop(recipient)


async def _serve_codes(codes: Codes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read addresses and write their codes, one after the other, until the connection is closed."""
    while line := await reader.readline():
        writer.write(f"{await codes.take(line.decode().strip())}\n".encode())
    writer.close()


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    codes = Codes()
    smtp = await loop.create_server(lambda: SMTP(codes, loop=loop), HOST, 0)
    code_server = await asyncio.start_server(lambda reader, writer: _serve_codes(codes, reader, writer), HOST, 0)
    print(*(server.sockets[0].getsockname()[1] for server in (smtp, code_server)), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve())
