-- A repeated creation now writes to its idempotency record. So its commit waits for synchronous standbys, like the first
-- one. Without a write, it would confirm a clock that may exist only on the primary. The arguments and the result are
-- unchanged, so the function keeps its name, and servers of the previous release get the fix too.
create or replace function find_creation(
  the_digest bytea, the_owner uuid, living_from uuid,
  out params bytea, out key uuid, out start_time bigint, out frozen_time bigint, out max_time bigint, out body bytea
) returns setof record language plpgsql volatile as $$
begin
  update creations k set params = k.params where k.digest = the_digest and k.clock_key >= living_from;
  if found then
    return query
      select k.params, c.key, c.start_time, c.frozen_time, c.max_time, s.body
      from creations k
      -- `offset 0` forces lookups by key. A join planned for an empty slot would scan the slot.
      cross join lateral (select * from clocks c where c.key = k.clock_key and c.owner = the_owner offset 0) as c
      cross join lateral (select * from schedules s where s.key = c.key and s.slot = c.slot offset 0) as s
      where k.digest = the_digest;
  end if;
end
$$;
