-- The schema of the PostgreSQL database. Timestamps are microseconds since 1970-01-01 UTC. Keys are UUIDv7, so they sort by
-- age.

create table users (
  key        uuid   not null primary key,
  email      text   collate "C" not null unique,
  created_at bigint not null
);

-- Bearer tokens. digest: SHA-256. Only access tokens, which users create for programs, have a token_key and what follows
-- it. last_used_on: midnight UTC of the last day of use.
create table tokens (
  digest       bytea   not null primary key,
  user_key     uuid    not null,
  expires_at   bigint  not null,
  token_key    uuid,
  name         text,
  read_only    boolean not null default false,
  created_at   bigint,
  last_used_on bigint
);
create index tokens_by_expiry on tokens (expires_at);
create unique index access_tokens_by_user on tokens (user_key, token_key) where token_key is not null;

-- The small row that an advance updates. No index contains frozen_time, and pages have free space, so that an update
-- stays in its page and changes no index (a HOT update). bytes: the size that counts for the owner's limit. name, labels:
-- the caller's own; labels is a JSON object. revision: the number of amendments. Each replaces the clock's schedule. The
-- clock's row is locked first, so a statement that reads both rows and waits for neither sees the same revision of both.
--
-- slot: the day of creation modulo ten. Clocks live for seven days, so all rows of a slot are expired for two days before
-- the slot is used again. TRUNCATE empties it, whatever its size. No partition has to be created or dropped.
create table clocks (
  slot        smallint not null,
  key         uuid     not null,
  owner       uuid     not null,
  start_time  bigint   not null,
  frozen_time bigint   not null,
  max_time    bigint   not null,
  bytes       integer  not null default 0,
  name        text,
  labels      text,
  revision    integer  not null default 0
) partition by list (slot);

-- The large row that only an amendment changes.
create table schedules (
  slot smallint not null,
  key  uuid     not null,
  body bytea    not null
) partition by list (slot);

do $$
begin
  for slot in 0..9 loop
    execute format('create table clocks_%s partition of clocks (primary key (key)) for values in (%s) with (fillfactor = 50)', slot, slot);
    execute format('create index clocks_%s_by_owner on clocks_%s (owner, key) include (bytes)', slot, slot);
    execute format('create table schedules_%s partition of schedules (primary key (key)) for values in (%s)', slot, slot);
    begin
      execute format('alter table schedules_%s alter column body set compression lz4', slot);
    exception when feature_not_supported or invalid_parameter_value or syntax_error then
      null; -- A server without lz4 compresses three times slower.
    end;
  end loop;
end
$$;

-- Idempotency records. digest: of the owner and the idempotency key. params: a digest of the operation and its parameters.
create table creations (
  digest    bytea not null primary key,
  params    bytea not null,
  clock_key uuid  not null
);
create index creations_by_clock on creations (clock_key);

-- Connections of clocks to programs that speak the protocol of a bank. A connection has a setup secret until the program
-- claims it, and an access secret after that. The digests are SHA-256. faults: a JSON array.
create table connections (
  key            uuid    not null primary key,
  clock_key      uuid    not null,
  protocol       text    not null,
  institution    text    not null,
  created_at     bigint  not null,
  faults         text,
  setup_digest   bytea,
  access_digest  bytea,
  login_required boolean not null default false
);
create index connections_by_clock on connections (clock_key);
create unique index connections_by_setup_digest on connections (setup_digest) where setup_digest is not null;
create unique index connections_by_access_digest on connections (access_digest) where access_digest is not null;

-- Emails that were sent or are being sent. The newest email that holds its slot delays the next one. The newest code of an
-- address is the valid one. digest: an HMAC of a code, or SHA-256 of a link's secret. network: a keyed digest of the
-- client's network. It allows counting by network, and doesn't reveal the client's address. number: the order of emails. A
-- wall clock can be set back, so sent_at is not reliable. It is assigned on insert, under the lock of the address, so the
-- numbers of one address are in the order of commits.
create sequence login_sends_number;
create table login_sends (
  digest     bytea   not null primary key,
  email      text    collate "C" not null,
  kind       text    not null check (kind in ('CODE', 'LINK')),
  sent_at    bigint  not null,
  expires_at bigint  not null,
  network    bytea   not null,
  tries      bigint  not null default 0,
  spent      boolean not null default false,
  holds_slot boolean not null default true,
  number     bigint  not null default nextval('login_sends_number')
) with (fillfactor = 70);
alter sequence login_sends_number owned by login_sends.number;
create index login_sends_by_email on login_sends (email, number);
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

