"""A connection to a port for any protocol, which can be interrupted or slow."""

import asyncio
from asyncio import StreamReader, StreamWriter

from tests.support.proxy import Proxy


class Link(Proxy):
    """Forwards to a local port. Bytes towards the client arrive later by a delay."""

    def __init__(self, port: int, delay_seconds: float = 0) -> None:
        super().__init__(port)
        self._delay_seconds = delay_seconds

    async def _forth(self, reader: StreamReader, writer: StreamWriter, _: object) -> None:
        await self._forward(reader, writer, 0)

    async def _back(self, reader: StreamReader, writer: StreamWriter, _: object) -> None:
        await self._forward(reader, writer, self._delay_seconds)

    async def _forward(self, reader: StreamReader, writer: StreamWriter, delay_seconds: float) -> None:
        while data := await reader.read(65_536):
            await self._open.wait()
            if delay_seconds:
                await asyncio.sleep(delay_seconds)
            writer.write(data)
            await writer.drain()
