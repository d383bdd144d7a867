-- revision: the number of amendments. Each replaces the clock's schedule. The clock's row is locked first, so a statement
-- that reads both rows and waits for neither sees a clock and its schedule of the same revision.
-- An advance stays a HOT update, because it changes no indexed column.
alter table clocks add column revision integer not null default 0;

-- Return the live clock that was created or amended with this idempotency key, if any. The update makes the commit wait for synchronous
-- standbys, like the first call.
create function find_creation_v3(
  the_digest bytea, the_owner uuid, living_from uuid,
  out params bytea, out key uuid, out start_time bigint, out frozen_time bigint, out max_time bigint, out name text,
  out labels text, out revision integer, out body bytea
) returns setof record language plpgsql as $$
begin
  update creations k set params = k.params where k.digest = the_digest and k.clock_key >= living_from;
  if found then
    return query
      select k.params, c.key, c.start_time, c.frozen_time, c.max_time, c.name, c.labels, c.revision, s.body
      from creations k
      -- `offset 0` forces lookups by key. A join planned for an empty slot would scan the slot.
      cross join lateral (select * from clocks c where c.key = k.clock_key and c.owner = the_owner offset 0) as c
      cross join lateral (select * from schedules s where s.key = c.key and s.slot = c.slot offset 0) as s
      where k.digest = the_digest;
  end if;
end
$$;

create function keep_clock_once_v4(
  the_digest bytea, the_params bytea, the_slot smallint, the_key uuid, the_owner uuid, the_start_time bigint,
  the_frozen_time bigint, the_max_time bigint, the_body bytea, the_name text, the_labels text, living_from uuid,
  max_clocks bigint, max_bytes bigint,
  out exceeded text, out oldest uuid, out earlier_params bytea, out earlier_key uuid, out earlier_start_time bigint,
  out earlier_frozen_time bigint, out earlier_max_time bigint, out earlier_name text,
  out earlier_labels text, out earlier_revision integer, out earlier_body bytea
) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(pg_catalog.hashtextextended(encode(the_digest, 'hex'), 6::bigint));
  select * into earlier_params, earlier_key, earlier_start_time, earlier_frozen_time, earlier_max_time, earlier_name,
      earlier_labels, earlier_revision, earlier_body
    from find_creation_v3(the_digest, the_owner, living_from);
  if found then
    return;
  end if;
  select kept.exceeded, kept.oldest into exceeded, oldest from keep_clocks_v3(
    the_slot, array[the_key], array[the_owner], array[the_start_time], array[the_frozen_time], array[the_max_time],
    array[the_body], array[the_name], array[the_labels], array[living_from], max_clocks, max_bytes
  ) as kept;
  if exceeded is null then
    insert into creations values (the_digest, the_params, the_key)
      on conflict (digest) do update set params = excluded.params, clock_key = excluded.clock_key;
  end if;
end
$$;

-- Replace the schedule of a clock if it has the expected revision, and its frozen time is at or before `latest`.
-- outcome: 'amended', 'conflict', 'existing' if a live clock was created or amended with the idempotency key, 'quota', or
-- null if the owner has no such clock. Without an idempotency key, the_digest is null. max_bytes = 0: no limit.
create function amend_clock(
  the_slot smallint, the_key uuid, the_owner uuid, expected_revision integer, latest bigint, the_body bytea,
  the_digest bytea, the_params bytea, living_from uuid, max_bytes bigint,
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
  new_bytes := stored_bytes(the_body, name, labels);
  if max_bytes > 0 and new_bytes > old_bytes and max_bytes < new_bytes - old_bytes + (
    select coalesce(sum(c.bytes), 0::bigint) from clocks c where c.owner = the_owner and c.key >= living_from
  ) then
    outcome := 'quota';
    select c.key into oldest from clocks c where c.owner = the_owner and c.key >= living_from order by c.key limit 1;
    return;
  end if;
  outcome := 'amended';
  revision := revision + 1;
  update clocks c set revision = amend_clock.revision, bytes = new_bytes where c.slot = the_slot and c.key = the_key;
  update schedules s set body = the_body where s.slot = the_slot and s.key = the_key;
  if the_digest is not null then
    insert into creations values (the_digest, the_params, the_key)
      on conflict (digest) do update set params = excluded.params, clock_key = excluded.clock_key;
  end if;
end
$$;
