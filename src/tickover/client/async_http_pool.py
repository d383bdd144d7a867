"""Asyncio HTTP connections to one server. They use httpx2, which takes long to import."""

from asyncio import get_running_loop, sleep, timeout

import httpx2

from tickover.client.http_pool import IDLE_SECONDS, MAX_IDLE_CONNECTIONS, MAX_RESPONSE_BYTES, BaseHttpPool
from tickover.client.rpc_messages import Deadline, Request, Response


class AsyncHttpPool(BaseHttpPool):
    """Asyncio connections. Until `reuse` is called, each connection is closed after its call."""

    is_blocking = False

    def __init__(self, url: str) -> None:
        super().__init__(url)
        # Loading the system's certificates is slow, so plain HTTP gets a context without any.
        self._tls = httpx2.create_ssl_context(verify=self._server.scheme == "https")
        self._http = self._open(max_idle=0)

    def reuse(self) -> None:
        self._http = self._open(max_idle=MAX_IDLE_CONNECTIONS)

    def _open(self, max_idle: int) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            verify=self._tls,
            proxy=self._proxy and self._proxy.geturl(),
            trust_env=False,
            timeout=None,
            limits=httpx2.Limits(
                max_connections=100, max_keepalive_connections=max_idle, keepalive_expiry=IDLE_SECONDS
            ),
        )

    async def send(self, request: Request, deadline: Deadline) -> Response:
        is_sent = False

        async def trace(event: str, _: object) -> None:
            nonlocal is_sent
            is_sent = is_sent or event.endswith(".send_request_headers.started")
            # Waiting for a free connection doesn't count.
            if limit.when() is None:
                deadline.start()
                limit.reschedule(get_running_loop().time() + deadline.seconds_left)

        try:
            async with (
                timeout(None) as limit,
                self._http.stream(
                    request.method,
                    self._full_url(request),
                    headers=self._headers(request),
                    content=request.content,
                    extensions={"trace": trace},
                ) as response,
            ):
                content = bytearray()
                async for chunk in response.aiter_raw():
                    content += chunk
                    if len(content) > MAX_RESPONSE_BYTES:
                        break
                return self._build_response(request, response.status_code, bytes(content), response.headers.get)
        except TimeoutError:
            raise self._timed_out(deadline, may_have_arrived=is_sent) from None
        except (httpx2.ConnectError, httpx2.ProxyError) as error:
            raise self._never_connected(error) from None
        except (httpx2.HTTPError, httpx2.InvalidURL):
            # A redirect to an invalid URL raises InvalidURL.
            raise self._broke() from None

    async def sleep(self, seconds: float) -> None:
        await sleep(seconds)

    async def close(self) -> None:
        await self._http.aclose()
