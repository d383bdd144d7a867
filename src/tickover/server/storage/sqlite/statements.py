"""The SQL statements that only SQLite executes. `logins.py` has those for signing in."""

from functools import cache
from typing import Final

from tickover.server.storage import statements


@cache
def numbered(statement: str) -> str:
    """Return the statement with the parameters of SQLite: ?1 instead of $1."""
    return statement.replace("$", "?")


OWNER: Final = numbered(statements.OWNER)
FIND_TOKEN = """
    select user_key, expires_at, token_key, read_only, last_used_on from tokens where digest = ? and expires_at > ?"""  # noqa: S105 - no secret
FIND_OWNER = f"select {OWNER}"

# Changes a decoy row that belongs to no address. The value must change, because SQLite skips writes of equal pages.
PROBE = "update login_failures set count = count + 1 where email = ''"
FIND_CLOCK = f"""
    select start_time, frozen_time, max_time, name, labels, revision,
      case when revision is not ?4 then (select body from schedules where clock_key = ?3) end
    from clocks where key = ?3 and owner = {OWNER}"""
DELETE_CLOCK = f"delete from clocks where key = ?3 and owner = {OWNER}"
INSERT_CLOCK = """
    insert into clocks (key, owner, start_time, frozen_time, max_time, bytes, name, labels)
    values (?, ?, ?, ?, ?, ?, ?, ?)"""
AMEND_CLOCK = "update clocks set revision = revision + 1, bytes = ?, name = ?, labels = ? where key = ?"
AMEND_SCHEDULE = "update schedules set body = ? where clock_key = ?"
INSERT_CREATION = "insert or replace into creations values (?, ?, ?)"
UPDATE_NAMES = "update clocks set name = ?, labels = ?, bytes = bytes + ? where key = ?"
# The last row has a key alone. It is there if the scan ended early.
SEARCH_CLOCKS = f"""
    with scanned as materialized ({numbered(statements.PAGE)}),
    found as (
      select * from scanned
      where labels is not null and not exists (select 1 from json_each(?6) where instr(labels, value) = 0)
      order by key desc limit ?7
    )
    select * from found
    union all
    select min(key), null, null, null, null, null, null from scanned having count(*) = ?5
    union all {numbered(statements.REVOKED)}"""
FIND_CREATION = f"""
    select params, key, start_time, frozen_time, max_time, name, labels, revision, body
    from creations join clocks on key = creations.clock_key join schedules on schedules.clock_key = key
    where creations.digest = ?3 and owner = {OWNER} and key >= ?4"""

# A clock without connections has one row without values.
LIST_CONNECTIONS = f"""
    select {statements.CONNECTION} from clocks left join connections on clock_key = clocks.key
    where clocks.key = ?3 and owner = {OWNER}"""
FIND_CONNECTION = f"""
    select {statements.CONNECTION}, login_required, owner, clocks.key, start_time, frozen_time, max_time, name, labels,
      revision,
      case when revision is not ?4 then (select body from schedules where schedules.clock_key = clocks.key) end
    from connections join clocks on clocks.key = connections.clock_key
    where access_digest = ?1 and protocol = ?2 and connections.clock_key >= ?3"""
INSERT_CONNECTION = """
    insert into connections (key, clock_key, protocol, institution, created_at, faults, setup_digest)
    values (?, ?, ?, ?, ?, ?, ?)"""
COUNT_ACCESS_TOKENS = """
    select count(*), min(expires_at) from tokens where user_key = ? and token_key is not null and expires_at > ?"""
INSERT_ACCESS_TOKEN = """
    insert into tokens (digest, user_key, expires_at, token_key, name, read_only, created_at)
    values (?, ?, ?, ?, ?, ?, ?)"""  # noqa: S105 - no secret

FIND_DEAD_CLOCKS = "select key from clocks where key < ? order by key limit ?"
SWEEP_CREATIONS = """
    delete from creations
    where digest in (select digest from creations where clock_key < ? order by clock_key limit ?)"""
SWEEP_CONNECTIONS = """
    delete from connections
    where key in (select key from connections where clock_key < ? order by clock_key limit ?)"""
SWEEP_TOKENS = """
    delete from tokens
    where digest in (select digest from tokens where expires_at <= ? order by expires_at limit ?)"""
