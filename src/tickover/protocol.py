"""HTTP on the socket: uvicorn's own protocol, with deadlines, a limit on the head, and a short way for calls.

Nearly every request is a `POST /rpc` with a body of known length. Its answer takes the short way: the door is asked for
it directly, and it is written in one piece. All else goes the way of every ASGI server, through uvicorn.
"""

from asyncio import Event, TimerHandle, current_task
from collections.abc import Sized
from http import HTTPStatus
from typing import Any, Final

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tickover.core.errors import Reason, Rejection
from tickover.core.limits import MAX_BODY, MAX_HEAD, REQUEST_DEADLINE
from tickover.pages import Response
from tickover.rpc import refuse

_TOO_LARGE: Final = "431 Request Header Fields Too Large"
_TOO_SLOW: Final = "408 Request Timeout"
_LINGER_SECONDS: Final = 1.0
_STATUS_LINES: Final = {int(status): b"HTTP/1.1 %d %b\r\n" % (status, status.phrase.encode()) for status in HTTPStatus}
_ABOUT_UPGRADES: Final = frozenset({b"connection", b"upgrade", b"http2-settings"})


class HeadTooLargeError(Exception):
    """Raised inside the parser, which then gives the connection up."""


class NotForUsError(Exception):
    """The same, for a client that takes us for a proxy."""


class _Call:
    """A request on the short way, in the place of uvicorn's cycle of request and response."""

    __slots__ = ("chunks", "disconnected", "fields", "keep_alive", "more_body", "response_complete", "response_started")

    message_event: Final = Event()
    """Set by uvicorn when the client goes away; nobody waits for it here."""

    def __init__(self, fields: dict[bytes, bytes], keep_alive: bool) -> None:
        self.fields = fields
        self.keep_alive = keep_alive
        self.chunks: list[bytes] = []
        self.more_body = True
        self.response_started = False
        self.response_complete = False
        self.disconnected = False


class _Flow(FlowControl):
    """Reads no further while requests that came in already are waiting for their turn."""

    def __init__(self, transport: Any, pipeline: Sized) -> None:
        super().__init__(transport)
        self._pipeline = pipeline

    def resume_reading(self) -> None:
        if not self._pipeline:
            super().resume_reading()


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
        self._idle_since: float | None = None
        """When the last answer was given, if nothing has come in since."""
        self._stuck_since: float | None = None
        """When the answer began to wait for the client to take it."""
        self._is_cut = False
        self._beside_body = 0
        """Bytes that came in since there was last a head or a piece of a body: a head, trailers, blank lines."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.flow = _Flow(transport, self.pipeline)
        self._check_deadline()

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
        self._idle_since = None
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
        self.url = b""
        self.headers = []
        self._waiting_since = self.loop.time()

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

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
        fields = dict(self.headers)
        if self._is_ordinary(fields):
            self.cycle = _Call(fields, self.parser.should_keep_alive())  # type: ignore[assignment]
        else:
            self._begin_cycle()
        # Trailers are no headers: what comes after the body must not change what was said before it.
        self.headers = []

    def _is_ordinary(self, fields: dict[bytes, bytes]) -> bool:
        """Whether this is a call like nearly all: nothing is odd about it, and no answer before it is under way."""
        return (
            self.url == b"/rpc"
            and self.parser.get_method() == b"POST"
            and (self.cycle is None or self.cycle.response_complete)
            and len(fields) == len(self.headers)
            and int(fields.get(b"content-length", MAX_BODY + 1)) <= MAX_BODY
            and b"expect" not in fields
            and self.parser.get_http_version() == "1.1"
        )

    def _begin_cycle(self) -> None:
        """Go uvicorn's way, which begins before the head is read."""
        url, headers = self.url, self.headers
        super().on_message_begin()
        self.url = url
        for name, value in headers:
            super().on_header(name, value)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._beside_body = 0
        if isinstance(self.cycle, _Call):
            self.cycle.chunks.append(body)
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        self._beside_body = 0
        if isinstance(self.cycle, _Call):
            self.cycle.more_body = False
            task = self.loop.create_task(self._answer(self.cycle))
            self.tasks.add(task)
        else:
            super().on_message_complete()
        # A request that was refused before it was whole leaves nothing under way to wait for.
        self._waiting_since = None if self._is_answering() else self.loop.time()

    async def _answer(self, call: _Call) -> None:
        try:
            body = call.chunks[0] if len(call.chunks) == 1 else b"".join(call.chunks)
            response = await self.app.answer(call.fields, self.client, body)
            if self.flow.write_paused:
                await self.flow.drain()
            if not self.transport.is_closing():
                self._write(response, call)
        finally:
            self.tasks.discard(current_task())
            if not call.response_complete:
                self.transport.close()

    def _write(self, response: Response, call: _Call) -> None:
        status, headers, body = response
        lines = [_STATUS_LINES[status]]
        for name, value in *self.server_state.default_headers, *headers:
            lines += (name, b": ", value, b"\r\n")
        if not call.keep_alive:
            lines.append(b"connection: close\r\n")
        lines += (b"\r\n", body)
        self.transport.write(b"".join(lines))
        call.response_complete = True
        if not call.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def on_response_complete(self) -> None:
        if self.pipeline or self.transport.is_closing():
            super().on_response_complete()
            return
        # In the place of uvicorn's timer for each answer: `_check_deadline` looks after idle connections too.
        self.server_state.total_requests += 1
        self.flow.resume_reading()
        self._idle_since = self.loop.time()

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
        request_left = self._left(self._waiting_since, self.deadline_seconds)
        answer_left = self._left(self._stuck_since, self.deadline_seconds)
        idle_left = self._left(self._idle_since, self.timeout_keep_alive)
        if answer_left <= 0:
            self.transport.abort()
        elif idle_left <= 0:
            self.transport.close()
            # What is left of the last answer has to be taken by then.
            self._timer = self.loop.call_later(self.deadline_seconds, self.transport.abort)
        elif request_left <= 0:
            self._cut(_TOO_SLOW)
        else:
            # Never later than any of them could be due, had it begun just now.
            self._set_timer(min(request_left, answer_left, idle_left))

    def _left(self, since: float | None, allowed: float) -> float:
        return allowed if since is None else since + allowed - self.loop.time()

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
