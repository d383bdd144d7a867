"""Access tokens in SQLite. `create` is a job of the writer."""

from typing import Any, Final

import apsw

from tickover.api.timestamps import from_micros, to_micros
from tickover.server.storage.sqlite.rows import find_owner
from tickover.server.storage.sqlite.statements import OWNER
from tickover.server.storage.store import Created, NewAccessToken, Owner, TooManyTokens

# A row without any value means that the session's token was revoked.
LIST: Final = f"""
    select * from (
      select token_key, name, read_only, created_at, expires_at, last_used_on from tokens
      where user_key = {OWNER} and token_key is not null and expires_at > ?3 order by token_key desc
    )
    union all
    select null, null, null, null, null, null where {OWNER} is null"""
_COUNT: Final = """
    select count(*), min(expires_at) from tokens where user_key = ? and token_key is not null and expires_at > ?"""
_INSERT: Final = """
    insert into tokens (digest, user_key, expires_at, token_key, name, read_only, created_at)
    values (?, ?, ?, ?, ?, ?, ?)"""
REVOKE: Final = f"delete from tokens where user_key = {OWNER} and token_key = ?3 and expires_at > ?4 returning 1"

RECORD_USE: Final = """
    update tokens set last_used_on = ?2
    where digest = ?1 and token_key is not null and coalesce(last_used_on, 0) < ?2"""


def create(db: apsw.Connection, new: NewAccessToken, owner: Owner, limit: int) -> Created | TooManyTokens | None:
    """Return None if the owner's token was revoked."""
    user = find_owner(db, owner)
    if user is None:
        return None
    created_at, expires_at = to_micros(new.created_at), to_micros(new.expires_at)
    counted: Any = db.execute(_COUNT, (user, created_at)).fetchone()
    count, first_expires_at = counted
    if count >= limit:
        return TooManyTokens(from_micros(first_expires_at))
    db.execute(_INSERT, (new.digest, user, expires_at, new.key, new.name, new.read_only, created_at))
    return Created()
