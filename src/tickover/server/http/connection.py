"""One connection: requests are answered one after the other, in their order, and slow clients are cut."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any, Final, cast

from tickover.server.http.messages import (
    CONTINUE,
    OVERLOADED,
    REQUEST_TIMEOUT,
    Request,
    RequestError,
    RequestHandler,
    Response,
    encode,
)
from tickover.server.http.parser import RejectedError, RequestParser
from tickover.server.http.pool import Pool

LINGER_SECONDS: Final = 1.0
"""Between a refusal and the end of the connection. A client that is still sending would lose it otherwise."""
_QUEUED_BYTES: Final = 1024
"""What a request that waits for its turn is counted with beside its body."""


class Connection(asyncio.Protocol):
    """Answers one request at a time. Others that were sent ahead wait, and meanwhile nothing more is read.

    Nor is anything read or answered while the client has not taken the response before it.
    """

    def __init__(self, handler: RequestHandler, pool: Pool) -> None:
        self._handler = handler
        self._pool = pool
        self._loop = asyncio.get_running_loop()
        self._queue: deque[Request | RequestError] = deque()
        self._is_answering = False
        self._is_over_limit = False
        self._is_reading = True
        self._ignores_input = False
        """Whether the last request is in, or was refused."""
        self._is_half_closed = False
        """Whether the client has closed its side, and may still read responses."""
        self._owes_continue = False
        self._held_bytes = 0
        """Of requests, as counted by the pool."""
        self._arriving_since: float | None = self._loop.time()
        """When the request began that is not whole yet. A client that connects and says nothing holds a socket too."""
        self._unread_since: float | None = None
        self._last_response_size = 0

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Those of uvloop are no subclass of it.
        self._transport = transport = cast("asyncio.Transport", transport)
        # Whatever the kernel does not take at once is unread, and counts.
        transport.set_write_buffer_limits(high=0)
        peer = transport.get_extra_info("peername")
        self._parser = RequestParser(self, peer[0] if isinstance(peer, tuple) else None)
        self._is_over_limit = not self._pool.admit(self, self._loop.time())
        self._timer = self._loop.call_later(self._shortest_wait(), self._check_deadlines)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self._ignores_input = True
        self._queue.clear()
        self._hold(-self._held_bytes)
        self._parser.close()
        self._pool.leave(self)

    def data_received(self, data: bytes) -> None:
        if self._ignores_input:
            return
        self._pool.idle.pop(self, None)
        if self._arriving_since is None:
            # Whatever it is, even a blank line, it begins the wait for the next request.
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
                self._pool.receiving.setdefault(self)
        elif not self._is_answering:
            self._go_on()

    def eof_received(self) -> bool:
        """Return True to keep the connection open for responses that are still to be written."""
        self._ignores_input = self._is_half_closed = True
        self._arriving_since = None
        self._owes_continue = False
        self._pool.receiving.pop(self, None)
        self._hold(-self._parser.drop_body())
        return self._is_answering or bool(self._queue) or self._unread_since is not None

    def pause_writing(self) -> None:
        self._unread_since = self._loop.time()
        self._stop_reading()
        self._pool.note_unread(self, self.unread_size())

    def resume_writing(self) -> None:
        self._unread_since = None
        self._pool.unread.pop(self, None)
        self._go_on()

    # What the parser calls

    def body_received(self, size: int) -> None:
        self._hold(size)
        if self._pool.request_bytes > self._pool.limits.request_bytes:
            self._pool.receiving.setdefault(self)
            self._pool.make_room_for_requests()
            if self._ignores_input:
                raise RejectedError(OVERLOADED)

    def continue_expected(self) -> None:
        if self._is_answering or self._queue or self._unread_since is not None:
            self._owes_continue = True
        else:
            self._transport.write(CONTINUE)

    def request_received(self, request: Request) -> None:
        if self._ignores_input:
            # The request before was the last one, and the parser may not know it.
            return
        self._arriving_since = None
        self._owes_continue = False
        if self._pool.receiving:
            self._pool.receiving.pop(self, None)
        if not request.keep_alive:
            self._ignores_input = True
        if self._is_over_limit:
            request.keep_alive = False
            self._ignores_input = True
            if not self._handler.is_health_check(request):
                self._take(OVERLOADED)
                return
        self._take(request)

    # Answering

    def _take(self, message: Request | RequestError) -> None:
        if self._is_answering or self._queue or self._unread_since is not None:
            self._queue.append(message)
            self._hold(_QUEUED_BYTES)
            self._stop_reading()
        else:
            self._answer(message)

    def _answer(self, message: Request | RequestError) -> None:
        if isinstance(message, RequestError):
            self._write(message, self._handler.reject(message))
            return
        answer = self._handler.handle(message)
        if isinstance(answer, tuple):
            self._write(message, answer)
        else:
            self._is_answering = True
            self._pool.start_call(self._finish(message, answer), len(message.body or b""))

    async def _finish(self, request: Request, answer: Coroutine[Any, Any, Response]) -> None:
        is_answered = False
        try:
            self._write(request, await answer)
            is_answered = True
        finally:
            self._is_answering = False
            task = asyncio.current_task()
            assert task is not None, "this is a task"
            self._pool.tasks.discard(task)
            if not is_answered:
                self._transport.abort()
            self._pool.note_progress()
        self._go_on()

    def _go_on(self) -> None:
        """Answer what waits, then read on; the connection is idle if there is nothing of either."""
        while self._queue and not self._is_answering and self._unread_since is None:
            self._hold(-_QUEUED_BYTES)
            self._answer(self._queue.popleft())
        if self._queue or self._is_answering or self._unread_since is not None or self._transport.is_closing():
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
                # While it was not read, the client could do nothing.
                self._arriving_since = self._loop.time()
        if self._arriving_since is None and not self._ignores_input:
            self._pool.idle[self] = self._loop.time()

    def _write(self, message: Request | RequestError, response: Response) -> None:
        if self._transport.is_closing():
            return
        if isinstance(message, RequestError):
            self._transport.write(encode(response, b"close"))
            self._linger()
            return
        if message.body:
            self._hold(-len(message.body))
        is_last = not message.keep_alive or ((self._pool.is_draining or self._is_half_closed) and not self._queue)
        connection = b"close" if is_last else b"keep-alive" if message.says_keep_alive else b""
        encoded = encode(response, connection, is_head=message.method == "HEAD")
        self._last_response_size = len(encoded)
        self._transport.write(encoded)
        if not is_last:
            return
        if message.body is None:
            self._linger()
        else:
            self.close()

    def _hold(self, size: int) -> None:
        """Count bytes of requests; fewer if it is negative."""
        if self._held_bytes + size < 0:
            # They were let go of when the connection was lost.
            size = -self._held_bytes
        self._held_bytes += size
        self._pool.request_bytes += size

    # Closing

    def _reject(self, error: RequestError) -> None:
        if not self._ignores_input:
            self._ignores_input = True
            self._arriving_since = None
            self._pool.receiving.pop(self, None)
            self._take(error)

    def reject_request(self) -> None:
        """Refuse the request that is arriving."""
        self._pool.receiving.pop(self, None)
        self._pool.over_limit.pop(self, None)
        self._hold(-self._parser.drop_body())
        self._reject(OVERLOADED)

    def _linger(self) -> None:
        """Close for writing at once, and for reading a little later."""
        self._ignores_input = True
        self._transport.write_eof()
        self._timer.cancel()
        self._timer = self._loop.call_later(LINGER_SECONDS, self.close)

    def close(self) -> None:
        """Close the connection when what was written is taken, or at the deadline."""
        self._ignores_input = True
        self._pool.idle.pop(self, None)
        self._transport.close()
        self._timer.cancel()
        self._timer = self._loop.call_later(self._pool.limits.deadline_seconds, self._transport.abort)

    def abort(self) -> None:
        """Close the connection, whatever is under way on it."""
        self._transport.abort()

    def stop(self) -> None:
        """Close the connection after the requests that have begun; `Pool.is_stopping` is set."""
        if not (self._is_answering or self._queue or self._parser.is_arriving or self._unread_since is not None):
            self.close()

    def is_receiving(self) -> bool:
        """Return whether a request is arriving that nothing before is waited for."""
        return self._parser.is_arriving and not self._is_answering and not self._queue

    def unread_size(self) -> int:
        """Return the memory of a response that the client has not read to the end.

        The event loop keeps all of a response until the last byte is sent.
        """
        return self._last_response_size

    def _stop_reading(self) -> None:
        if self._is_reading:
            self._is_reading = False
            self._transport.pause_reading()

    # Deadlines

    def _check_deadlines(self) -> None:
        """One timer for each connection, set anew when it fires, costs less than one for each request."""
        limits, now = self._pool.limits, self._loop.time()
        idle_since = self._pool.idle.get(self)
        due = now + self._shortest_wait()
        if self._unread_since is not None:
            due = min(due, self._unread_since + limits.deadline_seconds)
            if due <= now:
                self._transport.abort()
                return
        elif self._arriving_since is not None:
            if self._is_reading and not self._is_answering:
                due = min(due, self._arriving_since + limits.deadline_seconds)
                if due <= now:
                    self._reject(REQUEST_TIMEOUT)
                    return
        elif idle_since is not None:
            due = min(due, idle_since + limits.keep_alive_seconds)
            if due <= now:
                self.close()
                return
        self._timer = self._loop.call_at(due, self._check_deadlines)

    def _shortest_wait(self) -> float:
        """Return how soon any deadline could be due that begins now."""
        return min(self._pool.limits.deadline_seconds, self._pool.limits.keep_alive_seconds)
