-- Timestamps are microseconds since 1970-01-01 UTC. Keys are the 16 bytes of a UUIDv7, so they sort by age.

create table users (
  key        blob    not null primary key,
  email      text    not null unique,
  created_at integer not null
) strict, without rowid;

-- digest: SHA-256 of a bearer token.
create table tokens (
  digest     blob    not null primary key,
  user_key   blob    not null,
  expires_at integer not null
) strict, without rowid;
create index tokens_by_expiry on tokens (expires_at);

-- The small row that an advance updates.
create table clocks (
  key         blob    not null primary key,
  owner       blob    not null,
  start_time  integer not null,
  frozen_time integer not null,
  max_time    integer not null
) strict, without rowid;
create index clocks_by_owner on clocks (owner, key);

-- The large row that never changes. It has a rowid, because a table without one stores its rows in an index.
create table schedules (
  clock_key blob not null primary key,
  body      blob not null
) strict;

-- Emails that were sent or are being sent. The newest email that holds its slot delays the next one. The newest code of an
-- address is the valid one. digest: an HMAC of a code, or SHA-256 of a link's secret.
create table login_sends (
  digest     blob    not null primary key,
  email      text    not null,
  kind       text    not null check (kind in ('CODE', 'LINK')),
  sent_at    integer not null,
  expires_at integer not null,
  tries      integer not null default 0,
  spent      integer not null default 0,
  holds_slot integer not null default 1
) strict, without rowid;
create index login_sends_by_email on login_sends (email, sent_at);
create index login_sends_by_age on login_sends (sent_at);
