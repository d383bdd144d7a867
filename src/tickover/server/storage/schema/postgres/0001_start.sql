-- Timestamps are microseconds since 1970-01-01 UTC. Keys are UUIDv7, so they sort by age.

create table users (
  key        uuid   not null primary key,
  email      text   collate "C" not null unique,
  created_at bigint not null
);

-- digest: SHA-256 of a bearer token.
create table tokens (
  digest     bytea  not null primary key,
  user_key   uuid   not null,
  expires_at bigint not null
);
create index tokens_by_expiry on tokens (expires_at);

-- The small row that an advance updates. No index contains frozen_time, and pages have free space, so that an update
-- stays in its page and changes no index (a HOT update).
--
-- slot: the day of creation modulo ten. Clocks live for seven days, so all rows of a slot are expired for two days before
-- the slot is used again. TRUNCATE empties it, whatever its size. No partition has to be created or dropped.
create table clocks (
  slot        smallint not null,
  key         uuid     not null,
  owner       uuid     not null,
  start_time  bigint   not null,
  frozen_time bigint   not null,
  max_time    bigint   not null
) partition by list (slot);

-- The large row that never changes.
create table schedules (
  slot smallint not null,
  key  uuid     not null,
  body bytea    not null
) partition by list (slot);

do $$
begin
  for slot in 0..9 loop
    execute format('create table clocks_%s partition of clocks (primary key (key)) for values in (%s) with (fillfactor = 50)', slot, slot);
    execute format('create index clocks_%s_by_owner on clocks_%s (owner, key)', slot, slot);
    execute format('create table schedules_%s partition of schedules (primary key (key)) for values in (%s)', slot, slot);
    begin
      execute format('alter table schedules_%s alter column body set compression lz4', slot);
    exception when feature_not_supported or invalid_parameter_value or syntax_error then
      null; -- A server without lz4 compresses three times slower.
    end;
  end loop;
end
$$;

-- Emails that were sent or are being sent. The newest email that holds its slot delays the next one. The newest code of an
-- address is the valid one. digest: an HMAC of a code, or SHA-256 of a link's secret. network: a keyed digest of the
-- client's network. It allows counting by network, and doesn't reveal the client's address.
create table login_sends (
  digest     bytea   not null primary key,
  email      text    collate "C" not null,
  kind       text    not null check (kind in ('CODE', 'LINK')),
  sent_at    bigint  not null,
  expires_at bigint  not null,
  network    bytea   not null,
  tries      bigint  not null default 0,
  spent      boolean not null default false,
  holds_slot boolean not null default true
) with (fillfactor = 70);
create index login_sends_by_email on login_sends (email, sent_at, digest);
create index login_sends_by_age on login_sends (sent_at);

-- Consecutive failures against all live codes of an address. A sign-in deletes the row.
create table login_failures (
  email text   collate "C" not null primary key,
  count bigint not null
) with (fillfactor = 70);

-- Decoys: emails that were never sent. A try without a live code updates a random decoy with the same statements as a try
-- against a real code, so that both take the same time. There are many, so that tries for different addresses don't wait
-- for each other. They are spent, and the sweep never deletes them.
insert into login_sends (digest, email, kind, sent_at, expires_at, network, spent, holds_slot)
  select decode(lpad(to_hex(number), 64, '0'), 'hex'), '', 'CODE', 9223372036854775807, 0, '', true, false
  from generate_series(0, 1023) as number;
insert into login_failures (email, count) select number::text, 0 from generate_series(0, 1023) as number;

-- The secret keys of the running servers. There must be only one. fingerprint: a digest that doesn't reveal the key.
create table server_keys (
  fingerprint bytea  not null primary key,
  seen_at     bigint not null
) with (fillfactor = 70);

-- Each function is a method of the store that needs more than one statement. It takes a lock first, so that its statements
-- see all changes of earlier holders of the lock. Calls of built-in functions use exact argument types or name the schema.
-- Otherwise a user who may create functions could overload them.

create function take_turn_for_address(the_email text) returns void language sql as $$
  select pg_advisory_xact_lock(pg_catalog.hashtextextended(the_email, 1::bigint));
$$;

create function share_key(the_fingerprint bytea, the_instant bigint, not_before bigint) returns boolean
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(4, pg_catalog.hashtext(current_schema()::text));
  -- Also delete registrations from the far future, made by a server with a wrong wall clock.
  delete from server_keys where seen_at < not_before or seen_at > the_instant + (the_instant - not_before);
  if exists (select from server_keys where fingerprint <> the_fingerprint) then
    return false;
  end if;
  insert into server_keys values (the_fingerprint, the_instant)
    on conflict (fingerprint) do update set seen_at = excluded.seen_at;
  return true;
