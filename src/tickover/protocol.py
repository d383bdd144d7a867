"""HTTP on the socket: uvicorn's own protocol, with deadlines for request and answer, and a limit on the head."""

from asyncio import TimerHandle
from typing import Any, Final

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tickover.core.errors import Reason, Rejection
from tickover.core.limits import MAX_HEAD, REQUEST_DEADLINE
from tickover.rpc import refuse

_TOO_LARGE: Final = "431 Request Header Fields Too Large"
_TOO_SLOW: Final = "408 Request Timeout"
_LINGER_SECONDS: Final = 1.0
_ABOUT_UPGRADES: Final = frozenset({b"connection", b"upgrade", b"http2-settings"})


class HeadTooLargeError(Exception):
    """Raised inside the parser, which then gives the connection up."""


class NotForUsError(Exception):
    """The same, for a client that takes us for a proxy."""


class DeadlineProtocol(HttpToolsProtocol):
    """A client that is too slow to send is answered 408, one with too large a head 431; both are cut.

    One that is too slow to take its answer is cut as well. An offer to speak another protocol is not taken up: the
    request is read as if it had not been made.
    """

    deadline_seconds = REQUEST_DEADLINE.total_seconds()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._timer: TimerHandle | None = None
        # From the first moment on: a client that connects and says nothing holds a socket too.
        self._waiting_since: float | None = self.loop.time()
        self._stuck_since: float | None = None
        """When the answer began to wait for the client to take it."""
        self._is_cut = False
        self._beside_body = 0
        """Bytes that came in since there was last a head or a piece of a body: a head, trailers, blank lines."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._set_timer(self.deadline_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_cut:
            return
        if self._waiting_since is None and not self._is_answering():
            # Whatever it is, even a blank line, it begins the wait for the next request.
            self._waiting_since = self.loop.time()
        self._beside_body += len(data)
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except HttpParserUpgrade as upgrade:
            self._read_without_upgrade(data[upgrade.args[0] :])
        except HttpParserError:
            self.send_400_response("")
        if self._beside_body > MAX_HEAD and not self.transport.is_closing():
            self._cut(_TOO_LARGE)

    def _read_without_upgrade(self, rest: bytes) -> None:
        """Read the request again without its offer; the parser, left alone, would take its body for something else."""
        head = [b"%b %b HTTP/1.1" % (self.parser.get_method(), self.url)]
        head += [b"%b: %b" % (name, value) for name, value in self.headers if name not in _ABOUT_UPGRADES]
        self.parser = HttpRequestParser(self)
        self.data_received(b"\r\n".join([*head, b"", b""]) + rest)

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
        if self.parser.should_upgrade():
            if self.parser.get_method() == b"CONNECT":
                raise NotForUsError
            return
        super().on_headers_complete()
        # Trailers are no headers: what comes after the body must not change what was said before it.
        self.headers = []

    def on_body(self, body: bytes) -> None:
        self._beside_body = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        self._beside_body = 0
        super().on_message_complete()
        # A request that was refused before it was whole leaves nothing under way to wait for.
        self._waiting_since = None if self._is_answering() else self.loop.time()

    def send_400_response(self, msg: str) -> None:
        self._cut(_TOO_LARGE if self._beside_body > MAX_HEAD else "400 Bad Request")

    def _is_answering(self) -> bool:
        """Whether a request that is wholly in has not been wholly answered."""
        return bool(self.pipeline) or (
            self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body
        )

    def pause_writing(self) -> None:
        self._stuck_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._stuck_since = None
        super().resume_writing()

    def _check_deadline(self) -> None:
        """One timer for each connection, set anew when it fires, costs less than one for each request."""
        now = self.loop.time()
        waited = now - (now if self._waiting_since is None else self._waiting_since)
        stuck = now - (now if self._stuck_since is None else self._stuck_since)
        longest = max(waited, stuck)
        if longest < self.deadline_seconds:
            self._set_timer(self.deadline_seconds - longest)
        elif stuck >= self.deadline_seconds:
            self.transport.abort()
        elif not self.transport.is_closing():
            self._cut(_TOO_SLOW)

    def _set_timer(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(seconds, self._check_deadline)

    def _cut(self, status: str) -> None:
        """Close, with an answer of our own if the application has none under way."""
        if self._is_cut:
            return
        if self._is_answering():
            # The request before this one was accepted: it is answered, and then the connection closes.
            self.flow.pause_reading()
            self.cycle.keep_alive = False
            self._set_timer(self.deadline_seconds)
            return
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            body = refuse(Rejection(Reason.INVALID_REQUEST, f"{status[4:]}.")).body
            request_id = f"req_{id(self):x}{int(self.loop.time() * 1e6):x}"
            self.transport.write(
                f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
                f"x-request-id: {request_id}\r\nconnection: close\r\n\r\n".encode()
                + body
            )
        self._is_cut = True
        if status == _TOO_SLOW:
            # To close at once would reset a client that is still trickling, before it has read why.
            self.transport.write_eof()
            self.loop.call_later(_LINGER_SECONDS, self.transport.close)
        else:
            self.transport.close()
