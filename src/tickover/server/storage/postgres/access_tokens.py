"""Access tokens in PostgreSQL."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from asyncpg.pgproto.pgproto import UUID

from tickover.api.errors import unauthenticated
from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.storage.postgres.statements import OWNER
from tickover.server.storage.rows import access_token_of
from tickover.server.storage.store import Created, NewAccessToken, StoredAccessToken, TooManyTokens

Fetch = Callable[..., Awaitable[list[Any]]]
"""Runs a statement with values, and returns its rows."""
OwnerValues = tuple[UUID | None, bytes | None]

# Returns no row if the session's token was revoked.
_CREATE: Final = f"""
    select first_expires_at
    from (select key from (select {OWNER} as key) as resolved where key is not null) as owner
    cross join lateral create_access_token_v1(owner.key, $3, $4, $5, $6, $7, $8, $9)"""
# A row without any value means that the session's token was revoked.
_LIST: Final = f"""
    (select token_key, name, read_only, created_at, expires_at, last_used_on from tokens
     where user_key = {OWNER} and token_key is not null and expires_at > $3 order by token_key desc)
    union all
    select null, null, null, null, null, null where {OWNER} is null"""
_REVOKE: Final = f"delete from tokens where user_key = {OWNER} and token_key = $3 and expires_at > $4 returning true"
_RECORD_USE: Final = """
    update tokens set last_used_on = $2
    where digest = $1 and token_key is not null and coalesce(last_used_on, 0) < $2"""
_FIND_OR_CREATE_USER: Final = """
    insert into users values ($1, $2, $3) on conflict (email) do update set email = excluded.email returning key"""


async def create(fetch: Fetch, new: NewAccessToken, owner: OwnerValues, limit: int) -> Created | TooManyTokens:
    instants = to_micros(new.created_at), to_micros(new.expires_at)
    rows = await fetch(_CREATE, *owner, new.digest, UUID(new.key), new.name, new.read_only, *instants, limit)
    if not rows:
        raise unauthenticated()
    ((first_expires_at,),) = rows
    return Created() if first_expires_at is None else TooManyTokens(from_micros(first_expires_at))


async def list_live(fetch: Fetch, owner: OwnerValues, now: Instant) -> list[StoredAccessToken]:
    rows = await fetch(_LIST, *owner, to_micros(now), is_repeatable=True)
    if rows and rows[-1][0] is None:
        raise unauthenticated()
    return [access_token_of(key.bytes, *columns) for key, *columns in rows]


async def revoke(fetch: Fetch, key: bytes, owner: OwnerValues, now: Instant) -> bool:
    return bool(await fetch(_REVOKE, *owner, UUID(key), to_micros(now)))


async def record_use(fetch: Fetch, digest: bytes, day: Instant) -> None:
    await fetch(_RECORD_USE, digest, to_micros(day), is_repeatable=True)


async def find_or_create_user(fetch: Fetch, email: str, new_key: bytes, now: Instant) -> bytes:
    ((key,),) = await fetch(_FIND_OR_CREATE_USER, UUID(new_key), email, to_micros(now), is_repeatable=True)
    found: bytes = key.bytes
    return found
