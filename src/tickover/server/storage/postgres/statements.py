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

# Takes the locks of owners that have the version `seen`, and creates the clocks of these owners. For other owners, and
# without `seen`, it returns the version, what `USAGE` returns, and a row for each creation that `FIND_CREATION` finds.
# Names are sorted, and locks are taken in that order, so that two batches never deadlock.
CREATE_CLOCKS: Final = """
    with input as materialized (
      select name, seen,
        case when token is null or exists (select from tokens where digest = token) then owner end as owner
      from unnest($3::text[], $4::uuid[], $5::bytea[], $6::bigint[]) as input (name, owner, token, seen)
    ), record as materialized (
      select * from unnest($7::text[], $8::bytea[], $9::bytea[], $10::uuid[])
        as record (lock_name, digest, params, clock_key)
    ), existing as materialized (
      select lock_name, record.digest, creations.params,
        key, start_time, frozen_time, max_time, clocks.name, labels, revision, body
      from record
      join input on input.name = lock_name
      join creations on creations.digest = record.digest and creations.clock_key >= $1
      join clocks on key = creations.clock_key and clocks.owner = input.owner
      join schedules on schedules.clock_key = key
    ), touched as (
      -- So that the commit waits for synchronous standbys, and doesn't confirm a clock that they may lack.
      update creations set params = creations.params from existing where creations.digest = existing.digest
    ), lock as (
      insert into locks (name, used_at, version)
      select name, 9223372036854775807, nextval('lock_versions') from input
      where seen is not null and owner is not null and name not in (select lock_name from existing) order by name
      on conflict (name) do update set version = excluded.version
      where locks.version = (select seen from input where input.name = locks.name)
      returning name, version
    ), clock as (
      insert into clocks (key, owner, start_time, frozen_time, max_time, bytes, name, labels)
      select key, input.owner, start_time, frozen_time, max_time, bytes, title, labels
      from unnest(
        $11::text[], $12::uuid[], $13::bigint[], $14::bigint[], $15::bigint[], $16::integer[], $17::text[], $18::text[]
      ) as added (lock_name, key, start_time, frozen_time, max_time, bytes, title, labels)
      join lock on lock.name = lock_name
      join input on input.name = lock_name
    ), schedule as (
      insert into schedules (clock_key, body)
      select key, body from unnest($11::text[], $12::uuid[], $19::bytea[]) as added (lock_name, key, body)
      where lock_name in (select name from lock)
    ), creation as (
      insert into creations (digest, params, clock_key)
      select digest, params, clock_key from record where lock_name in (select name from lock)
      on conflict (digest) do update set params = excluded.params, clock_key = excluded.clock_key
    )
    select input.name, lock.version, (select version from locks where locks.name = input.name),
      input.owner, used.clocks, used.bytes,
      (select key from clocks where owner = input.owner and key >= $1 order by key limit 1),
      existing.digest, existing.params,
      existing.key, start_time, frozen_time, max_time, existing.name, labels, revision, body
    from input
    left join lock on lock.name = input.name
    left join existing on lock_name = input.name
    left join lateral (
      select count(*) as clocks, coalesce(sum(bytes), 0) as bytes
      from (
        select bytes from clocks where owner = input.owner and key >= $1 limit $2
      ) as live
    ) as used on lock.name is null"""
