"""Helpers of these tests: valid parameters with changes, raw requests, and worlds with a failing mailer or store."""

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.support.world import ANA, SETTINGS, HttpResponse, World, open_world, send_request
from tickover.server.http1.http_messages import Request, merge
from tickover.server.settings import Settings
from tickover.server.sign_in.mail.mailer import Email
from tickover.server.storage import open_store

BEN: Final = "ben@example.test"
OMITTED: Final = object()
"""Removes a field from parameters."""
START: Final = "2027-01-01T00:00:00Z"
MICROSECOND: Final = timedelta(microseconds=1)


def _changed(good: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in (good | changes).items() if value is not OMITTED}


def transaction(**changes: Any) -> dict[str, Any]:
    good = {"at": "2027-02-01T09:00:00Z", "name": "Salary", "amount": 2800, "currency": "EUR", "type": "INCOME"}
    return _changed(good, changes)


def contribution(**changes: Any) -> dict[str, Any]:
    return _changed({"at": "2027-02-01T09:00:00Z", "amount": 100}, changes)


def goal(**changes: Any) -> dict[str, Any]:
    return _changed({"name": "Bicycle", "targetAmount": 1000}, changes)


def send(email: Any = ANA, **changes: Any) -> dict[str, Any]:
    """Return the parameters of sendLoginCodeEmail for a code."""
    return _changed({"email": email, "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}, changes)


def send_link(email: Any = ANA, **changes: Any) -> dict[str, Any]:
    return send(email, **{"loginCodeType": "LONG_LIVED", "emailType": "WEB_LOGIN_LINK"} | changes)


def login(code: Any, email: Any = ANA, **changes: Any) -> dict[str, Any]:
    return _changed({"email": email, "code": code, "authenticationMethod": "EMAIL_CODE"}, changes)


def wrong(code: str) -> str:
    """Return another code."""
    return f"{(int(code) + 1) % 1_000_000:06}"


def to_timestamp(instant: datetime) -> str:
    """Return a timestamp in the server's form."""
    return instant.isoformat().replace("+00:00", "Z")


def call(method: str, params: Any = OMITTED, id: Any = 7) -> dict[str, Any]:
    """Return an envelope. With `id=OMITTED` it is a notification."""
    return _changed({"jsonrpc": "2.0", "method": method, "params": params, "id": id}, {})


def idempotency_header(key: str) -> dict[str, str]:
    """Return an Idempotency-Key header."""
    return {"Idempotency-Key": key}


def shift(timestamp: str, by: timedelta) -> str:
    """Return a timestamp that is later by this duration."""
    return to_timestamp(datetime.fromisoformat(timestamp) + by)


def without_ids(value: Any) -> Any:
    """Return a clock without ids and expiry."""
    if isinstance(value, dict):
        return {name: without_ids(part) for name, part in value.items() if name not in ("id", "expiresAt")}
    return [without_ids(part) for part in value] if isinstance(value, list) else value


def raw_call(method: str, params: str, id: str = "7") -> bytes:
    """Return an envelope with parameters and id as JSON text."""
    return f'{{"jsonrpc": "2.0", "method": {json.dumps(method)}, "params": {params}, "id": {id}}}'.encode()


def reason_of(response: HttpResponse) -> str:
    """Return the reason of an error."""
    reason: str = response.json["error"]["data"]["reason"]
    return reason


class _WithId(msgspec.Struct):
    id: msgspec.Raw


def id_bytes(response: HttpResponse) -> bytes:
    """Return the id of a response, byte for byte."""
    return bytes(msgspec.json.decode(response.body, type=_WithId).id)


async def post_with(world: World, headers: Iterable[tuple[str, str]], body: bytes) -> HttpResponse:
    """POST /rpc with headers, some of which may occur several times."""
    written = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    return await send_request(world.handler, Request("POST", "/rpc", b"", merge(written), world.client, body))


class FailingMailer:
    """A mailer that records all emails, and raises `error` if it is set."""

    is_local = False

    def __init__(self) -> None:
        self.emails: list[Email] = []
        self.error: type[Exception] | None = None

    async def deliver(self, email: Email) -> None:
        self.emails.append(email)
        if self.error:
            raise self.error

    async def close(self) -> None:
        """Do nothing."""


@asynccontextmanager
async def open_failing_mail_world(
    folder: Path, database_url: str, settings: Settings = SETTINGS
) -> AsyncIterator[tuple[World, FailingMailer]]:
    """Open a world with a non-local mailer that can fail."""
    store = await open_store(database_url)
    mailer = FailingMailer()
    try:
        yield World(store, mailer, folder / "outbox", settings), mailer
    finally:
        await store.close()


BUG_DETAIL: Final = "a secret detail"


@asynccontextmanager
async def open_buggy_world(folder: Path) -> AsyncIterator[World]:
    """Open a world in which createTestClock raises an unexpected exception."""

    async def fail(*_: object) -> Any:
        raise RuntimeError(BUG_DETAIL)

    async with open_world(folder) as world:
        world.store.create_clock = fail  # type: ignore[method-assign, assignment]
        yield world