end
$$;

-- Insert the new clocks of one slot, in order, unless an owner has too many (most = 0: no limit). Return for each rejected
-- clock its position in the arrays, and the owner's oldest live clock.
create function keep_clocks(
  the_slot smallint, keys uuid[], owners uuid[], start_times bigint[], frozen_times bigint[], max_times bigint[],
  bodies bytea[], living_from uuid[], most bigint, out refused bigint, out oldest uuid
) returns setof record language plpgsql as $$
begin
  if most > 0 then
    -- Take the locks in sorted order, so that two batches never deadlock.
    perform pg_advisory_xact_lock(turn)
      from (
        select distinct pg_catalog.uuid_hash_extended(owner, 2::bigint) as turn from unnest(owners) as owner order by turn
      ) as turns;
  end if;
  return query
    with fresh as (
      select * from unnest(keys, owners, start_times, frozen_times, max_times, living_from)
        with ordinality as given (key, owner, start_time, frozen_time, max_time, living_from, place)
    ), room as materialized (
      select o.owner, o.living_from, most - (
        select count(*) from (
          select from clocks c where c.owner = o.owner and c.key >= o.living_from limit most
        ) as living
      ) as places
      from (
        -- The greatest value of the owner's calls, so that a rejected owner has a live clock.
        select f.owner, (array_agg(f.living_from order by f.living_from desc))[1] as living_from
        from fresh f where most > 0 group by f.owner
      ) as o
    ), placed as (
      select f.key, f.owner, f.start_time, f.frozen_time, f.max_time, f.place, room.living_from,
        most = 0 or row_number() over (partition by f.owner order by f.place) <= room.places as fits
      from fresh f left join room on room.owner = f.owner
    ), kept_clocks as (
      insert into clocks select the_slot, p.key, p.owner, p.start_time, p.frozen_time, p.max_time from placed p where fits
    ), kept_schedules as (
      -- Bodies are large, so they don't pass through the common table expressions above.
      insert into schedules select the_slot, p.key, bodies[p.place] from placed p where fits
    )
    select r.place, coalesce(
      (select c.key from clocks c where c.owner = r.owner and c.key >= r.living_from order by c.key limit 1),
      -- Rows inserted by this statement are not visible to it yet.
      (select p.key from placed p where p.owner = r.owner and p.fits order by p.key limit 1)
    )
    from placed r where not r.fits;
end
$$;

-- Return the time of the nth newest email to the address in the time range, or null if there are fewer.
create function nth_newest_send(
  the_email text, nth bigint, since bigint, until bigint, the_network bytea, only_held boolean
) returns bigint language sql stable as $$
  select s.sent_at from login_sends s
  where s.email = the_email and s.sent_at > since and s.sent_at < until
    and case when only_held then s.holds_slot else not s.spent end
    and (the_network is null or s.network = the_network)
  order by s.sent_at desc limit 1 offset nth - 1;
$$;

-- Record an email, unless earlier emails make it too soon. Then return the time of the email that delays it, and whether
-- that is the last one.
create function claim_send(
  the_digest bytea, the_email text, the_kind text, the_sent_at bigint, the_expires_at bigint, the_network bytea,
  interval_start bigint, hour_start bigint, out_of_order bigint, most bigint, most_from_network bigint, most_failures bigint,
  out held_since bigint, out by_last_letter boolean, out codes_stopped boolean
) language plpgsql as $$
begin
  perform take_turn_for_address(the_email);
  held_since := nth_newest_send(the_email, 1, interval_start, out_of_order, null, true);
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

create function undo_send(the_digest bytea, the_email text) returns void language plpgsql as $$
begin
  perform take_turn_for_address(the_email);
  delete from login_sends where digest = the_digest;
end
$$;

create function newest_code(the_email text) returns bytea language sql stable as $$
  select digest from login_sends where email = the_email and kind = 'CODE' order by sent_at desc, digest desc limit 1;
$$;

create function count_failure(the_email text) returns void language sql as $$
  insert into login_failures values (the_email, 1) on conflict (email) do update set count = login_failures.count + 1;
$$;

-- Write to a decoy what a try against a live code writes.
create function count_miss() returns void language plpgsql as $$
declare
  decoy bigint := floor(random() * 1024::float8);
begin
  update login_sends set tries = tries + 1 where digest = decode(lpad(to_hex(decoy), 64, '0'), 'hex');
  perform count_failure(decoy::text);
