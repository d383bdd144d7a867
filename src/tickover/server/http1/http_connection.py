"""One HTTP connection: handles requests in order, and closes connections of slow clients."""

import asyncio
from collections import deque
from collections.abc import Awaitable
from functools import partial
from typing import Final, cast

from tickover.server.http1.http_messages import (
    CONTINUE,
    OVERLOADED,
    REQUEST_TIMEOUT,
    Handle,
    Reject,
    Request,
    RequestError,
    Response,
    encode,
)
from tickover.server.http1.http_parser import RejectedError, RequestParser
from tickover.server.http1.open_connections import HttpLimits, OpenConnections

LINGER_SECONDS: Final = 1.0
"""Delay between an error and the close. A client that is still sending would otherwise lose the error."""
_QUEUED_BYTES: Final = 1024
"""Memory of a queued request besides its body."""


class HttpConnection(asyncio.Protocol):
    """Handles one request at a time.

    Pipelined requests are queued. While requests are queued or a response is unread, nothing more is read.
    """

    def __init__(self, handle: Handle, reject: Reject, limits: HttpLimits, pool: OpenConnections) -> None:
        self._respond = handle
        self._respond_to_error = reject
        self._limits = limits
        self._pool = pool
        self._loop = asyncio.get_running_loop()
        self._queue: deque[Request | RequestError] = deque()
        self._handled: Request | None = None
        """The request that is handled."""
        self._is_reading = True
        self._ignores_input = False
        """True after the last request or an error."""
        self._is_half_closed = False
        """True if the client has closed its side. It may still read responses."""
        self._owes_continue = False
        self._counted_bytes = 0
        """Bytes of this connection's requests that the pool counts."""
        self._arriving_since: float | None = self._loop.time()
        """When the incomplete request began. A new connection counts as one, because it occupies a socket."""
        self._unread_since: float | None = None
        self._last_response_size = 0
        """The event loop keeps all of a response until the last byte is sent."""

    # Callbacks of the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # The transports of uvloop are not subclasses.
        self._transport = transport = cast("asyncio.Transport", transport)
        # Count every byte that the kernel doesn't accept at once.
        transport.set_write_buffer_limits(high=0)
        peer = transport.get_extra_info("peername")
        self._parser = RequestParser(self, peer[0] if isinstance(peer, tuple) else None, self._limits)
        self._pool.add(self, self._loop.time())
        self._timer = self._loop.call_later(self._shortest_wait(), self._check_deadlines)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self._mark_as_left()
        self._ignores_input = True
        self._queue.clear()
        self._count_bytes(-self._counted_bytes)
        self._parser.close()
        self._pool.remove(self)

    def data_received(self, data: bytes) -> None:
        if self._ignores_input:
            return
        self._pool.end_idle(self)
        if self._arriving_since is None:
            # Any byte starts the deadline of the next request, even a blank line.
            self._arriving_since = self._loop.time()
        try:
            self._parser.feed(data)
        except RejectedError as error:
            self._reject(error.response)
            return
        if self._parser.is_arriving:
            if self._arriving_since is None:
                self._arriving_since = self._loop.time()
            if self._parser.body_size:
                self._pool.start_body(self)
        elif self._handled is None:
            self._resume()

    def eof_received(self) -> bool:
        """Return True to keep the connection open for pending responses."""
        self._ignores_input = self._is_half_closed = True
        self._mark_as_left()
        self._arriving_since = None
        self._owes_continue = False
        self._pool.end_body(self)
        self._count_bytes(-self._parser.drop_body())
        return self._handled is not None or bool(self._queue) or self._unread_since is not None

    def pause_writing(self) -> None:
        self._unread_since = self._loop.time()
        self._stop_reading()
        self._pool.start_unread(self, self._last_response_size)

    def resume_writing(self) -> None:
        self._unread_since = None
        self._pool.end_unread(self)
        self._resume()

    # Callbacks of the parser

    def body_received(self, size: int) -> None:
        """Count the bytes of a body that is arriving. A negative size subtracts."""
        self._count_bytes(size)
        if self._pool.reject_bodies_over_limit(self) and self._ignores_input:
            raise RejectedError(OVERLOADED)

    def continue_expected(self) -> None:
        """Send `100 Continue`, for which the client waits before it sends the body."""
        if self._is_busy():
            self._owes_continue = True
        else:
            self._transport.write(CONTINUE)

    def request_received(self, request: Request) -> None:
        """Handle a complete request."""
        if self._ignores_input:
            # The parser may not know that the previous request was the last.
            return
        self._arriving_since = None
        self._owes_continue = False
        is_over_limit = self._pool.request_arrived(self)
        if not request.keep_alive:
            self._ignores_input = True
        if is_over_limit:
            request.keep_alive = False
            self._ignores_input = True
            if request.path not in self._limits.health_checks:
                self._enqueue(OVERLOADED._replace(path=request.path))
                return
        self._enqueue(request)

    # Handling

    def _is_busy(self) -> bool:
        """Return whether requests or a response are pending."""
        return self._handled is not None or bool(self._queue) or self._unread_since is not None

    def _mark_as_left(self) -> None:
        if self._handled is not None:
            self._handled.has_left = True

    def _enqueue(self, message: Request | RequestError) -> None:
        if self._is_busy():
            self._queue.append(message)
            self._count_bytes(_QUEUED_BYTES)
            self._stop_reading()
        else:
            self._handle(message)

    def _handle(self, message: Request | RequestError) -> None:
        if isinstance(message, RequestError):
            self._write(message, self._respond_to_error(message))
            return
        response = self._respond(message)
        if isinstance(response, tuple):
            self._write(message, response)
        else:
            self._handled = message
            message.has_left = self._is_half_closed
            self._pool.start_call(self._finish(message, response), len(message.body or b""))

    async def _finish(self, request: Request, response: Awaitable[Response]) -> None:
        try:
            self._write(request, await response)
            self._handled = None
        finally:
            if self._handled is not None:
                # It failed, or was cancelled.
                self._transport.abort()
            task = asyncio.current_task()
            assert task is not None, "this is a task"
            self._pool.end_call(task)
        self._resume()

    def _resume(self) -> None:
        """Handle queued requests, then resume reading. Mark the connection as idle if nothing is pending."""
        while self._queue and self._handled is None and self._unread_since is None:
            self._count_bytes(-_QUEUED_BYTES)
            self._handle(self._queue.popleft())
        if self._is_busy() or self._transport.is_closing():
            return
        if self._is_half_closed:
            self.close()
            return
        if self._owes_continue:
            self._owes_continue = False
            self._transport.write(CONTINUE)
        if not self._is_reading:
            self._is_reading = True
            self._transport.resume_reading()
            if self._arriving_since is not None:
                # The deadline excludes the time in which nothing was read.
                self._arriving_since = self._loop.time()
        if self._arriving_since is None and not self._ignores_input:
            self._pool.start_idle(self, self._loop.time())

    def _write(self, message: Request | RequestError, response: Response) -> None:
        if self._transport.is_closing():
            return
        if isinstance(message, RequestError):
            self._transport.write(encode(response, b"close"))
            self._linger()
            return
        if message.body:
            self._count_bytes(-len(message.body))
        is_last = not message.keep_alive or ((self._pool.is_draining or self._is_half_closed) and not self._queue)
        connection = b"close" if is_last else b"keep-alive" if message.needs_keep_alive_header else b""
        encoded = encode(response, connection, is_head=message.method == "HEAD")
        self._last_response_size = len(encoded)
        self._transport.write(encoded)
        if not is_last:
            return
        if message.body is None:
            self._linger()
        else:
            self.close()

    def _count_bytes(self, size: int) -> None:
        """Add to the counted bytes of requests. A negative size subtracts."""
        if self._counted_bytes + size < 0:
            # connection_lost has already subtracted them.
            size = -self._counted_bytes
        self._counted_bytes += size
        self._pool.count_request_bytes(size)

    # Closing

    def _reject(self, error: RequestError) -> None:
        if not self._ignores_input:
            self._ignores_input = True
            self._arriving_since = None
            self._pool.end_body(self)
            self._enqueue(error._replace(path=self._parser.path))

    def reject_request(self) -> None:
        """Reject the request that is arriving, because the server is overloaded."""
        self._pool.end_arrival(self)
        self._count_bytes(-self._parser.drop_body())
        self._reject(OVERLOADED)

    def _linger(self) -> None:
        """Close for writing now, and for reading after a delay."""
        self._ignores_input = True
        self._transport.write_eof()
        self._timer.cancel()
        self._timer = self._loop.call_later(LINGER_SECONDS, self.close)

    def close(self) -> None:
        """Close when the client has read all responses, or at the deadline."""
        self._ignores_input = True
        self._pool.end_idle(self)
        self._transport.close()
        self._timer.cancel()
        self._timer = self._loop.call_later(self._limits.deadline_seconds, self._transport.abort)

    def abort(self) -> None:
        """Close immediately."""
        self._transport.abort()

    def stop(self) -> None:
        """Close after the requests that have begun; the pool is stopping."""
        if not (self._is_busy() or self._parser.is_arriving):
            self.close()

    def is_receiving(self) -> bool:
        """Return whether a request is arriving and no earlier one is pending."""
        return self._parser.is_arriving and self._handled is None and not self._queue

    def _stop_reading(self) -> None:
        if self._is_reading:
            self._is_reading = False
            self._transport.pause_reading()

    # Deadlines

    def _check_deadlines(self) -> None:
        """Close or reject if a deadline has passed. One timer per connection is cheaper than one per request."""
        limits, now = self._limits, self._loop.time()
        due, expire = now + self._shortest_wait(), self._check_deadlines
        if self._unread_since is not None:
            due, expire = self._unread_since + limits.deadline_seconds, self.abort
        elif self._arriving_since is not None:
            if self._is_reading and self._handled is None:
                due, expire = self._arriving_since + limits.deadline_seconds, partial(self._reject, REQUEST_TIMEOUT)
        elif (idle_since := self._pool.idle_since(self)) is not None:
            due, expire = idle_since + limits.keep_alive_seconds, self.close
        if due <= now:
            expire()
        else:
            self._timer = self._loop.call_at(min(due, now + self._shortest_wait()), self._check_deadlines)

    def _shortest_wait(self) -> float:
        """Return the shortest time until a deadline that starts now."""
        return min(self._limits.deadline_seconds, self._limits.keep_alive_seconds)
