"""HTTP on the socket: uvicorn's own protocol, with a deadline for the whole request and a limit on its head."""

from asyncio import TimerHandle
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tickover.core.limits import MAX_HEAD, REQUEST_DEADLINE

_TOO_LARGE: Final = "431 Request Header Fields Too Large"


class HeadTooLargeError(Exception):
    """Raised inside the parser, which then gives the connection up."""


class DeadlineProtocol(HttpToolsProtocol):
    """A client that is too slow is answered 408, one with too large a head 431; both are cut."""

    deadline_seconds = REQUEST_DEADLINE.total_seconds()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._timer: TimerHandle | None = None
        # From the first moment on: a client that connects and says nothing holds a socket too.
        self._waiting_since: float | None = self.loop.time()
        self._beside_body = 0
        """Bytes that came in since there was last a head or a piece of a body: a head, trailers, blank lines."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._timer = self.loop.call_later(self.deadline_seconds, self._check_deadline)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._waiting_since is None and not self._is_answering():
            # Whatever it is, even a blank line, it begins the wait for the next request.
            self._waiting_since = self.loop.time()
        self._beside_body += len(data)
        super().data_received(data)
        if self._beside_body > MAX_HEAD and not self.transport.is_closing():
            self._cut(_TOO_LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._waiting_since = self.loop.time()

    def on_headers_complete(self) -> None:
        # The bytes counted may hold some of the body; only then is it worth counting exactly.
        if self._beside_body > MAX_HEAD:
            exact = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
            if exact > MAX_HEAD:
                raise HeadTooLargeError
        self._beside_body = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._beside_body = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._waiting_since = None
        self._beside_body = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        self._cut(_TOO_LARGE if self._beside_body > MAX_HEAD else "400 Bad Request")

    def _is_answering(self) -> bool:
        """Whether a request that is wholly in has not been wholly answered."""
        return bool(self.pipeline) or (
            self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body
        )

    def _check_deadline(self) -> None:
        """One timer for each connection, set anew when it fires, costs less than one for each request."""
        waited = 0.0 if self._waiting_since is None else self.loop.time() - self._waiting_since
        if waited < self.deadline_seconds:
            self._timer = self.loop.call_later(self.deadline_seconds - waited, self._check_deadline)
        elif not self.transport.is_closing():
            self._cut("408 Request Timeout")

    def _cut(self, status: str) -> None:
        """Close, with an answer of our own if the application has none under way."""
        if self._is_answering():
            # The request before this one was accepted: it is answered, and then the connection closes.
            self.flow.pause_reading()
            self.cycle.keep_alive = False
            return
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            body = f"{status[4:]}.\n"
            self.transport.write(
                f"HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\n"
                f"content-length: {len(body)}\r\nconnection: close\r\n\r\n{body}".encode()
            )
        self.transport.close()
