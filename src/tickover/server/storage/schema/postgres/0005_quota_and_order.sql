-- bytes: the length of the clock's schedule. The index includes it, so that an owner's total is read from the index alone.
-- An advance stays a HOT update, because it changes no indexed column.
alter table clocks add column bytes integer not null default 0;

do $$
begin
  for slot in 0..9 loop
    execute format(
      'update clocks_%1$s as clocks set bytes = octet_length(schedules.body)
       from schedules_%1$s as schedules where schedules.key = clocks.key', slot);
    execute format('drop index clocks_%s_by_owner', slot);
    execute format('create index clocks_%1$s_by_owner on clocks_%1$s (owner, key) include (bytes)', slot);
  end loop;
end
$$;

-- Insert the new clocks of one slot, in order, unless they exceed an owner's limits (0: no limit). Return for each rejected
-- clock its position in the arrays, the limit that it exceeds, and the owner's oldest live clock, or its own key if the
-- owner has none.
create function keep_clocks_v2(
  the_slot smallint, keys uuid[], owners uuid[], start_times bigint[], frozen_times bigint[], max_times bigint[],
  bodies bytea[], living_from uuid[], max_clocks bigint, max_bytes bigint,
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
      select g.place, g.key, g.owner, octet_length(bodies[g.place]) as size, owned.living_from, owned.clocks, owned.bytes
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
  insert into clocks
    select the_slot, keys[place], owners[place], start_times[place], frozen_times[place], max_times[place],
      octet_length(bodies[place])
    from unnest(kept) as place;
  insert into schedules select the_slot, keys[place], bodies[place] from unnest(kept) as place;
end
$$;

create function keep_clock_once_v2(
  the_digest bytea, the_params bytea, the_slot smallint, the_key uuid, the_owner uuid, the_start_time bigint,
  the_frozen_time bigint, the_max_time bigint, the_body bytea, living_from uuid, max_clocks bigint, max_bytes bigint,
  out exceeded text, out oldest uuid, out earlier_params bytea, out earlier_key uuid, out earlier_start_time bigint,
  out earlier_frozen_time bigint, out earlier_max_time bigint, out earlier_body bytea
) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(pg_catalog.hashtextextended(encode(the_digest, 'hex'), 6::bigint));
  select * into earlier_params, earlier_key, earlier_start_time, earlier_frozen_time, earlier_max_time, earlier_body
    from find_creation(the_digest, the_owner, living_from);
  if found then
    return;
  end if;
  select kept.exceeded, kept.oldest into exceeded, oldest from keep_clocks_v2(
    the_slot, array[the_key], array[the_owner], array[the_start_time], array[the_frozen_time], array[the_max_time],
    array[the_body], array[living_from], max_clocks, max_bytes
  ) as kept;
  if exceeded is null then
    insert into creations values (the_digest, the_params, the_key)
      on conflict (digest) do update set params = excluded.params, clock_key = excluded.clock_key;
  end if;
end
$$;

-- Servers of the previous release call this function, directly and through `keep_clock_once`. They have no limit on bytes,
-- but the bytes of their clocks count.
create or replace function keep_clocks(
  the_slot smallint, keys uuid[], owners uuid[], start_times bigint[], frozen_times bigint[], max_times bigint[],
  bodies bytea[], living_from uuid[], most bigint, out refused bigint, out oldest uuid
) returns setof record language sql as $$
  select kept.refused, kept.oldest from keep_clocks_v2(
    the_slot, keys, owners, start_times, frozen_times, max_times, bodies, living_from, most, 0::bigint
  ) as kept;
$$;

-- number: the order of emails. A wall clock can be set back, so sent_at is not reliable. A number is assigned on insert, under
-- the lock of the address. So the numbers of one address are in the order of commits.
create sequence login_sends_number;
alter table login_sends add column number bigint not null default 0;
update login_sends set number = numbered.number
  from (select digest, row_number() over (order by sent_at, digest) as number from login_sends) as numbered
  where numbered.digest = login_sends.digest;
select setval('login_sends_number', (select coalesce(max(number), 0) + 1 from login_sends));
alter table login_sends alter column number set default nextval('login_sends_number');
alter sequence login_sends_number owned by login_sends.number;
drop index login_sends_by_email;
create index login_sends_by_email on login_sends (email, number);

-- The arguments and results of the functions below are unchanged, so they keep their names, and servers of the previous
-- release get the fix too.

create or replace function newest_code(the_email text) returns bytea language sql stable as $$
  select digest from login_sends where email = the_email and kind = 'CODE' order by number desc limit 1;
$$;

create or replace function nth_newest_send(
  the_email text, nth bigint, since bigint, until bigint, the_network bytea, only_held boolean
) returns bigint language sql stable as $$
  select s.sent_at from login_sends s
  where s.email = the_email and s.sent_at > since and s.sent_at < until
    and case when only_held then s.holds_slot else not s.spent end
    and (the_network is null or s.network = the_network)
  order by s.number desc limit 1 offset nth - 1;
$$;

-- The last email that holds its slot delays the next one, whatever the timestamps of earlier emails.
create or replace function claim_send(
  the_digest bytea, the_email text, the_kind text, the_sent_at bigint, the_expires_at bigint, the_network bytea,
  interval_start bigint, hour_start bigint, out_of_order bigint, most bigint, most_from_network bigint, most_failures bigint,
  out held_since bigint, out by_last_letter boolean, out codes_stopped boolean
) language plpgsql as $$
begin
  perform take_turn_for_address(the_email);
  select last.sent_at into held_since
    from (
      select s.sent_at from login_sends s where s.email = the_email and s.holds_slot order by s.number desc limit 1
    ) as last
    where last.sent_at > interval_start and last.sent_at < out_of_order;
  by_last_letter := held_since is not null;
  if held_since is null then
    -- If both limits are reached, the later one decides.
    held_since := greatest(
      case when most > 0 then nth_newest_send(the_email, most, hour_start, out_of_order, null, false) end,
      case when most_from_network > 0 then
        nth_newest_send(the_email, most_from_network, hour_start, out_of_order, the_network, false)
      end
    );
  end if;
  if held_since is null then
    insert into login_sends (digest, email, kind, sent_at, expires_at, network)
      values (the_digest, the_email, the_kind, the_sent_at, the_expires_at, the_network);
    codes_stopped := exists (select from login_failures f where f.email = the_email and f.count >= most_failures);
  end if;
end
$$;

create or replace function sweep(
  living_from uuid, dead_for_a_day uuid, the_instant bigint, an_hour_ago bigint, most bigint
) returns bigint language plpgsql as $$
declare
  swept bigint := 0;
  counted bigint;
begin
  if not pg_try_advisory_xact_lock(5, pg_catalog.hashtext(current_schema()::text)) then
    return 0;
  end if;
  delete from tokens
    where digest in (select digest from tokens where expires_at <= the_instant order by expires_at limit most);
  get diagnostics counted = row_count;
  swept := swept + counted;
  -- Emails stay for an hour, because they count for the hourly limits. Earlier emails to the same address are deleted too,
  -- whatever their timestamps. If the wall clock was set back, an earlier code would otherwise become the newest.
  delete from login_sends s
    using (
      select old.email, max(old.number) as number
      from (select email, number from login_sends where sent_at <= an_hour_ago order by sent_at limit most) as old
      group by old.email
    ) as newest
    where s.email = newest.email and s.number <= newest.number;
  get diagnostics counted = row_count;
  swept := swept + counted;
  for slot in 0..9 loop
    swept := swept + sweep_slot(slot, living_from, dead_for_a_day, most);
  end loop;
  return swept;
end
$$;
