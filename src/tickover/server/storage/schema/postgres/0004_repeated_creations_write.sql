-- A repeated creation writes to the row of its key. Its commit then waits for synchronous standbys, as the first one did:
-- without a write, it would confirm a clock that may exist on the primary alone. The arguments and the result are the same
-- as before, so the function has the same name, and servers of the release before get the fix too.
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
      -- `offset 0`: looked up one by one. As joins, a slot that was empty when this was planned would be read as a whole.
      cross join lateral (select * from clocks c where c.key = k.clock_key and c.owner = the_owner offset 0) as c
      cross join lateral (select * from schedules s where s.key = c.key and s.slot = c.slot offset 0) as s
      where k.digest = the_digest;
  end if;
end
$$;
