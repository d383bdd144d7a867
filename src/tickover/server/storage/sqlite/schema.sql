-- The schema of the SQLite database. Timestamps are microseconds since 1970-01-01 UTC. Keys are the 16 bytes of a UUIDv7,
-- so they sort by age.

create table users (
  key        blob    not null primary key,
  email      text    not null unique,
  created_at integer not null
) strict, without rowid;

-- Bearer tokens. digest: SHA-256. Only access tokens, which users create for programs, have a token_key and what follows
-- it. last_used_on: midnight UTC of the last day of use.
create table tokens (
  digest       blob    not null primary key,
  user_key     blob    not null,
  expires_at   integer not null,
  token_key    blob,
  name         text,
  read_only    integer not null default 0,
  created_at   integer,
  last_used_on integer
) strict, without rowid;
create index tokens_by_expiry on tokens (expires_at);
create unique index tokens_by_user on tokens (user_key, token_key);

-- The small row that an advance updates. bytes: the size that counts for the owner's limit. name, labels: the caller's
-- own; labels is a JSON object. revision: the number of amendments. Each replaces the clock's schedule.
create table clocks (
  key         blob    not null primary key,
  owner       blob    not null,
  start_time  integer not null,
  frozen_time integer not null,
  max_time    integer not null,
  bytes       integer not null default 0,
  name        text,
  labels      text,
  revision    integer not null default 0
) strict, without rowid;
-- With the bytes, so that an owner's total is read from the index alone.
create index clocks_by_owner on clocks (owner, key, bytes);

-- The large row that only an amendment changes. It has a rowid, because a table without one stores its rows in an index.
create table schedules (
  clock_key blob not null primary key,
  body      blob not null
) strict;

-- Idempotency records. digest: of the owner and the idempotency key. params: a digest of the operation and its parameters.
create table creations (
  digest    blob not null primary key,
  params    blob not null,
  clock_key blob not null
) strict, without rowid;
create index creations_by_clock on creations (clock_key);

-- Connections of clocks to programs that speak the protocol of a bank. A connection has a setup secret until the program
-- claims it, and an access secret after that. The digests are SHA-256. institution: null if it is the clock itself.
-- connected_at, consent_from: the clock's time when it
-- was connected, and when the secret was claimed. settings: a JSON object. recent_calls: a JSON object; by account, the
-- instants of calls in the clock's time and their number.
-- webhook: the URL to call when the bank shows something that it has not announced. webhook_announced: a JSON object.
-- webhook_checked, webhook_tried: the state of clock and connection of which everything is announced, and of the last failed
-- call. webhook_attempts: failed calls in this state; webhook_next_at: when to try again. webhook_lease: until when a server
-- calls. webhook_status, webhook_at: the last response and when it arrived.
create table connections (
  key               blob    not null primary key,
  clock_key         blob    not null,
  protocol          text    not null,
  institution       text,
  created_at        integer not null,
  connected_at      integer not null,
  settings          text,
  consent_from      integer,
  recent_calls      text,
  last_calls        text,
  setup_digest      blob,
  access_digest     blob,
  login_required    integer not null default 0,
  webhook           text,
  webhook_announced text,
  webhook_checked   text,
  webhook_tried     text,
  webhook_attempts  integer not null default 0,
  webhook_next_at   integer not null default 0,
  webhook_lease     integer not null default 0,
  webhook_status    integer,
  webhook_at        integer
) strict, without rowid;
create index connections_by_clock on connections (clock_key);
create index connections_by_webhook on connections (clock_key) where webhook is not null;
create unique index connections_by_setup_digest on connections (setup_digest) where setup_digest is not null;
create unique index connections_by_access_digest on connections (access_digest) where access_digest is not null;

-- Link tokens. Each lets a page act for the access token that created it, until either ends. digest: SHA-256. user_key: for
-- the limit. item_digest: the digest of the access secret of the connection to repair, in update mode. settings: a JSON object.
create table link_tokens (
  digest       blob    not null primary key,
  token_digest blob    not null,
  user_key     blob    not null,
  created_at   integer not null,
  expires_at   integer not null,
  item_digest  blob,
  settings     text    not null
) strict, without rowid;
create index link_tokens_by_user on link_tokens (user_key, expires_at);
create index link_tokens_by_expiry on link_tokens (expires_at);

-- Emails that were sent or are being sent. The newest email with delays_next delays the next one. The newest code of an
-- address is the valid one. digest: an HMAC of a code, or SHA-256 of a link's secret. network: a keyed digest of the
-- client's network. It allows counting by network, and doesn't reveal the client's address. number: the order of emails to
-- an address. A wall clock can be set back, so sent_at is not reliable.
create table login_emails (
  digest      blob    not null primary key,
  email       text    not null,
  kind        text    not null check (kind in ('CODE', 'LINK')),
  sent_at     integer not null,
  expires_at  integer not null,
  network     blob    not null,
  attempts    integer not null default 0,
  spent       integer not null default 0,
  delays_next integer not null default 1,
  number      integer not null default 0
) strict, without rowid;
create index login_emails_by_email on login_emails (email, number);
create index login_emails_by_age on login_emails (sent_at);

-- Consecutive failures against all live codes of an address, and the time of the last one. A sign-in deletes the row.
create table login_failures (
  email   text    not null primary key,
  count   integer not null,
  last_at integer not null
) strict, without rowid;

-- Decoys: emails that were never sent. An attempt without a live code updates a decoy with the same statements as an
-- attempt against a real code, so that both take the same time. They are spent, and the sweep never deletes them.
insert into login_emails (digest, email, kind, sent_at, expires_at, network, spent, delays_next)
  with recursive decoys (number) as (select 0 union all select number + 1 from decoys where number < 63)
  select unhex(printf('%064x', number)), '', 'CODE', 9223372036854775807, 0, x'', 1, 0 from decoys;
insert into login_failures (email, count, last_at)
  with recursive decoys (number) as (select 0 union all select number + 1 from decoys where number < 63)
  select number, 0, 0 from decoys;
