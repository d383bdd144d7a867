"""Webhooks: payloads of events, signatures as in Standard Webhooks, and their delivery."""

import base64
import binascii
import hashlib
import hmac
import secrets
from datetime import datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from tickover.cli.output import to_json
from tickover.client.connections import Connections
from tickover.client.messages import NoResponse, Request

if TYPE_CHECKING:
    from tickover.client import Event

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the prefix isn't secret
_SECRET_BYTES: Final = range(24, 65)


def new_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def decode_secret(text: str) -> bytes:
    """Return the key of a secret. Raise ValueError if it isn't `whsec_` and 24 to 64 bytes in base64."""
    try:
        key = base64.b64decode(text.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if not text.startswith(SECRET_PREFIX) or len(key) not in _SECRET_BYTES:
        raise ValueError("invalid signing secret; use whsec_ and 24 to 64 random bytes in base64")
    return key


def payload_of(clock_id: str, event: "Event") -> str:
    """Return the body of an event's webhook. Its timestamp is the simulated time."""
    return to_json({"type": event.type, "timestamp": event.at, "data": {"clockId": clock_id, "event": event}})


def sign(key: bytes, id: str, timestamp: int, body: str) -> str:
    signed = hmac.digest(key, f"{id}.{timestamp}.{body}".encode(), hashlib.sha256)
    return f"v1,{base64.b64encode(signed).decode()}"


class Endpoint:
    """The handler that receives the webhooks."""

    def __init__(self, url: str, key: bytes, timeout: float) -> None:
        parts = urlsplit(url)
        self._connections = Connections(f"{parts.scheme}://{parts.netloc}", timeout)
        self._path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        self._key = key

    def post(self, id: str, body: str, now: datetime) -> int | str:
        """Return the HTTP status, or the reason why there is none. `now` is the real time."""
        timestamp = int(now.timestamp())
        headers = {
            "Content-Type": "application/json",
            "webhook-id": id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": sign(self._key, id, timestamp, body),
        }
        request = Request("POST", self._path, headers=headers, content=body.encode())
        response = self._connections.send(request, None)
        return "no response" if isinstance(response, NoResponse) else response.status

    def close(self) -> None:
        self._connections.close()
