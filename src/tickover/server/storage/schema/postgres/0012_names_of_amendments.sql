-- An amendment can also change the names of a clock, so that updateTestClock changes all or nothing.

-- Replace the schedule of a clock if it has the expected revision, and its frozen time is at or before `latest`. Also
-- change its name if sets_name, and its labels if sets_labels.
-- outcome: 'amended', 'conflict', 'existing' if a live clock was created or amended with the idempotency key, 'quota', or
-- null if the owner has no such clock. Without an idempotency key, the_digest is null. max_bytes = 0: no limit.
-- Each amendment adds amendment_bytes to the stored bytes, up to max_amendment_bytes in all.
create function amend_clock_v3(
  the_slot smallint, the_key uuid, the_owner uuid, expected_revision integer, latest bigint, the_body bytea,
  sets_name boolean, new_name text, sets_labels boolean, new_labels text, the_digest bytea, the_params bytea,
  living_from uuid, max_bytes bigint, amendment_bytes bigint, max_amendment_bytes bigint,
  out outcome text, out oldest uuid, out params bytea, out key uuid, out start_time bigint, out frozen_time bigint,
  out max_time bigint, out name text, out labels text, out revision integer, out body bytea
) language plpgsql as $$
declare
  old_bytes integer;
  new_bytes integer;
begin
  if the_digest is not null then
    perform pg_advisory_xact_lock(pg_catalog.hashtextextended(encode(the_digest, 'hex'), 6::bigint));
    select f.params, f.key, f.start_time, f.frozen_time, f.max_time, f.name, f.labels, f.revision, f.body
      into params, key, start_time, frozen_time, max_time, name, labels, revision, body
      from find_creation_v3(the_digest, the_owner, living_from) as f;
    if found then
      outcome := 'existing';
      return;
    end if;
  end if;
  if max_bytes > 0 then
    -- The lock of `keep_clocks_v3`. Take it before the lock of the clock.
    perform pg_advisory_xact_lock(pg_catalog.uuid_hash_extended(the_owner, 2::bigint));
  end if;
  select c.key, c.start_time, c.frozen_time, c.max_time, c.name, c.labels, c.revision, c.bytes
    into key, start_time, frozen_time, max_time, name, labels, revision, old_bytes
    from clocks c where c.slot = the_slot and c.key = the_key and c.owner = the_owner for update;
  if not found then
    return;
  end if;
  if revision <> expected_revision or frozen_time > latest then
    outcome := 'conflict';
    select s.body into body from schedules s where s.slot = the_slot and s.key = the_key;
    return;
  end if;
  if sets_name then
    name := new_name;
  end if;
  if sets_labels then
    labels := new_labels;
  end if;
  new_bytes := stored_bytes(the_body, name, labels) + least((revision + 1) * amendment_bytes, max_amendment_bytes);
  -- A smaller schedule always fits.
  if max_bytes > 0 and new_bytes - old_bytes >= amendment_bytes and max_bytes < new_bytes - old_bytes + (
    select coalesce(sum(c.bytes), 0::bigint) from clocks c where c.owner = the_owner and c.key >= living_from
  ) then
    outcome := 'quota';
    select c.key into oldest from clocks c where c.owner = the_owner and c.key >= living_from order by c.key limit 1;
    return;
  end if;
  outcome := 'amended';
  revision := revision + 1;
  update clocks c
    set revision = amend_clock_v3.revision, bytes = new_bytes, name = amend_clock_v3.name, labels = amend_clock_v3.labels
    where c.slot = the_slot and c.key = the_key;
  update schedules s set body = the_body where s.slot = the_slot and s.key = the_key;
  if the_digest is not null then
    insert into creations values (the_digest, the_params, the_key)
      on conflict (digest) do update set params = excluded.params, clock_key = excluded.clock_key;
  end if;
end
$$;
