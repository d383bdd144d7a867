"""A database of an earlier version: its schema, and a clock that it stored, byte for byte.

The rows were recorded from that version, so tests fail if the current version can't read them.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, Final

import apsw
import asyncpg

from tests.support.postgres import PostgresServer
from tickover.api.timestamps import to_micros
from tickover.server.sign_in.logins import LoginEmail
from tickover.server.storage.migrations import migrations

# The last schema without idempotency records.
_VERSIONS: Final = {"sqlite": 3, "postgres": 2}

TOKEN: Final = "tko_32rx2DA-Yc3Eu4bD0cQnEDw0TEGJ6y8ee9XUfkRvzsI"
_USER: Final = bytes.fromhex("01a2d11f020073d891736110e578cea6")
_KEY: Final = bytes.fromhex("01a2d11fec607676ae6116c6e9c9bf35")
CLOCK_ID: Final = "clock_01a2d11f-ec60-7676-ae61-16c6e9c9bf35"
_BODY: Final = (
    b'\x94\xc4B"id":"clock_01a2d11f-ec60-7676-ae61-16c6e9c9bf35","status":"READY"'
    b'\xc4C"maxTime":"2037-01-31T09:00:00Z","expiresAt":"2027-01-08T12:01:00Z"'
    b"\x92\x92\xd6\xffk`I\x90\xd7\xffw5\x94\x00k\x84\xb5\x00\x92"
    b'\xc4\xaa{"id":"txn_01a2d11fec607676ae6116c6e9c9bf35_1","at":"2027-02-01T09:00:00Z","name":"Salary",'
    b'"amount":2800,"currency":"EUR","type":"INCOME","source":"SIMULATED_TEST_CLOCK"}'
    b'\xc4\xc2{"id":"txn_01a2d11fec607676ae6116c6e9c9bf35_0","at":"2027-03-01T00:00:00.500000Z","name":"Tea",'
    b'"amount":12,"currency":"EUR","type":"EXPENSE","category":"Z\xc3\xbcrich","source":"SIMULATED_TEST_CLOCK"}'
    b'\x91\x93\xc4O"id":"goal_01a2d11fec607676ae6116c6e9c9bf35_0","name":"Trip","targetAmount":0.3'
    b"\x93d\x1e\x92\n\x14\x92\x91\xd6\xffk_\xcb\x00\x91"
    b'\xc4Z{"id":"ctb_01a2d11fec607676ae6116c6e9c9bf35_0_0","at":"2027-02-01T00:00:00Z","amount":0.1}'
)
ROWS: Final[dict[str, tuple[Any, ...]]] = {
    "users": (_USER, "ana@example.test", 1_798_804_800_000_000),
    "tokens": (
        bytes.fromhex("5424796faa7a003ed07669899fd6339ada7e048ffb9df8449facfbeb0f1a7b53"),
        _USER,
        1_801_396_800_000_000,
    ),
    "clocks": (_KEY, _USER, 1_801_386_000_000_000, 1_801_526_400_000_000, 2_117_005_200_000_000),
    "schedules": (_KEY, _BODY),
}

# The response of that version for the clock.
RESPONSE: Final = {
    "id": CLOCK_ID, "status": "READY",
    "frozenTime": "2027-02-02T00:00:00Z", "maxTime": "2037-01-31T09:00:00Z", "expiresAt": "2027-01-08T12:01:00Z",
    "transactions": [
        {
            "id": "txn_01a2d11fec607676ae6116c6e9c9bf35_1", "at": "2027-02-01T09:00:00Z", "name": "Salary",
            "amount": 2800, "currency": "EUR", "type": "INCOME", "source": "SIMULATED_TEST_CLOCK",
        }
    ],
    "pendingTransactions": [
        {
            "id": "txn_01a2d11fec607676ae6116c6e9c9bf35_0", "at": "2027-03-01T00:00:00.500000Z", "name": "Tea",
            "amount": 12, "currency": "EUR", "type": "EXPENSE", "category": "Zürich", "source": "SIMULATED_TEST_CLOCK",
        }
    ],
    "goals": [
        {
            "id": "goal_01a2d11fec607676ae6116c6e9c9bf35_0", "name": "Trip", "targetAmount": 0.3, "currentAmount": 0.2,
            "remainingAmount": 0.1, "progressPercent": 66.67, "upcomingContributions": [],
            "contributions": [
                {"id": "ctb_01a2d11fec607676ae6116c6e9c9bf35_0_0", "at": "2027-02-01T00:00:00Z", "amount": 0.1}
            ],
        }
    ],
}  # fmt: skip


def make_sqlite(url: str) -> None:
    """Create a file as that version does."""
    with closing(apsw.Connection(url.removeprefix("sqlite:///"))) as connection:
        for migration in migrations("sqlite")[: _VERSIONS["sqlite"]]:
            connection.execute(migration.sql)
        connection.pragma("user_version", _VERSIONS["sqlite"])
        for table, row in ROWS.items():
            connection.execute(f"insert into {table} values ({', '.join('?' * len(row))})", row)


async def make_postgres(url: str) -> None:
    """Fill an empty database in the same way. Rows of clocks start with the slot; that of 2027-01-01 is 9."""
    connection = await asyncpg.connect(url)
    await connection.execute("create table schema_version (number integer not null primary key)")
    for migration in migrations("postgres")[: _VERSIONS["postgres"]]:
        await connection.execute(migration.sql)
        await connection.execute("insert into schema_version values ($1)", migration.number)
    await connection.set_type_codec("uuid", schema="pg_catalog", encoder=bytes, decoder=bytes, format="binary")
    for table, row in ROWS.items():
        values = (9, *row) if table in ("clocks", "schedules") else row
        marks = ", ".join(f"${index}" for index in range(1, len(values) + 1))
        await connection.execute(f"insert into {table} values ({marks})", *values)
    await connection.close()


async def insert_sends(url: str, sends: Sequence[LoginEmail]) -> None:
    """Insert emails as that version does, in order."""
    columns = "digest, email, kind, sent_at, expires_at, network"
    rows = [
        (send.digest, send.email, send.kind, to_micros(send.sent_at), to_micros(send.expires_at), send.network)
        for send in sends
    ]
    if url.startswith("sqlite"):
        with closing(apsw.Connection(url.removeprefix("sqlite:///"))) as file:
            file.executemany(f"insert into login_sends ({columns}) values (?, ?, ?, ?, ?, ?)", rows)
        return
    connection = await asyncpg.connect(url)
    await connection.executemany(f"insert into login_sends ({columns}) values ($1, $2, $3, $4, $5, $6)", rows)
    await connection.close()


async def make(kind: str, sqlite_url: str, postgres: Callable[[], PostgresServer]) -> str:
    """Create a database of either kind, and return its URL."""
    if kind == "sqlite":
        make_sqlite(sqlite_url)
        return sqlite_url
    url = postgres().create_database()
    await make_postgres(url)
    return url
