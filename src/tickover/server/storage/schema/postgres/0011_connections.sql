-- Connections of clocks to programs that speak the protocol of a bank. A connection has a setup secret until the program
-- claims it, and an access secret after that. The digests are SHA-256. faults: a JSON array.
-- A server of the previous release that deletes a clock leaves its connections. They open nothing, and are swept.
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

-- Insert a connection. outcome: 'created', 'too many', or null if the owner has no such clock.
create function create_connection_v1(
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
