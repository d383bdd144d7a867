"""What the store on PostgreSQL says to the database about tokens and clocks, where it is longer than a line.

Clocks and schedules are parted into slots. A statement about one clock names its slot: so only that is looked at and
locked. Rows of `clocks` are locked before those of `schedules`, by all who lock both.
"""

SLOTS = 10

# A row that counts for nobody.
PROBE = "update login_failures set count = count + 1 where email = '0'"

USERS_OF_TOKENS = """
    select given.place, tokens.user_key
    from unnest($1::bytea[], $2::bigint[]) with ordinality as given (digest, instant, place)
    join tokens on tokens.digest = given.digest and tokens.expires_at > given.instant"""

KEEP_CLOCKS = "select refused, exceeded, oldest from keep_clocks_v2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"

# The keys are in order, and rows are locked in that order, so that no two batches wait for each other.
MOVE_CLOCKS = [
    f"""
      update clocks_{slot} as clocks
      set frozen_time = case when given.to_time between frozen_time and max_time then given.to_time else frozen_time end
      from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as given (key, owner, to_time)
      where clocks.key = given.key and clocks.owner = given.owner
      returning clocks.key, start_time, frozen_time, max_time"""
    for slot in range(SLOTS)
]
ADVANCE_CLOCKS = [
    f"""
    with moved as ({MOVE_CLOCKS[slot]}
    ), whole as materialized (
      select moved.key, start_time, frozen_time, max_time, schedules.body
      from moved join schedules_{slot} as schedules on schedules.key = moved.key
    )
    select * from whole"""
    for slot in range(SLOTS)
]
FIND_CLOCK = [
    f"select start_time, frozen_time, max_time from clocks_{slot} where key = $1 and owner = $2"
    for slot in range(SLOTS)
]
FIND_WHOLE_CLOCK = [
    f"""
    select start_time, frozen_time, max_time, body from clocks_{slot} as clocks
    join schedules_{slot} as schedules on schedules.key = clocks.key where clocks.key = $1 and owner = $2"""
    for slot in range(SLOTS)
]
LIST_CLOCKS = """
    select key, start_time, frozen_time, max_time from clocks
    where owner = $1 and key >= $2 and key < $3 order by key desc limit $4"""
# Whether there was such a clock. If there was none, an empty message is written to the write-ahead log: the commit then
# waits for synchronous standbys, and doesn't confirm an earlier deletion that they may not have.
DELETE_CLOCK = [
    f"""
    with gone as (
      delete from clocks_{slot} where key = $1 and owner = $2 returning key
    ), schedule as (
      delete from schedules_{slot} where key in (select key from gone)
    ), creation as (
      delete from creations where clock_key in (select key from gone)
    )
    select true from gone
    union all
    select false from pg_logical_emit_message(true, 'tickover', '') where not exists (select from gone)"""
    for slot in range(SLOTS)
]
CREATE_ONCE = "select * from keep_clock_once_v2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
