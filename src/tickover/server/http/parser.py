"""The bytes of one connection become requests, within the limits on heads and bodies."""

from typing import Final, NoReturn, Protocol
from urllib.parse import unquote

from httptools import (
    HttpParserCallbackError,
    HttpParserError,
    HttpParserInvalidURLError,
    HttpParserUpgrade,
    HttpRequestParser,
    parse_url,
)

from tickover.api.limits import MAX_BODY, MAX_HEAD
from tickover.server.http.messages import (
    BAD_REQUEST,
    HEAD_TOO_LARGE,
    UNSUPPORTED_CODING,
    Header,
    Request,
    RequestError,
    merge,
)

MAX_DISCARDED: Final = 16 * MAX_BODY
"""Bytes of a too large body that are read and thrown away, so that its sender is able to read the response."""

_MAX_HEADERS: Final = 256
"""Many small headers take far more memory than their bytes."""
_MAX_PIECES: Final = 1024
"""Pieces of a body before they are joined. Each piece takes more memory than its bytes."""


class RejectedError(Exception):
    """The connection has to be closed, after this refusal."""

    def __init__(self, error: RequestError) -> None:
        super().__init__(error.message)
        self.response = error


class Receiver(Protocol):
    """What a connection does with what its parser finds."""

    def body_received(self, size: int) -> None:
        """Note that the request that is arriving takes so many bytes more of memory; fewer if it is negative."""
        ...

    def request_received(self, request: Request) -> None:
        """Answer a request."""
        ...

    def continue_expected(self) -> None:
        """Tell the client to go on and send the body."""
        ...


