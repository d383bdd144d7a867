"""Fills a database with the data of eight busy days, by a few statements. Names are in `tests.store.values`."""

from datetime import timedelta
from typing import Final, NamedTuple

import asyncpg

from tests.store.values import DAY, END, MINUTE, NOW, START, key
from tickover.api.timestamps import Instant, to_micros

BUSY: Final = "busy@example.test"
"""An address that received an email in each of the last thirty minutes."""
DAYS: Final = 8
COLLECTOR: Final = 900_000_000
"""A user with more clocks on each day than fit on a page."""
COLLECTED_A_DAY: Final = 400
_MILLISECOND: Final = timedelta(milliseconds=1)

# The same as values.key and values.digest.
_FUNCTIONS = """
    create or replace function pg_temp.key_of(millis bigint, number bigint) returns uuid language sql immutable as $$
      select (lpad(to_hex(millis), 12, '0') || '700080' || lpad(to_hex(number), 14, '0'))::uuid $$;
    create or replace function pg_temp.digest_of(number bigint) returns bytea language sql immutable as $$
      select sha256(int8send(number)) $$;
    create or replace function pg_temp.address_of(number bigint) returns text language sql immutable as $$
      select 'user-' || number || '@example.test' $$"""

_CLOCKS = """
    insert into clocks
    select pg_temp.key_of(created_at, number),
      pg_temp.key_of({users_created_at}, number % {users}),
      {start}, {start}, {end}
    from (select number, {now} - ({clocks} - number) * {step} as created_at
      from generate_series(1::bigint, {clocks}) as number) as input"""
_OVERDUE_CLOCKS = """
    insert into clocks
    select pg_temp.key_of({now} - 10 * {day}, number), pg_temp.key_of({users_created_at}, 0),
      {start}, {start}, {end}
    from generate_series(1::bigint, {overdue}) as number"""
_COLLECTED_CLOCKS = """
    insert into clocks
    select pg_temp.key_of({now} - age * {day}, number),
      pg_temp.key_of({users_created_at}, {collector}), {start}, {start}, {end}
    from generate_series(0, 7) as age, generate_series({collector}, {collector} + {collected} - 1) as number"""
# For every tenth clock, and for all clocks of the collector from today. The clocks of the first days have expired.
_CREATIONS = """
    insert into creations
    select pg_temp.digest_of(number), pg_temp.digest_of(0), pg_temp.key_of({now} - ({clocks} - number) * {step}, number)
    from generate_series(10::bigint, {clocks}, 10) as number
    union all select pg_temp.digest_of(number), pg_temp.digest_of(0), pg_temp.key_of({now}, number)
    from generate_series({collector}::bigint, {collector} + {collected} - 1) as number"""
# One for each clock. The clocks of the first days have expired.
_CONNECTIONS = """
    insert into connections
      (key, clock_key, protocol, institution, created_at, connected_at, consent_from, setup_digest, access_digest)
    select key, key, 'PLAID', 'Bank', 0, 0, 0, case when odd then digest end, case when not odd then digest end
    from (select key, sha256(uuid_send(key)) as digest, get_byte(uuid_send(key), 15) % 2 = 1 as odd
      from clocks) as input"""
_SCHEDULES = "insert into schedules select key, '\\x00' from clocks"
_USERS = """
    insert into users select pg_temp.key_of({users_created_at}, number), pg_temp.address_of(number), 0
    from generate_series(0::bigint, {users} - 1) as number"""
# Tokens of a month. The first ones have expired.
_TOKENS = """
    insert into tokens select pg_temp.digest_of(number), pg_temp.key_of({users_created_at}, number),
      ({now} + (number - {users} / 4) * 30 * {day} / {users}) * 1000
    from generate_series(0::bigint, {users} - 1) as number"""
# Alternately a code and a link. The last ones are new.
_EMAILS = """
    insert into login_emails (digest, email, kind, sent_at, expires_at, network)
    select pg_temp.digest_of(number), pg_temp.address_of(number), (array['CODE', 'LINK'])[1 + number % 2],
      sent_at, sent_at + {an_hour}, 'a network'
    from (select number, ({now} - ({users} - number) * {days} * {day} / {users}) * 1000 as sent_at
      from generate_series(0::bigint, {users} - 1) as number) as input"""
_BUSY_EMAILS = """
    insert into login_emails (digest, email, kind, sent_at, expires_at, network)
    select pg_temp.digest_of(-number), '{busy}', 'CODE', ({now} - number * {minute}) * 1000, 0, 'a network'
    from generate_series(1::bigint, 30) as number"""
_FAILURES = """
    insert into login_failures select pg_temp.address_of(number), number % 100, 0
    from generate_series(0::bigint, {users} - 1) as number"""


class BulkData(NamedTuple):
    """Clocks numbered from 1, created at equal intervals, the last one now.

    Every tenth clock was created with an idempotency key of its number. Every clock has a connection with the same
    key. For every ten clocks there is one user, numbered from 0, with an address, a token, an email and failures.
    There is also the collector.
    """

    clocks: int
    overdue: int = 0
    """Clocks that should have been swept days ago."""

    @property
    def users(self) -> int:
        return self.clocks // 10

    @property
    def _step(self) -> timedelta:
        return DAYS * DAY // self.clocks // _MILLISECOND * _MILLISECOND

    def key(self, number: int) -> bytes:
        return key(number, NOW - (self.clocks - number) * self._step)

    async def fill(self, connection: asyncpg.Connection) -> None:
        """Write the rows. The server's statistics are not updated."""
        numbers = {
            "clocks": self.clocks,
            "overdue": self.overdue,
            "users": self.users,
            "users_created_at": _millis(NOW - DAY),
            "now": _millis(NOW),
            "an_hour": 3_600_000_000,
            "minute": MINUTE // _MILLISECOND,
            "day": DAY // _MILLISECOND,
            "days": DAYS,
            "step": self._step // _MILLISECOND,
            "start": to_micros(START),
            "end": to_micros(END),
            "busy": BUSY,
            "collector": COLLECTOR,
            "collected": COLLECTED_A_DAY,
        }
        await connection.execute(_FUNCTIONS)
        clocks = (_CLOCKS, _OVERDUE_CLOCKS, _COLLECTED_CLOCKS, _SCHEDULES, _CREATIONS, _CONNECTIONS)
        for rows in (*clocks, _USERS, _TOKENS, _EMAILS, _BUSY_EMAILS, _FAILURES):
            await connection.execute(rows.format(**numbers))


def address(number: int) -> str:
    """Return the address of a user."""
    return f"user-{number}@example.test"


def _millis(instant: Instant) -> int:
    return to_micros(instant) // 1000
