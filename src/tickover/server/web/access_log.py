"""The access log: one line for each request, without any text of the client."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from tickover.server.http1.messages import Request, RequestError, RequestHandler, Response
from tickover.server.logs import Log


class AccessLog:
    """Passes requests to a handler, and logs each response.

    Implements `tickover.server.http1.messages.RequestHandler`.
    """

    def __init__(self, handler: RequestHandler, route: Callable[[str], str], log: Log) -> None:
        """`route` returns a path without text of the client."""
        self._handler = handler
        self._route = route
        self._log = log

    def handle(self, request: Request) -> Response | Coroutine[Any, Any, Response]:
        began = asyncio.get_running_loop().time()
        response = self._handler.handle(request)
        if not isinstance(response, tuple):
            return self._wait(request, response, began)
        self._log_request(request, response, began)
        return response

    def reject(self, error: RequestError) -> Response:
        response = self._handler.reject(error)
        # The request was not read to its end, so it has no method, path or time.
        self._log_response(response)
        return response

    def is_health_check(self, request: Request) -> bool:
        return self._handler.is_health_check(request)

    async def _wait(self, request: Request, response: Coroutine[Any, Any, Response], began: float) -> Response:
        finished = await response
        self._log_request(request, finished, began)
        return finished

    def _log_request(self, request: Request, response: Response, began: float) -> None:
        milliseconds = round((asyncio.get_running_loop().time() - began) * 1000, 1)
        path = self._route(request.path)
        self._log_response(response, method=request.method, path=path, milliseconds=milliseconds)

    def _log_response(self, response: Response, **fields: object) -> None:
        status, headers, body = response
        request_id = next(value for name, value in headers if name == b"x-request-id").decode()
        self._log.info("request", **fields, status=status, bytes=len(body), request_id=request_id)
