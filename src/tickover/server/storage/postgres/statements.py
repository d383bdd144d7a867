"""The statements of PostgreSQL over arrays: advances and creations that wait at the same time share a round trip."""

from typing import Final

# A statement that waits for an amendment sees the new revision of the clock, and the old schedule of its snapshot.
# It must not combine them. The condition compares both revisions, so that the statement skips such a clock, and the
# store runs it again. Clocks that were never amended need no second lookup.
_SAME_REVISION: Final = """
        (clocks.revision = 0 or clocks.revision = (
          select seen.revision from clocks as seen where seen.key = clocks.key
        ))"""


def _advance_clocks(same_revision: str) -> str:
    # Keys are sorted, and rows are locked in that order, so that two batches never deadlock.
    return f"""
      update clocks
      set frozen_time = case when input.to_time between frozen_time and max_time then input.to_time else frozen_time end
      from unnest($1::uuid[], $2::bytea[], $3::uuid[], $4::bigint[], $5::integer[])
        as input (owner, token, key, to_time, revision)
      where clocks.key = input.key
        and clocks.owner = coalesce(input.owner, (select user_key from tokens where digest = input.token))
        and {same_revision}
      returning clocks.key, start_time, frozen_time, max_time, name, labels, clocks.revision"""


# Clocks that have another revision are skipped.
ADVANCE_CLOCKS: Final = _advance_clocks("clocks.revision = input.revision")
ADVANCE_CLOCKS_WITH_SCHEDULES: Final = f"""
    with moved as ({_advance_clocks(_SAME_REVISION)}
    ), whole as materialized (
      select moved.key, start_time, frozen_time, max_time, name, labels, revision, schedules.body
      from moved join schedules on schedules.clock_key = moved.key
    )
    select * from whole"""

# What `USAGE` returns for one owner, and before it the version of the owner's lock.
FIND_USAGES: Final = """
    select input.position, (select version from locks where name = input.name),
      found.owner, used.clocks, used.bytes,
      (select key from clocks where owner = found.owner and key >= input.min_live_key order by key limit 1)
    from unnest($1::text[], $2::uuid[], $3::bytea[], $4::uuid[], $5::bigint[]) with ordinality
      as input (name, owner, token, min_live_key, max_clocks, position)
    cross join lateral (
      select coalesce(input.owner, (select user_key from tokens where digest = input.token)) as owner
    ) as found
    cross join lateral (
      select count(*) as clocks, coalesce(sum(bytes), 0) as bytes
      from (
        select bytes from clocks where owner = found.owner and key >= input.min_live_key limit input.max_clocks
      ) as live
    ) as used"""
# Names are sorted, and locks are taken in that order, so that two batches never deadlock. Returns the names of the
# locks that have not changed. The clocks of other owners are not created.
INSERT_CLOCKS_OF_OWNERS: Final = """
    with input as materialized (
      select name, seen, used_at
      from unnest($1::text[], $2::bytea[], $3::bigint[], $4::bigint[]) as input (name, token, seen, used_at)
      where token is null or exists (select from tokens where digest = token)
    ), lock as (
      insert into locks (name, used_at, version)
      select name, used_at, nextval('lock_versions') from input order by name
      on conflict (name) do update set version = excluded.version
      where locks.version = (select seen from input where input.name = locks.name)
      returning name
    ), clock as (
      insert into clocks (key, owner, start_time, frozen_time, max_time, bytes, name, labels)
      select key, owner, start_time, frozen_time, max_time, bytes, title, labels
      from unnest(
        $5::uuid[], $6::uuid[], $7::bigint[], $8::bigint[], $9::bigint[], $10::integer[], $11::text[], $12::text[],
        $13::text[]
      ) as input (key, owner, start_time, frozen_time, max_time, bytes, title, labels, lock_name)
      where lock_name in (select name from lock)
    ), schedule as (
      insert into schedules (clock_key, body)
      select key, body from unnest($5::uuid[], $14::bytea[], $13::text[]) as input (key, body, lock_name)
      where lock_name in (select name from lock)
    )
    select name from lock"""
