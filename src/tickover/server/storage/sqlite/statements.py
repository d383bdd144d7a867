"""The SQL statements about clocks of the SQLite store.

An owner is two values, of which one is null: a user's key, and the digest of a token. A revoked token has no user.
"""

from typing import Final

OWNER: Final = "coalesce(?1, (select user_key from tokens where digest = ?2))"
FIND_TOKEN = """
    select user_key, expires_at, token_key, read_only, last_used_on from tokens where digest = ? and expires_at > ?"""  # noqa: S105 - no secret
FIND_OWNER = f"select {OWNER}"

FIND_SESSION = """
    select key, email, expires_at from tokens join users on key = user_key where digest = ? and expires_at > ?"""
# Changes a decoy row that belongs to no address. The value must change, because SQLite skips writes of equal pages.
PROBE = "update login_failures set count = count + 1 where email = ''"
FIND_SCHEDULE = "select body from schedules where clock_key = ?"
FIND_CLOCK = f"""
    select start_time, frozen_time, max_time, name, labels, revision from clocks where key = ?3 and owner = {OWNER}"""
FIND_CLOCK_AND_BYTES = FIND_CLOCK.replace(" from clocks", ", bytes from clocks")
INSERT_CLOCK = """
    insert into clocks (key, owner, start_time, frozen_time, max_time, bytes, name, labels)
    values (?, ?, ?, ?, ?, ?, ?, ?)"""
AMEND_CLOCK = "update clocks set revision = revision + 1, bytes = ?, name = ?, labels = ? where key = ?"
AMEND_SCHEDULE = "update schedules set body = ? where clock_key = ?"
INSERT_CREATION = "insert or replace into creations values (?, ?, ?)"
UPDATE_NAMES = "update clocks set name = ?, labels = ?, bytes = bytes + ? where key = ?"
_PAGE = f"""
    select key, start_time, frozen_time, max_time, name, labels, revision from clocks
    where owner = {OWNER} and key >= ?3 and key < ?4 order by key desc limit ?5"""
# A row without any value means that the token was revoked.
_REVOKED = f"select null, null, null, null, null, null, null where {OWNER} is null"
LIST_CLOCKS = f"select * from ({_PAGE}) union all {_REVOKED}"
# The last row has a key alone. It is there if the scan ended early.
SEARCH_CLOCKS = f"""
    with scanned as materialized ({_PAGE}),
    found as (
      select * from scanned
      where labels is not null and not exists (select 1 from json_each(?6) where instr(labels, value) = 0)
      order by key desc limit ?7
    )
    select * from found
    union all
    select min(key), null, null, null, null, null, null from scanned having count(*) = ?5
    union all {_REVOKED}"""
FIND_CREATION = f"""
    select params, key, start_time, frozen_time, max_time, name, labels, revision, body
    from creations join clocks on key = creations.clock_key join schedules on schedules.clock_key = key
    where creations.digest = ?3 and owner = {OWNER} and key >= ?4"""
