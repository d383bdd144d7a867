-- name, labels: the caller's own. labels is a JSON object. Both are null for most clocks, and take no space then.
-- An advance stays a HOT update, because it changes no indexed column.
alter table clocks add column name text;
alter table clocks add column labels text;

-- The bytes of a clock that count for its owner's limit.
create function stored_bytes(body bytea, name text, labels text) returns integer language sql immutable as $$
  select octet_length(body) + coalesce(octet_length(name), 0) + coalesce(octet_length(labels), 0);
$$;

-- Return the live clock that was created with this idempotency key, if any. The update makes the commit wait for synchronous
-- standbys, like the first creation.
create function find_creation_v2(
  the_digest bytea, the_owner uuid, living_from uuid,
  out params bytea, out key uuid, out start_time bigint, out frozen_time bigint, out max_time bigint, out name text,
  out labels text, out body bytea
) returns setof record language plpgsql as $$
begin
  update creations k set params = k.params where k.digest = the_digest and k.clock_key >= living_from;
  if found then
    return query
      select k.params, c.key, c.start_time, c.frozen_time, c.max_time, c.name, c.labels, s.body
      from creations k
      -- `offset 0` forces lookups by key. A join planned for an empty slot would scan the slot.
      cross join lateral (select * from clocks c where c.key = k.clock_key and c.owner = the_owner offset 0) as c
      cross join lateral (select * from schedules s where s.key = c.key and s.slot = c.slot offset 0) as s
      where k.digest = the_digest;
  end if;
end
$$;

-- Insert the new clocks of one slot, in order, unless they exceed an owner's limits (0: no limit). Return for each rejected
-- clock its position in the arrays, the limit that it exceeds, and the owner's oldest live clock, or its own key if the
-- owner has none.
create function keep_clocks_v3(
  the_slot smallint, keys uuid[], owners uuid[], start_times bigint[], frozen_times bigint[], max_times bigint[],
  bodies bytea[], names text[], labels text[], living_from uuid[], max_clocks bigint, max_bytes bigint,
  out refused bigint, out exceeded text, out oldest uuid
) returns setof record language plpgsql as $$
declare
  fresh record;
  the_owner uuid;
  owned_clocks bigint;
  owned_bytes bigint;
  oldest_owned uuid;
  kept bigint[] := '{}';
begin
  if max_clocks = 0 and max_bytes = 0 then
    kept := array(select place from unnest(keys) with ordinality as given (key, place));
  else
    -- Take the locks in sorted order, so that two batches never deadlock.
    perform pg_advisory_xact_lock(turn)
      from (
        select distinct pg_catalog.uuid_hash_extended(owner, 2::bigint) as turn from unnest(owners) as owner order by turn
      ) as turns;
    for fresh in
      with given as (
        select * from unnest(keys, owners, living_from) with ordinality as given (key, owner, living_from, place)
      ), owned as materialized (
        select o.owner, o.living_from, used.clocks, used.bytes
        from (
          -- The greatest value of the owner's calls, so that a rejected owner has a live clock.
          select g.owner, (array_agg(g.living_from order by g.living_from desc))[1] as living_from
          from given g group by g.owner
        ) as o
        cross join lateral (
          select count(*) as clocks, coalesce(sum(living.bytes), 0::bigint) as bytes
          from (
            select c.bytes from clocks c
            where c.owner = o.owner and c.key >= o.living_from limit nullif(max_clocks, 0::bigint)
          ) as living
        ) as used
      )
      select g.place, g.key, g.owner, stored_bytes(bodies[g.place], names[g.place], labels[g.place]) as size,
        owned.living_from, owned.clocks, owned.bytes
      from given g join owned on owned.owner = g.owner order by g.owner, g.place
    loop
      if fresh.owner is distinct from the_owner then
        the_owner := fresh.owner;
        owned_clocks := fresh.clocks;
        owned_bytes := fresh.bytes;
        oldest_owned := null;
      end if;
      exceeded := case
        when max_clocks > 0 and owned_clocks >= max_clocks then 'clocks'
        when max_bytes > 0 and owned_bytes + fresh.size > max_bytes then 'bytes'
      end;
      if exceeded is null then
        kept := pg_catalog.array_append(kept, fresh.place);
        owned_clocks := owned_clocks + 1;
        owned_bytes := owned_bytes + fresh.size;
        oldest_owned := least(oldest_owned, fresh.key);
      else
        refused := fresh.place;
        select c.key into oldest from clocks c
          where c.owner = fresh.owner and c.key >= fresh.living_from order by c.key limit 1;
        oldest := coalesce(least(oldest, oldest_owned), fresh.key);
        return next;
      end if;
    end loop;
  end if;
  insert into clocks (slot, key, owner, start_time, frozen_time, max_time, bytes, name, labels)
    select the_slot, keys[place], owners[place], start_times[place], frozen_times[place], max_times[place],
      stored_bytes(bodies[place], names[place], labels[place]), names[place], labels[place]
    from unnest(kept) as place;
  insert into schedules select the_slot, keys[place], bodies[place] from unnest(kept) as place;
end
$$;

create function keep_clock_once_v3(
  the_digest bytea, the_params bytea, the_slot smallint, the_key uuid, the_owner uuid, the_start_time bigint,
  the_frozen_time bigint, the_max_time bigint, the_body bytea, the_name text, the_labels text, living_from uuid,
  max_clocks bigint, max_bytes bigint,
  out exceeded text, out oldest uuid, out earlier_params bytea, out earlier_key uuid, out earlier_start_time bigint,
  out earlier_frozen_time bigint, out earlier_max_time bigint, out earlier_name text,
  out earlier_labels text, out earlier_body bytea
) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(pg_catalog.hashtextextended(encode(the_digest, 'hex'), 6::bigint));
  select * into earlier_params, earlier_key, earlier_start_time, earlier_frozen_time, earlier_max_time, earlier_name,
      earlier_labels, earlier_body
    from find_creation_v2(the_digest, the_owner, living_from);
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

-- Servers of the previous release call this function, directly and through `keep_clock_once_v2`. Their clocks have no names.
create or replace function keep_clocks_v2(
  the_slot smallint, keys uuid[], owners uuid[], start_times bigint[], frozen_times bigint[], max_times bigint[],
  bodies bytea[], living_from uuid[], max_clocks bigint, max_bytes bigint,
  out refused bigint, out exceeded text, out oldest uuid
) returns setof record language sql as $$
  select kept.refused, kept.exceeded, kept.oldest from keep_clocks_v3(
    the_slot, keys, owners, start_times, frozen_times, max_times, bodies, '{}', '{}', living_from, max_clocks, max_bytes
  ) as kept;
$$;
