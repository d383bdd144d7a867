"""HTTP with one server: an attempt goes out, and a reply comes back or is lost. The one module that knows httpx2.

It is imported when a client is made, and not before, because httpx2 takes longer to import than all else here.
"""

import re
import ssl
import time
from typing import Final

import httpx2

from tickover import __version__
from tickover.client.exchanges import Lost, Reply, Request

_HOST: Final = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?|[0-9a-f:.]*:[0-9a-f:.]*", re.IGNORECASE)
_DIRECTLY: Final = {f"all://{host}": None for host in ("127.0.0.1", "localhost", "[::1]")}
"""What is on this machine is never asked for through a proxy that the environment names."""
_HEADERS: Final = {"User-Agent": f"tickover-client/{__version__}", "Accept-Encoding": "identity"}
_NUMBER: Final = re.compile(r"^\[Errno -?[0-9]+\] ")
_KEPT: Final = 20
_KEPT_SECONDS: Final = 4.0
"""How long an idle connection is kept: less than a server keeps its end, so that no call goes into a closing one."""
_LONGEST_ANSWER: Final = 16 * 1024 * 1024
"""Many times what a server ever answers."""
_TROUBLES: Final = (httpx2.HTTPError, httpx2.InvalidURL)
"""All that an attempt can end with; the latter is a redirect to what is no url."""
_NEVER_ARRIVED: Final = (httpx2.ConnectError, httpx2.ConnectTimeout)


class _Wire:
    """What is the same for both kinds of connections: addresses, headers, limits, and words for failures."""

    def __init__(self, url: str, timeout: float) -> None:
        if not timeout > 0:
            raise ValueError("the timeout must be a number of seconds greater than 0")
        self._tls = _tls_for(_address(url))
        self._url = url.rstrip("/")
        self._timeout = timeout

    def _headers(self, request: Request, token: str | None) -> dict[str, str]:
        return {**request.headers, **({"Authorization": f"Bearer {token}"} if token else {})}

    def _lost(self, error: Exception) -> Lost:
        if isinstance(error, httpx2.ConnectError):
            why = f"There is no connection to {self._url} ({_NUMBER.sub('', str(error))}). {_advice(error)}"
        elif isinstance(error, httpx2.TimeoutException):
            why = (
                f"{self._url} did not answer within {self._timeout:g} seconds; give it a longer timeout, or try later."
            )
        else:
            why = f"{self._url} broke the connection off, or does not speak HTTP; is a Tickover server there?"
        return Lost(why, not isinstance(error, _NEVER_ARRIVED))


class _Incoming:
    """A body that is coming in, no longer and no larger than it may be."""

    def __init__(self, seconds: float) -> None:
        self.content = bytearray()
        self._deadline = time.monotonic() + seconds

    def wants_more(self, chunk: bytes) -> bool:
        """Take this much of it. A single read has its own time limit; this is for many short ones."""
        self.content += chunk
        if time.monotonic() > self._deadline:
            raise httpx2.ReadTimeout("the whole of it took too long")
        return len(self.content) <= _LONGEST_ANSWER

    def reply(self, response: httpx2.Response) -> Reply:
        kind = response.headers.get("content-type", "")
        return Reply(str(response.url), response.status_code, bytes(self.content), kind, _led_to(response))


class Connections(_Wire):
    """For calls that block. May be used from several threads."""

    def __init__(self, url: str, timeout: float) -> None:
        super().__init__(url, timeout)
        self._http = httpx2.Client(
            verify=self._tls, headers=_HEADERS, timeout=_patience(timeout), mounts=_DIRECTLY, limits=_limits(_KEPT)
        )

    def send(self, request: Request, token: str | None) -> Reply | Lost:
        url, headers = self._url + request.path, self._headers(request, token)
        try:
            with self._http.stream(
                request.verb, url, params=request.query, headers=headers, content=request.content
            ) as response:
                incoming = _Incoming(self._timeout)
                for chunk in response.iter_raw():
                    if not incoming.wants_more(chunk):
                        break
                return incoming.reply(response)
        except _TROUBLES as error:
            return self._lost(error)

    def close(self) -> None:
        self._http.close()


class AsyncConnections(_Wire):
    """For calls that are awaited. Until they are to be kept, no connection outlives its call and its event loop."""

    def __init__(self, url: str, timeout: float) -> None:
        super().__init__(url, timeout)
        self._http = self._open(kept=0)

    def keep(self) -> None:
        self._http = self._open(kept=_KEPT)

    def _open(self, kept: int) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            verify=self._tls, headers=_HEADERS, timeout=_patience(self._timeout), mounts=_DIRECTLY, limits=_limits(kept)
        )

    async def send(self, request: Request, token: str | None) -> Reply | Lost:
        url, headers = self._url + request.path, self._headers(request, token)
        try:
            async with self._http.stream(
                request.verb, url, params=request.query, headers=headers, content=request.content
            ) as response:
                incoming = _Incoming(self._timeout)
                async for chunk in response.aiter_raw():
                    if not incoming.wants_more(chunk):
                        break
                return incoming.reply(response)
        except _TROUBLES as error:
            return self._lost(error)

    async def close(self) -> None:
        await self._http.aclose()


def _limits(kept: int) -> httpx2.Limits:
    return httpx2.Limits(max_connections=100, max_keepalive_connections=kept, keepalive_expiry=_KEPT_SECONDS)


def _patience(seconds: float) -> httpx2.Timeout:
    # A call may wait for a connection as long as those before it take, each of which has its own limit.
    return httpx2.Timeout(seconds, pool=None)


def _address(url: str) -> httpx2.URL:
    """The url, when it can be a server's; ValueError when not."""
    if "@" in url:
        raise ValueError("a server's url has no user name and no password in it")
    try:
        address = httpx2.URL(url)
    except httpx2.InvalidURL:
        address = httpx2.URL()
    is_one = (
        address.scheme in ("http", "https")
        and _HOST.fullmatch(address.raw_host.decode("ascii"))
        and (address.port is None or 0 < address.port < 65536)
        and not (address.query or address.fragment)
    )
    if not is_one:
        raise ValueError(f"{url!r} is no url of a server; it has to be like http://127.0.0.1:8000")
    return address


def _tls_for(address: httpx2.URL) -> ssl.SSLContext:
    # Without TLS the certificates of this machine are not loaded, which takes longer than the rest: nobody is trusted.
    return httpx2.create_ssl_context() if address.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _advice(error: BaseException) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError) and cause.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
            return "Does it speak TLS at all? If not, its address begins with http://."
        if isinstance(cause, ssl.SSLError):
            return "Is that a certificate which this machine trusts? SSL_CERT_FILE names others that are."
        cause = cause.__cause__ or cause.__context__
    return "Is it running? `tickover serve` starts one."


def _led_to(response: httpx2.Response) -> str:
    if response.next_request is None:
        return ""
    url = response.next_request.url
    return f"{url.scheme}://{url.netloc.decode('ascii')}"
