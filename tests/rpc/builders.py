"""What the tables of this folder share: good parameters to spoil one field at a time, raw requests, and worlds with a
part that fails.
"""

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from tests.support.world import ANA, HttpResponse, World, send_request
from tickover.server.domain.clocks import Clock
from tickover.server.http.messages import Request, merge
from tickover.server.mail.compose import Composer
from tickover.server.mail.mailer import Email
from tickover.server.mail.outbox import Outbox
from tickover.server.operations import Policy
from tickover.server.storage import open_store
from tickover.server.storage.sqlite.store import SqliteStore
from tickover.server.storage.store import Created, Quota, QuotaExceeded

BEN: Final = "ben@example.test"
LEFT_OUT: Final = object()
"""A value that takes its field away."""
POLICY: Final = Policy("https://tickover.example.test", 10_000)
START: Final = "2027-01-01T00:00:00Z"
MICROSECOND: Final = timedelta(microseconds=1)
NO_CLOCKS: Final = (
    "", "clock", "clock_", "clock_1", "x" * 100_000, "é", "0197f0e0-0000-7000-8000-000000000000",
    "clock_ffffffff-ffff-7fff-bfff-ffffffffffff", "clock_01a2d11f-0200-4000-8000-000000000000",
    "clock_01a2d11f-0200-7000-0000-000000000000", "clock_01a2d11f-0200-7000-8000-000000000000\n",
    " clock_01a2d11f-0200-7000-8000-000000000000", "CLOCK_01a2d11f-0200-7000-8000-000000000000",
    "goal_01a2d11f-0200-7000-8000-000000000000", "clock_01a2d11f020070008000000000000000",
    "clock_01a2d11f-0200-7000-8000-00000000000g", "clock_01A2D11F-0200-7000-8000-000000000000",
)  # fmt: skip
"""Ids that no clock has."""
ON_ONE_STORE: Final = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""For what ends before the store is asked, or asks it for nothing special."""


def _changed(good: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in (good | changes).items() if value is not LEFT_OUT}


def transaction(**changes: Any) -> dict[str, Any]:
    good = {"at": "2027-02-01T09:00:00Z", "name": "Salary", "amount": 2800, "currency": "EUR", "type": "INCOME"}
    return _changed(good, changes)


def contribution(**changes: Any) -> dict[str, Any]:
    return _changed({"at": "2027-02-01T09:00:00Z", "amount": 100}, changes)


def goal(**changes: Any) -> dict[str, Any]:
    return _changed({"name": "Bicycle", "targetAmount": 1000}, changes)


def send(email: Any = ANA, **changes: Any) -> dict[str, Any]:
    """The parameters of a letter with a code."""
    return _changed({"email": email, "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}, changes)


def send_link(email: Any = ANA, **changes: Any) -> dict[str, Any]:
    return send(email, **{"loginCodeType": "LONG_LIVED", "emailType": "WEB_LOGIN_LINK"} | changes)


def login(code: Any, email: Any = ANA, **changes: Any) -> dict[str, Any]:
    return _changed({"email": email, "code": code, "authenticationMethod": "EMAIL_CODE"}, changes)


def wrong(code: str) -> str:
    """A code of the right form that is another one."""
    return f"{(int(code) + 1) % 1_000_000:06}"


def written(moment: datetime) -> str:
    """RFC 3339 in UTC, as the program writes it."""
    return moment.isoformat().replace("+00:00", "Z")


def call(method: str, params: Any = LEFT_OUT, id: Any = 7) -> dict[str, Any]:
    """An envelope; `id=LEFT_OUT` makes it a notification."""
    return _changed({"jsonrpc": "2.0", "method": method, "params": params, "id": id}, {})


def keyed(key: str) -> dict[str, str]:
    """The header that makes a creation happen once."""
    return {"Idempotency-Key": key}


def moved(moment: str, by: timedelta) -> str:
    """A timestamp of ours, so much later."""
    return written(datetime.fromisoformat(moment) + by)


def without_ids(value: Any) -> Any:
    """What a clock says beside which one it is."""
    if isinstance(value, dict):
        return {name: without_ids(part) for name, part in value.items() if name not in ("id", "expiresAt")}
    return [without_ids(part) for part in value] if isinstance(value, list) else value


def raw_call(method: str, params: str, id: str = "7") -> bytes:
    """An envelope whose parameters and id are the very JSON text given."""
    return f'{{"jsonrpc": "2.0", "method": {json.dumps(method)}, "params": {params}, "id": {id}}}'.encode()


def rows(field: str, rule: str, *values: Any) -> list[tuple[str, str, Any]]:
    """Rows of a table: values that break this rule of this field."""
    return [(field, rule, value) for value in values]


def named(value: Any) -> str:
    """A value as a test's name shows it."""
    return "left out" if value is LEFT_OUT else repr(value)[:40]


def reason_of(answer: HttpResponse) -> str:
    """The reason of a refusal."""
    reason: str = answer.json["error"]["data"]["reason"]
    return reason


class _WithId(msgspec.Struct):
    id: msgspec.Raw


def id_bytes(answer: HttpResponse) -> bytes:
    """The id of an answer as it was written, byte for byte."""
    return bytes(msgspec.json.decode(answer.body, type=_WithId).id)


async def post_with(world: World, headers: Iterable[tuple[str, str]], body: bytes) -> HttpResponse:
    """POST /rpc with headers of which some may be there several times."""
    written = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    return await send_request(world.handler, Request("POST", "/rpc", b"", merge(written), world.client, body))


class TroubledMailer:
    """A mail server on a bad day: keeps every letter it was handed, and fails with `trouble` while that is set."""

    is_local = False

    def __init__(self) -> None:
        self.letters: list[Email] = []
        self.trouble: type[Exception] | None = None

    async def deliver(self, email: Email) -> None:
        self.letters.append(email)
        if self.trouble:
            raise self.trouble

    async def close(self) -> None:
        """Nothing is held open."""


@asynccontextmanager
async def open_troubled_world(folder: Path, database_url: str) -> AsyncIterator[tuple[World, TroubledMailer]]:
    """A world whose mail goes to a real server, which may fail."""
    store = await open_store(database_url)
    mailer = TroubledMailer()
    try:
        yield World(store, mailer, folder / "outbox", POLICY), mailer
    finally:
        await store.close()


class BuggyStore(SqliteStore):
    """The real store, but for one bug of the kind that only we can make."""

    DETAIL: Final = "a detail that is nobody's business"

    async def create_clock(
        self, clock: Clock, owner: bytes, schedule: bytes, min_live_key: bytes, quota: Quota
    ) -> Created | QuotaExceeded:
        raise RuntimeError(self.DETAIL)


@asynccontextmanager
async def open_buggy_world(folder: Path) -> AsyncIterator[World]:
    """A world in which createTestClock hits a bug of ours."""
    store = await BuggyStore.open(folder / "tickover.db")
    try:
        yield World(store, Outbox(folder / "outbox", Composer("tickover@example.test")), folder / "outbox", POLICY)
    finally:
        await store.close()
