"""The longer SQL statements of the PostgreSQL store.

Clocks and schedules are partitioned into slots. A statement on one clock names its partition, so PostgreSQL reads and
locks only that one. Statements that lock rows of both tables lock `clocks` first.
"""

SLOTS = 10

# A decoy row that belongs to no address.
PROBE = "update login_failures set count = count + 1 where email = '0'"

FIND_USERS = """
    select input.position, tokens.user_key
    from unnest($1::bytea[], $2::bigint[]) with ordinality as input (digest, instant, position)
    join tokens on tokens.digest = input.digest and tokens.expires_at > input.instant"""

FIND_SESSION = """
    select key, email, expires_at from tokens join users on key = user_key where digest = $1 and expires_at > $2"""

CREATE_CLOCKS = (
    "select refused, exceeded, oldest from keep_clocks_v3($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
)

# Keys are sorted, and rows are locked in that order, so that two batches never deadlock.
ADVANCE_CLOCKS = [
    f"""
      update clocks_{slot} as clocks
      set frozen_time = case when input.to_time between frozen_time and max_time then input.to_time else frozen_time end
      from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as input (key, owner, to_time)
      where clocks.key = input.key and clocks.owner = input.owner
      returning clocks.key, start_time, frozen_time, max_time, name, labels"""
    for slot in range(SLOTS)
]
ADVANCE_CLOCKS_WITH_SCHEDULES = [
    f"""
    with moved as ({ADVANCE_CLOCKS[slot]}
    ), whole as materialized (
      select moved.key, start_time, frozen_time, max_time, name, labels, schedules.body
      from moved join schedules_{slot} as schedules on schedules.key = moved.key
    )
    select * from whole"""
    for slot in range(SLOTS)
]
FIND_CLOCK = [
    f"select start_time, frozen_time, max_time, name, labels from clocks_{slot} where key = $1 and owner = $2"
    for slot in range(SLOTS)
]
FIND_CLOCK_WITH_SCHEDULE = [
    f"""
    select start_time, frozen_time, max_time, name, labels, body from clocks_{slot} as clocks
    join schedules_{slot} as schedules on schedules.key = clocks.key where clocks.key = $1 and owner = $2"""
    for slot in range(SLOTS)
]
LIST_CLOCKS = """
    select key, start_time, frozen_time, max_time, name, labels from clocks
    where owner = $1 and key >= $2 and key < $3 order by key desc limit $4"""
# The last row has a key alone. It is there if the scan ended early. Keys are sorted, so the last one is the smallest.
SEARCH_CLOCKS = f"""
    with scanned as materialized ({LIST_CLOCKS}),
    found as (
      select * from scanned
      where not exists (select from unnest($5::text[]) as member where coalesce(strpos(labels, member), 0) = 0)
      order by key desc limit $6
    )
    select * from found
    union all
    select (array_agg(key))[$4], null, null, null, null, null from scanned having count(*) = $4"""
# $3 and $5 tell whether the name and the labels change.
UPDATE_CLOCK = [
    f"""
    with updated as (
      update clocks_{slot}
      set name = case when $3 then $4 else name end, labels = case when $5 then $6 else labels end,
        bytes = bytes
          + case when $3 then stored_bytes('', $4, null) - stored_bytes('', name, null) else 0 end
          + case when $5 then stored_bytes('', null, $6) - stored_bytes('', null, labels) else 0 end
      where key = $1 and owner = $2
      returning key, start_time, frozen_time, max_time, name, labels
    )
    select start_time, frozen_time, max_time, name, labels, body
    from updated join schedules_{slot} as schedules on schedules.key = updated.key"""
    for slot in range(SLOTS)
]
# Returns whether the clock existed. If it didn't, an empty message is written to the write-ahead log. The commit then
# waits for synchronous standbys, and doesn't confirm an earlier deletion that they may lack.
DELETE_CLOCK = [
    f"""
    with deleted as (
      delete from clocks_{slot} where key = $1 and owner = $2 returning key
    ), schedule as (
      delete from schedules_{slot} where key in (select key from deleted)
    ), creation as (
      delete from creations where clock_key in (select key from deleted)
    )
    select true from deleted
    union all
    select false from pg_logical_emit_message(true, 'tickover', '') where not exists (select from deleted)"""
    for slot in range(SLOTS)
]
CREATE_CLOCK_ONCE = "select * from keep_clock_once_v3($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
