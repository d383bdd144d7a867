"""The longer SQL statements that only PostgreSQL executes.

Clocks and schedules are partitioned into slots. A statement on one clock names its partition, so PostgreSQL reads and
locks only that one. Statements that lock rows of both tables lock `clocks` first.
"""

from tickover.api.ids import creation_day
from tickover.server.storage.statements import CONNECTION, OWNER, PAGE, REVOKED

SLOTS = 10


def slot_of(key: bytes) -> int:
    """Return the partition of a clock's key."""
    return creation_day(key) % SLOTS


def _by_slot(statement: str) -> list[str]:
    """Return the statement for each slot, whose number stands in place of N in `clocks_N` and `schedules_N`."""
    return [statement.replace("_N", f"_{slot}") for slot in range(SLOTS)]


# A decoy row that belongs to no address.
PROBE = "update login_failures set count = count + 1 where email = '0'"

FIND_TOKENS = """
    select input.position, user_key, expires_at, token_key, read_only, last_used_on
    from unnest($1::bytea[], $2::bigint[]) with ordinality as input (digest, instant, position)
    join tokens on tokens.digest = input.digest and tokens.expires_at > input.instant"""

REVOKE_TOKEN = """
    with revoked as (delete from tokens where digest = $1 returning user_key),
    allowed as (
      update login_sends set holds_slot = false
      where $2 and email = (select email from users where key = (select user_key from revoked)))
    select true from revoked"""  # noqa: S105 - no secret
# Returns no row if the session's token was revoked.
CREATE_ACCESS_TOKEN = f"""
    select first_expires_at
    from (select key from (select {OWNER} as key) as resolved where key is not null) as owner
    cross join lateral create_access_token(owner.key, $3, $4, $5, $6, $7, $8, $9)"""

# Creates all clocks of the batch, or none and returns a row of nulls if one of the tokens was revoked.
CREATE_CLOCKS = """
    with owners as materialized (
      select array_agg(coalesce(owner, (select user_key from tokens where digest = token)) order by position) as keys
      from unnest($1::uuid[], $2::bytea[]) with ordinality as input (owner, token, position)
    ), existing as (
      select keys from owners where array_position(keys, null) is null
    )
    select refused, exceeded, oldest
    from existing cross join lateral keep_clocks($3, $4, existing.keys, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    union all
    select null, null, null where not exists (select from existing)"""

# A statement that waits for an amendment sees the new revision of the clock, and the old schedule of its snapshot.
# It must not combine them. The condition compares both revisions, so that the statement skips such a clock, and the
# store runs it again. Clocks that were never amended need no second lookup.
_SAME_REVISION = """
        (clocks.revision = 0 or clocks.revision = (
          select seen.revision from clocks_N as seen where seen.key = clocks.key
        ))"""


def _advance_clocks(same_revision: str) -> str:
    # Keys are sorted, and rows are locked in that order, so that two batches never deadlock.
    return f"""
      update clocks_N as clocks
      set frozen_time = case when input.to_time between frozen_time and max_time then input.to_time else frozen_time end
      from unnest($1::uuid[], $2::bytea[], $3::uuid[], $4::bigint[], $5::integer[])
        as input (owner, token, key, to_time, revision)
      where clocks.key = input.key
        and clocks.owner = coalesce(input.owner, (select user_key from tokens where digest = input.token))
        and {same_revision}
      returning clocks.key, start_time, frozen_time, max_time, name, labels, clocks.revision"""


# Clocks that have another revision are skipped.
ADVANCE_CLOCKS = _by_slot(_advance_clocks("clocks.revision = input.revision"))
ADVANCE_CLOCKS_WITH_SCHEDULES = _by_slot(
    f"""
    with moved as ({_advance_clocks(_SAME_REVISION)}
    ), whole as materialized (
      select moved.key, start_time, frozen_time, max_time, name, labels, revision, schedules.body
      from moved join schedules_N as schedules on schedules.key = moved.key
    )
    select * from whole"""
)
FIND_CLOCK = _by_slot(
    f"""
    select start_time, frozen_time, max_time, name, labels, revision,
      case when revision is distinct from $4 then (select body from schedules_N where key = $3) end
    from clocks_N where key = $3 and owner = {OWNER}"""
)
# The last row has a key alone. It is there if the scan ended early. Keys are sorted, so the last one is the smallest.
SEARCH_CLOCKS = f"""
    with scanned as materialized ({PAGE}),
    found as (
      select * from scanned
      where not exists (
        select from json_array_elements_text($6::json) as member where coalesce(strpos(labels, member), 0) = 0
      )
      order by key desc limit $7
    )
    select * from found
    union all
    select (array_agg(key))[$5], null, null, null, null, null, null from scanned having count(*) = $5
    union all {REVOKED}"""
# Returns a row of nulls if the clock doesn't exist or the token was revoked.
UPDATE_CLOCK = f"select * from update_clock($3, $4, {OWNER}, $5, $6, $7, $8, $9, $10, $11)"
# Returns whether the clock existed. If it didn't, an empty message is written to the write-ahead log. The commit then
# waits for synchronous standbys, and doesn't confirm an earlier deletion that they may lack.
DELETE_CLOCK = _by_slot(
    f"""
    with deleted as (
      delete from clocks_N where key = $3 and owner = {OWNER} returning key
    ), schedule as (
      delete from schedules_N where key in (select key from deleted)
    ), creation as (
      delete from creations where clock_key in (select key from deleted)
    ), connection as (
      delete from connections where clock_key in (select key from deleted)
    )
    select true from deleted
    union all
    select false from pg_logical_emit_message(true, 'tickover', '') where not exists (select from deleted)"""
)
# Returns no row if the token was revoked.
CREATE_CLOCK_ONCE = f"""
    select result.*
    from (select key from (select {OWNER} as key) as resolved where key is not null) as owner
    cross join lateral
      keep_clock_once($3, $4, $5, $6, owner.key, $7, $8, $9, $10, $11, $12, $13, $14, $15) as result"""
FIND_CREATION = f"select * from find_creation($3, {OWNER}, $4)"
# Returns a row of nulls if the clock doesn't exist or the token was revoked.
AMEND_CLOCK = f"""
    select * from amend_clock($3, $4, {OWNER}, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)"""

# Returns null if the clock doesn't exist or the token was revoked.
CREATE_CONNECTION = f"select create_connection($3, $4, {OWNER}, $5, $6, $7, $8, $9, $10, $11)"
# A clock without connections has one row without values.
LIST_CONNECTIONS = _by_slot(
    f"""
    select {CONNECTION} from clocks_N as clocks left join connections on clock_key = clocks.key
    where clocks.key = $3 and owner = {OWNER}"""
)
# Returns no row if the clock doesn't exist or the token was revoked.
DELETE_CONNECTION = _by_slot(
    f"""
    with clock as materialized (select key from clocks_N where key = $3 and owner = {OWNER}),
    deleted as (delete from connections where key = $4 and clock_key in (select key from clock) returning key)
    select exists (select from deleted) from clock"""
)
# `offset 0` forces lookups by key. A join planned for an empty slot would scan the slot.
FIND_CONNECTION = f"""
    select {CONNECTION}, login_required, owner, clocks.key, start_time, frozen_time, max_time, name, labels, revision,
      case when revision is distinct from $4 then (
        select body from schedules where schedules.key = clocks.key and schedules.slot = clocks.slot offset 0
      ) end
    from connections cross join lateral (select * from clocks where clocks.key = clock_key offset 0) as clocks
    where access_digest = $1 and protocol = $2 and clock_key >= $3"""
