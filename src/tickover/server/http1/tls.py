"""TLS between a socket and an HTTP connection."""

import asyncio
import ssl
from contextlib import suppress
from typing import Any, Final, cast

_READ_BYTES: Final = 256 * 2**10


class TlsConnection(asyncio.Protocol, asyncio.Transport):
    """Decrypts what a socket receives for a protocol, and is the protocol's transport.

    Unlike the event loop's own TLS, it counts the connection from its first byte on, so the limits and deadlines of the
    protocol hold for the handshake too, and for all encrypted bytes that the client hasn't read.
    """

    def __init__(self, protocol: asyncio.Protocol, context: ssl.SSLContext) -> None:
        super().__init__()
        self._protocol = protocol
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._is_established = False
        self._has_ended = False
        """True if the client has closed its side."""

    # The protocol of the socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._socket = cast("asyncio.Transport", transport)
        self._protocol.connection_made(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._protocol.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._incoming.write(data)
        try:
            received = self._read()
        except ssl.SSLError:
            # The alert says what is wrong.
            self._flush()
            self._socket.close()
            return
        self._flush()
        if received:
            self._protocol.data_received(received)
        if self._has_ended and not self._socket.is_closing() and not self._protocol.eof_received():
            self.close()

    def eof_received(self) -> bool:
        return not self._has_ended and bool(self._protocol.eof_received())

    def pause_writing(self) -> None:
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._protocol.resume_writing()

    def _read(self) -> bytes:
        """Return all that can be decrypted, in one piece, as a socket does."""
        pieces = []
        try:
            if not self._is_established:
                self._tls.do_handshake()
                self._is_established = True
            while piece := self._tls.read(_READ_BYTES):
                pieces.append(piece)
            self._has_ended = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self._has_ended = True
        return b"".join(pieces)

    def _flush(self) -> None:
        if encrypted := self._outgoing.read():
            self._socket.write(encrypted)

    # The transport of the protocol

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._socket.get_extra_info(name, default)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._socket.set_write_buffer_limits(high, low)

    def write(self, data: Any) -> None:
        if self._is_established and not self._socket.is_closing():
            # The buffer in memory takes all bytes at once.
            self._tls.write(data)
            self._flush()

    def write_eof(self) -> None:
        self._say_goodbye()
        self._socket.write_eof()

    def close(self) -> None:
        if not self._socket.is_closing():
            self._say_goodbye()
        self._socket.close()

    def _say_goodbye(self) -> None:
        """Tell the client that nothing was cut off."""
        if self._is_established:
            # The client's own goodbye may not have arrived.
            with suppress(ssl.SSLError):
                self._tls.unwrap()
            self._flush()

    def abort(self) -> None:
        self._socket.abort()

    def is_closing(self) -> bool:
        return self._socket.is_closing()

    def pause_reading(self) -> None:
        self._socket.pause_reading()

    def resume_reading(self) -> None:
        self._socket.resume_reading()