end
$$;

create function count_try(
  the_email text, the_instant bigint, most_tries bigint, most_failures bigint, out code bytea, out code_sent_at bigint
) language plpgsql as $$
begin
  perform take_turn_for_address(the_email);
  update login_sends set tries = tries + 1
    where digest = newest_code(the_email) and not spent and tries < most_tries and expires_at > the_instant
      and not exists (select from login_failures f where f.email = the_email and f.count >= most_failures)
    returning digest, sent_at into code, code_sent_at;
  if found then
    perform count_failure(the_email);
  else
    perform count_miss();
  end if;
end
$$;

-- Void the address's emails, reset its failures, and create a session, and a user if there is none yet.
create function open_session(
  the_email text, new_user uuid, token_digest bytea, opened_at bigint, token_expires_at bigint
) returns uuid language plpgsql as $$
declare
  the_user uuid;
begin
  update login_sends set spent = true where email = the_email and not spent;
  delete from login_failures where email = the_email;
  insert into users values (new_user, the_email, opened_at) on conflict (email) do nothing;
  select key into strict the_user from users where email = the_email;
  insert into tokens values (token_digest, the_user, token_expires_at);
  return the_user;
end
$$;

create function redeem_code(
  the_digest bytea, the_email text, new_user uuid, token_digest bytea, opened_at bigint, token_expires_at bigint
) returns uuid language plpgsql as $$
begin
  perform take_turn_for_address(the_email);
  update login_sends set spent = true where digest = the_digest and not spent and digest = newest_code(the_email);
  if not found then
    return null;
  end if;
  return open_session(the_email, new_user, token_digest, opened_at, token_expires_at);
end
$$;

create function redeem_link(
  the_digest bytea, new_user uuid, token_digest bytea, opened_at bigint, token_expires_at bigint
) returns uuid language plpgsql as $$
declare
  the_email text := (select email from login_sends where digest = the_digest and kind = 'LINK');
begin
  perform take_turn_for_address(coalesce(the_email, encode(the_digest, 'hex')));
  update login_sends set spent = true
    where digest = the_digest and kind = 'LINK' and not spent and expires_at > opened_at;
  if not found then
    perform count_miss();
    return null;
  end if;
  return open_session(the_email, new_user, token_digest, opened_at, token_expires_at);
end
$$;

-- Truncate the slot if all its clocks are expired. If clocks of different days share it, because no sweep ran for two days,
-- delete a few expired clocks at a time.
create function sweep_slot(slot integer, living_from uuid, dead_for_a_day uuid, most bigint) returns bigint
language plpgsql as $$
declare
  oldest uuid;
  newest uuid;
  swept bigint;
begin
  execute format('select key from clocks_%s order by key limit 1', slot) into oldest;
  if oldest is null or oldest >= living_from then
    return 0;
  end if;
  execute format('select key from clocks_%s order by key desc limit 1', slot) into newest;
  if newest >= living_from then
    if oldest >= dead_for_a_day then
      return 0;
    end if;
    execute format(
      'with dead as (
         delete from clocks_%1$s where key in (select key from clocks_%1$s where key < $1 order by key limit $2) returning key
       )
       delete from schedules_%1$s where key in (select key from dead)', slot) using dead_for_a_day, most;
    get diagnostics swept = row_count;
    return swept;
  end if;
  -- Other calls queue behind this lock, so wait only briefly. Without the lock, a new clock could be lost.
  perform set_config('lock_timeout', '200ms', true);
  execute format('lock table clocks_%1$s, schedules_%1$s in access exclusive mode', slot);
  execute format('select key from clocks_%s order by key desc limit 1', slot) into newest;
  if newest < living_from then
    execute format('truncate clocks_%1$s, schedules_%1$s', slot);
  end if;
  return 1;
exception when lock_not_available then
  return 0;
end
$$;

-- Delete expired data: a few rows of each kind, and whole slots of clocks. Return the number of deleted rows and slots, or 0
-- if another server is sweeping.
create function sweep(living_from uuid, dead_for_a_day uuid, the_instant bigint, an_hour_ago bigint, most bigint)
returns bigint language plpgsql as $$
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
  -- Emails stay for an hour, because they count for the hourly limits.
  delete from login_sends
    where digest in (select digest from login_sends where sent_at <= an_hour_ago order by sent_at limit most);
  get diagnostics counted = row_count;
  swept := swept + counted;
  for slot in 0..9 loop
    swept := swept + sweep_slot(slot, living_from, dead_for_a_day, most);
  end loop;
  return swept;
end
$$;
