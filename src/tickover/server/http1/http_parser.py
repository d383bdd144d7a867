"""Parses the bytes of one connection into requests, with limits on heads and bodies."""

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

from tickover.server.http1.http_messages import (
    BAD_REQUEST,
    HEAD_TOO_LARGE,
    UNSUPPORTED_CODING,
    Header,
    Request,
    RequestError,
    merge,
)
from tickover.server.http1.open_connections import HttpLimits

_MAX_HEADERS: Final = 256
"""Many small headers need much more memory than their bytes."""
_MAX_PIECES: Final = 1024
"""Pieces of a body before they are joined. Each piece needs more memory than its bytes."""


class RejectedError(Exception):
    """The request is rejected. The connection closes after the response."""

    def __init__(self, error: RequestError) -> None:
        super().__init__(error.message)
        self.response = error


class Receiver(Protocol):
    """Gets the results of a parser."""

    def continue_expected(self) -> None: ...
    def body_received(self, size: int) -> None: ...
    def request_received(self, request: Request) -> None: ...


class RequestParser:
    """Parses requests. It ignores the Upgrade header, as HTTP allows."""

    def __init__(self, receiver: Receiver, client: str | None, limits: HttpLimits) -> None:
        self._receiver = receiver
        self._client = client
        self._max_head = limits.head_bytes
        self._max_body = limits.body_bytes
        self._max_discarded = 16 * limits.body_bytes
        """Bytes of a too large body that are read and discarded, so that the client can read the response."""
        self._parser = HttpRequestParser(self)
        self.is_arriving = False
        """True if a request has begun and is incomplete."""
        self.is_done = False
        """True after the last request of the connection. Bytes after it are ignored."""
        self.body_size = 0
        """Bytes of the incomplete body so far."""
        self._target = b""
        self._headers: list[Header] = []
        self._request: Request | None = None
        self._pieces: list[bytes] = []
        self._packet_size = 0
        self._non_body_bytes = 0
        """Bytes since the last complete head or piece of a body: a head, trailers or blank lines."""
        self._head_excess = 0
        """Bytes of a head that are not in `_non_body_bytes`, because the head began in the middle of a packet."""
        self._ignores_head = False

    @property
    def path(self) -> str:
        """The path of the incomplete request, or an empty string if its head is incomplete too."""
        return self._request.path if self._request else ""

    def close(self) -> None:
        """Drop the references in circles, so that the memory is free without the garbage collector."""
        del self._parser, self._receiver

    def drop_body(self) -> int:
        """Discard the incomplete body, and return its size."""
        dropped = sum(map(len, self._pieces))
        self._pieces = []
        return dropped

    def feed(self, data: bytes) -> None:
        """Parse a packet. Raise RejectedError if the connection must close."""
        self._packet_size = len(data)
        self._non_body_bytes += len(data)
        rest = None
        try:
            try:
                self._parser.feed_data(data)
            except HttpParserUpgrade as upgrade:
                rest = memoryview(data)[upgrade.args[0] :]
            # Outside of the handler, whose exception would replace the context of errors.
            if rest is not None:
                self._ignore_upgrade(rest)
        except HttpParserError as error:
            rejected = error.__context__
            if isinstance(error, HttpParserCallbackError) and not isinstance(rejected, RejectedError):
                # A bug in a callback.
                raise
            if self.is_done:
                return
            if isinstance(rejected, RejectedError):
                raise rejected from None
            raise RejectedError(HEAD_TOO_LARGE if self._non_body_bytes > self._max_head else BAD_REQUEST) from None
        if self._non_body_bytes > self._max_head and not self.is_done:
            raise RejectedError(HEAD_TOO_LARGE)

    def _ignore_upgrade(self, rest: memoryview) -> None:
        """Continue after the head of a request with an Upgrade header, where httptools stops."""
        while True:
            if self._request is not None:
                self._restart_for_body(self._request)
            try:
                self._parser.feed_data(rest)
            except HttpParserUpgrade as upgrade:
                rest = rest[upgrade.args[0] :]
            else:
                return

    def _restart_for_body(self, request: Request) -> None:
        """Parse the body with a new parser. Its head declares only the length or the coding of the body."""
        header = b"Content-Length: %b" % request.fields.get(b"content-length", b"0")
        if b"transfer-encoding" in request.fields:
            header = b"Transfer-Encoding: chunked"
        self._parser = HttpRequestParser(self)
        self._ignores_head = True
        self._parser.feed_data(b"POST / HTTP/1.1\r\n%b\r\n\r\n" % header)
        self._ignores_head = False

    # Callbacks of httptools

    def on_message_begin(self) -> None:
        if self._ignores_head:
            return
        self.is_arriving = True
        self._target = b""
        self._headers = []
        self._head_excess = 0 if self._non_body_bytes else self._packet_size

    def on_url(self, part: bytes) -> None:
        if not self._ignores_head:
            self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self._headers) >= _MAX_HEADERS:
            raise RejectedError(HEAD_TOO_LARGE)
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        if self._ignores_head:
            self._headers = []
            return
        headers, parser = self._headers, self._parser
        # The counted bytes may include others, so measure the head only if there are many.
        if (
            self._non_body_bytes + self._head_excess > self._max_head
            and len(self._target) + _size(headers) > self._max_head
        ):
            raise RejectedError(HEAD_TOO_LARGE)
        self._non_body_bytes = 0
        # Trailers are discarded. They must not change the headers.
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
            self._check_special_headers(request, parser.get_http_version())
        elif int(fields[b"content-length"]) > self._max_discarded:
            self._reject_body(request)

    def _read_target(self, method: str, fields: dict[bytes, bytes]) -> Request:
        if method == "CONNECT":
            raise RejectedError(BAD_REQUEST)
        try:
            url = parse_url(self._target)
            # A target without a path, such as `GET http://localhost`, means "/".
            path = unquote((url.path or b"/").decode("ascii"))
        except (HttpParserInvalidURLError, UnicodeDecodeError):
            raise RejectedError(BAD_REQUEST) from None
        return Request(method, path, url.query or b"", fields, self._client)

    def _check_special_headers(self, request: Request, version: str) -> None:
        fields = request.fields
        if b"transfer-encoding" in fields and (
            fields[b"transfer-encoding"].strip().lower() != b"chunked" or version != "1.1"
        ):
            raise RejectedError(UNSUPPORTED_CODING)
        if version != "1.1":
            # The parser doesn't see `close` beside `keep-alive`. A repeated header is empty here.
            options = {option.strip(b" \t").lower() for option in fields.get(b"connection", b"").split(b",")}
            request.keep_alive = request.keep_alive and b"keep-alive" in options and b"close" not in options
            request.needs_keep_alive_header = request.keep_alive
        length = int(fields.get(b"content-length", 0))
        expects_continue = version == "1.1" and fields.get(b"expect", b"").lower() == b"100-continue"
        if length > (self._max_body if expects_continue else self._max_discarded):
            self._reject_body(request)
        if expects_continue:
            self._receiver.continue_expected()

    def on_body(self, body: bytes) -> None:
        self._non_body_bytes = 0
        before = self.body_size
        self.body_size += len(body)
        if self.body_size <= self._max_body:
            self._pieces.append(body)
            if len(self._pieces) > _MAX_PIECES:
                self._pieces = [b"".join(self._pieces)]
            self._receiver.body_received(len(body))
        elif before <= self._max_body:
            self._pieces = []
            self._receiver.body_received(-before)
        elif self.body_size > self._max_discarded:
            assert self._request is not None, "the head is complete"
            self._reject_body(self._request)

    def on_message_complete(self) -> None:
        request = self._request
        assert request is not None, "the head is complete"
        if self._parser.should_upgrade() and _has_body(request):
            return
        self._non_body_bytes = 0
        pieces, size = self._pieces, self.body_size
        if size > self._max_body:
            request.body, request.keep_alive = None, False
        else:
            request.body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        self._complete(request)

    def _reject_body(self, request: Request) -> NoReturn:
        """Hand over a request whose body is too large to discard, and stop the parser."""
        request.body, request.keep_alive = None, False
        self._complete(request)
        # This error stops the parser and is not sent.
        raise RejectedError(BAD_REQUEST)

    def _complete(self, request: Request) -> None:
        self.is_arriving = False
        self.is_done = not request.keep_alive
        self._request = None
        self._pieces = []
        self.body_size = 0
        self._receiver.request_received(request)


def _size(headers: list[Header]) -> int:
    return sum(len(name) + len(value) for name, value in headers)


def _has_body(request: Request) -> bool:
    return b"transfer-encoding" in request.fields or request.fields.get(b"content-length", b"0").strip(b"0") != b""