class RequestParser:
    """Reads requests. Offers to speak another protocol are ignored: a server may, and this one speaks no other."""

    def __init__(self, receiver: Receiver, client: str | None) -> None:
        self._receiver: Receiver | None = receiver
        self._client = client
        self._parser: HttpRequestParser | None = HttpRequestParser(self)
        self.is_arriving = False
        """Whether a request has begun and is not whole."""
        self.is_done = False
        """Whether the last request of the connection is in. What follows it is ignored."""
        self.body_size = 0
        """Bytes that have arrived of the body that is arriving."""
        self._target = b""
        self._headers: list[Header] = []
        self._request: Request | None = None
        self._chunks: list[bytes] = []
        self._error = BAD_REQUEST
        self._packet_size = 0
        self._beside_body = 0
        """Bytes since there was last a whole head or a piece of a body: of a head, of trailers, blank lines."""
        self._head_excess = 0
        """Bytes that the head may have beside `_beside_body`, if it began in the middle of a packet."""
        self._ignores_head = False

    def close(self) -> None:
        """Let go of the connection, which refers to this parser."""
        self._parser = self._receiver = None

    def drop_body(self) -> int:
        """Let go of what has arrived of a body; return how many bytes that was."""
        dropped = sum(map(len, self._chunks))
        self._chunks = []
        return dropped

    def feed(self, data: bytes) -> None:
        """Read a packet; RejectedError if the connection cannot go on after it."""
        assert self._parser is not None, "a closed connection receives nothing"
        self._packet_size = len(data)
        self._beside_body += len(data)
        try:
            try:
                self._parser.feed_data(data)
            except HttpParserUpgrade as offer:
                self._ignore_offers(memoryview(data)[offer.args[0] :])
        except HttpParserError as error:
            if isinstance(error, HttpParserCallbackError) and not isinstance(error.__context__, RejectedError):
                # A bug of ours.
                raise
            if self.is_done:
                return
            is_too_large = self._error is BAD_REQUEST and self._beside_body > MAX_HEAD
            raise RejectedError(HEAD_TOO_LARGE if is_too_large else self._error) from None
        if self._beside_body > MAX_HEAD and not self.is_done:
            raise RejectedError(HEAD_TOO_LARGE)

    def _ignore_offers(self, rest: memoryview) -> None:
        """Read on after the head of a request with an offer, where the parser stops: for it, HTTP ends there."""
        while True:
            if self._request is not None:
                self._read_body_anew(self._request)
            assert self._parser is not None, "the connection is still open"
            try:
                self._parser.feed_data(rest)
            except HttpParserUpgrade as offer:
                rest = rest[offer.args[0] :]
            else:
                return

    def _read_body_anew(self, request: Request) -> None:
        """Read the body that follows with another parser, which is told nothing but the body's form."""
        form = b"Content-Length: %b" % request.fields.get(b"content-length", b"0")
        if b"transfer-encoding" in request.fields:
            form = b"Transfer-Encoding: chunked"
        self._parser = HttpRequestParser(self)
        self._ignores_head = True
        self._parser.feed_data(b"POST / HTTP/1.1\r\n%b\r\n\r\n" % form)
        self._ignores_head = False

    # What httptools calls

    def on_message_begin(self) -> None:
        if self._ignores_head:
            return
        self.is_arriving = True
        self._target = b""
        self._headers = []
        self._head_excess = 0 if self._beside_body else self._packet_size

    def on_url(self, part: bytes) -> None:
        if not self._ignores_head:
            self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self._headers) >= _MAX_HEADERS:
            self._reject(HEAD_TOO_LARGE)
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        if self._ignores_head:
            self._headers = []
            return
        headers, parser = self._headers, self._parser
        assert parser is not None, "the connection is still open"
        # These bytes may include others than those of the head; only when there are many is the head worth counting.
        if self._beside_body + self._head_excess > MAX_HEAD and len(self._target) + _size(headers) > MAX_HEAD:
            self._reject(HEAD_TOO_LARGE)
        self._beside_body = 0
        # Trailers are no headers: what comes after the body must not change what was said before it.
        self._headers = []
        fields = dict(headers)
        if len(fields) != len(headers):
            fields = merge(headers)
        method = parser.get_method().decode()
        if self._target == b"/rpc":
            request = Request(method, "/rpc", b"", fields, self._client)
        else:
            request = self._read_target(method, fields)
        request.keep_alive = parser.should_keep_alive()
        self._request = request
        if b"content-length" not in fields or b"expect" in fields or b"connection" in fields:
            self._check_unusual(request, parser.get_http_version())
        elif int(fields[b"content-length"]) > MAX_DISCARDED:
            self._end_early(request)

    def _read_target(self, method: str, fields: dict[bytes, bytes]) -> Request:
        if method == "CONNECT":
            self._reject(BAD_REQUEST)
        try:
            url = parse_url(self._target)
            # A target without a path, as in `GET http://localhost`, is the same as one with "/".
            path = unquote((url.path or b"/").decode("ascii"))
        except (HttpParserInvalidURLError, UnicodeDecodeError):
            self._reject(BAD_REQUEST)
        return Request(method, path, url.query or b"", fields, self._client)

    def _check_unusual(self, request: Request, version: str) -> None:
        fields = request.fields
        if b"transfer-encoding" in fields and (
            fields[b"transfer-encoding"].strip().lower() != b"chunked" or version != "1.1"
        ):
            self._reject(UNSUPPORTED_CODING)
        if version != "1.1":
            # The parser doesn't see `close` beside `keep-alive`. A repeated header is empty here.
            options = {option.strip(b" \t").lower() for option in fields.get(b"connection", b"").split(b",")}
            request.keep_alive = request.keep_alive and b"keep-alive" in options and b"close" not in options
        request.says_keep_alive = request.keep_alive and version != "1.1"
        length = int(fields.get(b"content-length", 0))
        expects_continue = version == "1.1" and fields.get(b"expect", b"").lower() == b"100-continue"
        if length > (MAX_BODY if expects_continue else MAX_DISCARDED):
            self._end_early(request)
        if expects_continue and self._receiver is not None:
            self._receiver.continue_expected()

    def on_body(self, body: bytes) -> None:
        self._beside_body = 0
        before = self.body_size
        self.body_size += len(body)
        receiver, request = self._receiver, self._request
        assert receiver is not None, "the connection is still open"
        assert request is not None, "a body follows a head"
        if self.body_size <= MAX_BODY:
            self._chunks.append(body)
            if len(self._chunks) > _MAX_PIECES:
                self._chunks = [b"".join(self._chunks)]
            receiver.body_received(len(body))
        elif before <= MAX_BODY:
            self._chunks = []
            receiver.body_received(-before)
        elif self.body_size > MAX_DISCARDED:
            self._end_early(request)

    def on_message_complete(self) -> None:
        request, parser = self._request, self._parser
        assert request is not None, "a message has a head"
        assert parser is not None, "the connection is still open"
        if parser.should_upgrade() and _has_body(request):
            return
        self._beside_body = 0
        chunks, size = self._chunks, self.body_size
        if size > MAX_BODY:
            request.body, request.keep_alive = None, False
        else:
            request.body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        self._hand_over(request)

    def _end_early(self, request: Request) -> NoReturn:
        """Have a request answered whose body is too large even to be thrown away."""
        request.body, request.keep_alive = None, False
        self._hand_over(request)
        # Not sent to anybody: it stops the parser.
        self._reject(BAD_REQUEST)

    def _hand_over(self, request: Request) -> None:
        self.is_arriving = False
        self.is_done = not request.keep_alive
        self._request = None
        self._chunks = []
        self.body_size = 0
        assert self._receiver is not None, "the connection is still open"
        self._receiver.request_received(request)

    def _reject(self, error: RequestError) -> NoReturn:
        self._error = error
        raise RejectedError(error)


def _size(headers: list[Header]) -> int:
    return sum(len(name) + len(value) for name, value in headers)


def _has_body(request: Request) -> bool:
    return b"transfer-encoding" in request.fields or request.fields.get(b"content-length", b"0").strip(b"0") != b""
