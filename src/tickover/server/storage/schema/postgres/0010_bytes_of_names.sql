-- New names and labels count for the owner's limit of stored bytes.

-- Change the name of a clock if sets_name, and its labels if sets_labels.
-- outcome: 'updated', 'quota', or null if the owner has no such clock. max_bytes = 0: no limit.
-- body: the schedule, unless the clock has the known revision.
create function update_clock_v1(
  the_slot smallint, the_key uuid, the_owner uuid, sets_name boolean, new_name text, sets_labels boolean,
  new_labels text, known_revision integer, living_from uuid, max_bytes bigint,
  out outcome text, out oldest uuid, out start_time bigint, out frozen_time bigint, out max_time bigint, out name text,
  out labels text, out revision integer, out body bytea
) language plpgsql as $$
declare
  growth integer;
begin
  if max_bytes > 0 then
    -- The lock of `keep_clocks_v3`. Take it before the lock of the clock.
    perform pg_advisory_xact_lock(pg_catalog.uuid_hash_extended(the_owner, 2::bigint));
  end if;
  select c.start_time, c.frozen_time, c.max_time, c.name, c.labels, c.revision
    into start_time, frozen_time, max_time, name, labels, revision
    from clocks c where c.slot = the_slot and c.key = the_key and c.owner = the_owner for update;
  if not found then
    return;
  end if;
  growth := -stored_bytes('', name, labels);
  if sets_name then
    name := new_name;
  end if;
  if sets_labels then
    labels := new_labels;
  end if;
  growth := growth + stored_bytes('', name, labels);
  -- Shorter names always fit.
  if max_bytes > 0 and growth > 0 and max_bytes < growth + (
    select coalesce(sum(c.bytes), 0::bigint) from clocks c where c.owner = the_owner and c.key >= living_from
  ) then
    outcome := 'quota';
    select c.key into oldest from clocks c where c.owner = the_owner and c.key >= living_from order by c.key limit 1;
    return;
  end if;
  outcome := 'updated';
  update clocks c set name = update_clock_v1.name, labels = update_clock_v1.labels, bytes = c.bytes + growth
    where c.slot = the_slot and c.key = the_key;
  if revision is distinct from known_revision then
    select s.body into body from schedules s where s.slot = the_slot and s.key = the_key;
  end if;
end
$$;