-- The bytes of a clock that count for its owner's limit.
create function stored_bytes(body bytea, name text, labels text) returns integer language sql immutable as $$
  select octet_length(body) + coalesce(octet_length(name), 0) + coalesce(octet_length(labels), 0);
$$;

-- Return the live clock that was created or amended with this idempotency key, if any. The update makes the commit wait for synchronous
-- standbys, like the first call.
create function find_creation(
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

-- Insert the new clocks of one slot, in order, unless they exceed an owner's limits (0: no limit). Return for each rejected
-- clock its position in the arrays, the limit that it exceeds, and the owner's oldest live clock, or its own key if the
-- owner has none.
create function keep_clocks(
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

create function keep_clock_once(
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
    from find_creation(the_digest, the_owner, living_from);
  if found then
    return;
  end if;
  select kept.exceeded, kept.oldest into exceeded, oldest from keep_clocks(
    the_slot, array[the_key], array[the_owner], array[the_start_time], array[the_frozen_time], array[the_max_time],
    array[the_body], array[the_name], array[the_labels], array[living_from], max_clocks, max_bytes
  ) as kept;
  if exceeded is null then
    insert into creations values (the_digest, the_params, the_key)
      on conflict (digest) do update set params = excluded.params, clock_key = excluded.clock_key;
  end if;
end
$$;

-- Change the name of a clock if sets_name, and its labels if sets_labels.
-- outcome: 'updated', 'quota', or null if the owner has no such clock. max_bytes = 0: no limit.
-- body: the schedule, unless the clock has the known revision.
create function update_clock(
  the_slot smallint, the_key uuid, the_owner uuid, sets_name boolean, new_name text, sets_labels boolean,
  new_labels text, known_revision integer, living_from uuid, max_bytes bigint,
  out outcome text, out oldest uuid, out start_time bigint, out frozen_time bigint, out max_time bigint, out name text,
  out labels text, out revision integer, out body bytea
) language plpgsql as $$
declare
  growth integer;
begin
  if max_bytes > 0 then
    -- The lock of `keep_clocks`. Take it before the lock of the clock.
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
  update clocks c set name = update_clock.name, labels = update_clock.labels, bytes = c.bytes + growth
    where c.slot = the_slot and c.key = the_key;
  if revision is distinct from known_revision then
    select s.body into body from schedules s where s.slot = the_slot and s.key = the_key;
  end if;
end
$$;

-- Replace the schedule of a clock if it has the expected revision, and its frozen time is at or before `latest`. Also
-- change its name if sets_name, and its labels if sets_labels.
-- outcome: 'amended', 'conflict', 'existing' if a live clock was created or amended with the idempotency key, 'quota', or
-- null if the owner has no such clock. Without an idempotency key, the_digest is null. max_bytes = 0: no limit.
-- Each amendment adds amendment_bytes to the stored bytes, up to max_amendment_bytes in all.
create function amend_clock(
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
      from find_creation(the_digest, the_owner, living_from) as f;
    if found then
      outcome := 'existing';
      return;
    end if;
  end if;
  if max_bytes > 0 then
    -- The lock of `keep_clocks`. Take it before the lock of the clock.
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
    set revision = amend_clock.revision, bytes = new_bytes, name = amend_clock.name, labels = amend_clock.labels
    where c.slot = the_slot and c.key = the_key;
  update schedules s set body = the_body where s.slot = the_slot and s.key = the_key;
  if the_digest is not null then
    insert into creations values (the_digest, the_params, the_key)
      on conflict (digest) do update set params = excluded.params, clock_key = excluded.clock_key;
  end if;
end
$$;

-- Insert a connection. outcome: 'created', 'too many', or null if the owner has no such clock.
create function create_connection(
  the_slot smallint, the_clock uuid, the_owner uuid, the_key uuid, the_protocol text, the_institution text,
  the_instant bigint, the_faults text, the_digest bytea, max_connections bigint, out outcome text
) language plpgsql as $$
begin
  perform from clocks c where c.slot = the_slot and c.key = the_clock and c.owner = the_owner for update;
  if not found then
    return;
  end if;
  if (select count(*) from connections k where k.clock_key = the_clock) >= max_connections then
    outcome := 'too many';
    return;
  end if;
  outcome := 'created';
  insert into connections (key, clock_key, protocol, institution, created_at, faults, setup_digest)
    values (the_key, the_clock, the_protocol, the_institution, the_instant, the_faults, the_digest);
end
$$;

-- Insert an access token, unless the user has too many live ones. Then return when the first of them expires.
create function create_access_token(
  the_owner uuid, the_digest bytea, the_key uuid, the_name text, is_read_only boolean, the_instant bigint,
  the_expires_at bigint, max_tokens bigint, out first_expires_at bigint
) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(pg_catalog.uuid_hash_extended(the_owner, 7::bigint));
  select pg_catalog.min(t.expires_at) into first_expires_at
    from tokens t where t.user_key = the_owner and t.token_key is not null and t.expires_at > the_instant
    having count(*) >= max_tokens;
  if first_expires_at is null then
    insert into tokens (digest, user_key, expires_at, token_key, name, read_only, created_at)
      values (the_digest, the_owner, the_expires_at, the_key, the_name, is_read_only, the_instant);
  end if;
end
$$;

create function nth_newest_send(
  the_email text, nth bigint, since bigint, until bigint, the_network bytea, only_held boolean
) returns bigint language sql stable as $$
  select s.sent_at from login_sends s
  where s.email = the_email and s.sent_at > since and s.sent_at < until
    and case when only_held then s.holds_slot else not s.spent end
    and (the_network is null or s.network = the_network)
  order by s.number desc limit 1 offset nth - 1;
$$;

-- Record an email, unless earlier emails make it too soon. Then return the time of the email that delays it, and whether
-- that is the last one.
create function claim_send(
  the_digest bytea, the_email text, the_kind text, is_mailed boolean, the_sent_at bigint, the_expires_at bigint,
  the_network bytea, interval_start bigint, hour_start bigint, out_of_order bigint, max_sends bigint,
  max_sends_from_network bigint, max_failures bigint,
  out held_since bigint, out by_last_email boolean, out codes_stopped boolean
) language plpgsql as $$
begin
  perform take_turn_for_address(the_email);
  if is_mailed then
    -- The last email that holds its slot delays the next one, whatever the timestamps of earlier emails.
    select last.sent_at into held_since
      from (
        select s.sent_at from login_sends s where s.email = the_email and s.holds_slot order by s.number desc limit 1
      ) as last
      where last.sent_at > interval_start and last.sent_at < out_of_order;
  end if;
  by_last_email := held_since is not null;
  if held_since is null then
    -- If both limits are reached, the later one decides.
    held_since := greatest(
      case when max_sends > 0 then nth_newest_send(the_email, max_sends, hour_start, out_of_order, null, false) end,
      case when max_sends_from_network > 0 then
        nth_newest_send(the_email, max_sends_from_network, hour_start, out_of_order, the_network, false)
      end
    );
  end if;
  if held_since is null then
    -- Fixed codes of one instant have the same digest.
    insert into login_sends (digest, email, kind, sent_at, expires_at, network, holds_slot)
      values (the_digest, the_email, the_kind, the_sent_at, the_expires_at, the_network, is_mailed)
      on conflict (digest) do nothing;
    codes_stopped := exists (select from login_failures f where f.email = the_email and f.count >= max_failures);
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
  select digest from login_sends where email = the_email and kind = 'CODE' order by number desc limit 1;
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

create function sweep(
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

create function sweep_creations(living_from uuid, most bigint) returns bigint language plpgsql as $$
declare
  swept bigint;
begin
  -- The lock of `sweep`. The same transaction can take it again.
  if not pg_try_advisory_xact_lock(5, pg_catalog.hashtext(current_schema()::text)) then
    return 0;
  end if;
  -- The condition is repeated: while this waits for a row, its key may be reused for a live clock.
  delete from creations
    where clock_key < living_from
      and digest in (select digest from creations where clock_key < living_from order by clock_key limit most);
  get diagnostics swept = row_count;
  return swept;
end
$$;

create function sweep_connections(min_live_key uuid, max_rows bigint) returns bigint language plpgsql as $$
declare
  swept bigint;
begin
  -- The lock of `sweep`. The same transaction can take it again.
  if not pg_try_advisory_xact_lock(5, pg_catalog.hashtext(current_schema()::text)) then
    return 0;
  end if;
  delete from connections
    where key in (select key from connections where clock_key < min_live_key order by clock_key limit max_rows);
  get diagnostics swept = row_count;
  return swept;
end
$$;
