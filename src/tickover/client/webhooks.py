"""Delivers events as webhooks, signed as in Standard Webhooks: to a URL, or to a handler in this process."""

import base64
import inspect
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from tickover.api.clocks import Event
from tickover.api.plans import encode_json
from tickover.client.client_errors import Unreachable
from tickover.client.rpc_messages import Deadline, Request, Transport, split_url

if TYPE_CHECKING:
    from random import Random

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the prefix isn't secret
_SECRET_BYTES: Final = range(24, 65)
_TIMEOUT_SECONDS: Final = 10.0
_PARAMETERS_OF_WSGI, _PARAMETERS_OF_ASGI = 2, 3

Handler = Callable[..., Any]
"""A WSGI application (two parameters), an ASGI application (three), or a function of a `Webhook`."""


class Webhook(Struct, frozen=True):
    """A signed request."""

    headers: dict[str, str]
    body: bytes


class Answer(Struct, frozen=True):
    """The response of an HTTP handler."""

    status: int
    body: bytes


class Delivery(Struct, frozen=True):
    """One delivery of an event. `answer` is an `Answer`, or what a function returned."""

    event: Event
    answer: Any


def new_secret() -> str:
    import secrets  # noqa: PLC0415 - it takes long to import

    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def decode_secret(text: str) -> bytes:
    """Return the key of a secret. Raise ValueError if it isn't `whsec_` and 24 to 64 bytes in base64."""
    try:
        key = base64.b64decode(text.removeprefix(SECRET_PREFIX), validate=True)
    except ValueError:
        key = b""
    if not text.startswith(SECRET_PREFIX) or len(key) not in _SECRET_BYTES:
        raise ValueError("invalid signing secret; use whsec_ and 24 to 64 random bytes in base64")
    return key


def sign_event(clock_id: str, event: Event, key: bytes) -> Webhook:
    """Return the request for an event. The time in its body is simulated."""
    payload = {"type": event.type, "timestamp": event.at, "data": {"clockId": clock_id, "event": event}}
    return sign(event.id, encode_json(payload), key)


def sign(id: str, body: bytes, key: bytes) -> Webhook:
    """Return the request for one attempt of a delivery, with the time of this process in its headers."""
    import hmac  # noqa: PLC0415 - it loads OpenSSL

    timestamp = int(datetime.now(UTC).timestamp())
    signature = hmac.digest(key, f"{id}.{timestamp}.".encode() + body, "sha256")
    headers = {
        "Content-Type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(signature).decode()}",
    }
    return Webhook(headers, body)


class EventQueue:
    """The events of a clock that are still to be delivered."""

    def __init__(self, after: datetime | None = None) -> None:
        self.after = after
        """Before the newest event's instant, because an amendment may still add events at that instant."""
        self._seen: set[str] = set()
        self._delayed: list[Event] = []
        self._randoms: dict[int, Random] = {}

    def find_new(self, found: Sequence[Event]) -> list[Event]:
        """Return the events that weren't found before. `found` has all events after `after`."""
        new = [event for event in found if event.id not in self._seen]
        self._seen = {event.id for event in found}
        instants = sorted({event.at for event in found})
        if len(instants) > 1:
            self.after = instants[-2]
        return new

    def arrange(
        self, events: Sequence[Event], *, duplicate: float = 0, reorder: float = 0, delay: float = 0, seed: int = 0
    ) -> list[Event]:
        """Return the events as a network with faults delivers them.

        A reordered event overtakes all others. A delayed event waits for the next call.
        """
        from random import Random  # noqa: PLC0415 - it takes long to import

        random = self._randoms.setdefault(seed, Random(seed))  # noqa: S311 - repeatable on purpose
        arranged: list[Event] = self._delayed
        self._delayed = []
        for event in events:
            if random.random() < delay:
                self._delayed.append(event)
                continue
            place = 0 if random.random() < reorder else len(arranged)
            arranged[place:place] = [event, event] if random.random() < duplicate else [event]
        return arranged

    def put_back(self, events: Sequence[Event]) -> None:
        """Deliver these events first in the next call."""
        self._delayed = [*events, *self._delayed]


async def post(to: str | Handler, path: str, webhook: Webhook, *, blocking: bool) -> Any:
    """Send a webhook, and return the answer. With `blocking`, the coroutine never suspends."""
    if isinstance(to, str):
        return await post_to_url(to, webhook, blocking=blocking)
    parameters = len(inspect.signature(to).parameters)
    if parameters == _PARAMETERS_OF_WSGI:
        return _post_to_wsgi(to, path, webhook)
    answer = _post_to_asgi(to, path, webhook) if parameters == _PARAMETERS_OF_ASGI else to(webhook)
    if not inspect.isawaitable(answer):
        return answer
    return _run(answer) if blocking else await answer


def _run(awaitable: Awaitable[Any]) -> Any:
    """Run an awaitable of the app in an event loop of its own."""
    import asyncio  # noqa: PLC0415 - it takes long to import, and most programs don't need it

    async def wait() -> Any:
        return await awaitable

    return asyncio.run(wait())


def parse_url(url: str) -> tuple[str, str]:
    """Return the server and the path of a URL. Without a scheme, it is http. Raise ValueError if it is invalid."""
    parts = split_url(url if "://" in url else f"http://{url}")
    if parts is None:
        raise ValueError(f"invalid URL {url!r}; use, for example, http://localhost:3000/webhook")
    path = parts.path or "/"
    return f"{parts.scheme}://{parts.netloc}", f"{path}?{parts.query}" if parts.query else path


async def post_to_url(url: str, webhook: Webhook, *, blocking: bool) -> Answer:
    server, path = parse_url(url)
    transport: Transport
    # Both imports take long.
    if blocking:
        from tickover.client.http_pool import HttpPool  # noqa: PLC0415

        transport = HttpPool(server)
    else:
        from tickover.client.async_http_pool import AsyncHttpPool  # noqa: PLC0415

        transport = AsyncHttpPool(server)
    try:
        request = Request("POST", path, headers=webhook.headers, content=webhook.body)
        response = await transport.send(request, Deadline(_TIMEOUT_SECONDS))
    except Unreachable:
        raise Unreachable(f"The webhook handler at {url} didn't respond.") from None
    finally:
        await transport.close()
    return Answer(response.status, response.content)


async def _post_to_asgi(app: Handler, path: str, webhook: Webhook) -> Answer:
    import httpx2  # noqa: PLC0415 - it takes long to import

    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://app.test") as client:
        response = await client.post(path, headers=webhook.headers, content=webhook.body)
    return Answer(response.status_code, response.content)


def _post_to_wsgi(app: Handler, path: str, webhook: Webhook) -> Answer:
    import httpx2  # noqa: PLC0415 - it takes long to import

    with httpx2.Client(transport=httpx2.WSGITransport(app), base_url="http://app.test") as client:
        response = client.post(path, headers=webhook.headers, content=webhook.body)
    return Answer(response.status_code, response.content)
