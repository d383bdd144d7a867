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
create unique index tokens_by_user on tokens (user_key, token_key);

-- The small row that an advance updates. No index contains frozen_time, and pages have free space, so that an update
-- stays in its page and changes no index (a HOT update). bytes: the size that counts for the owner's limit. name, labels:
-- the caller's own; labels is a JSON object. revision: the number of amendments. Each replaces the clock's schedule. One
-- statement changes both rows, so a statement that reads both and waits for neither sees the same revision of both.
create table clocks (
  key         uuid    not null primary key,
  owner       uuid    not null,
  start_time  bigint  not null,
  frozen_time bigint  not null,
  max_time    bigint  not null,
  bytes       integer not null default 0,
  name        text,
  labels      text,
  revision    integer not null default 0
) with (fillfactor = 50);
-- With the bytes, so that an owner's total is read from the index alone.
create index clocks_by_owner on clocks (owner, key) include (bytes);

-- The large row that only an amendment changes.
create table schedules (
  clock_key uuid  not null primary key,
  body      bytea not null
);
do $$
begin
  alter table schedules alter column body set compression lz4;
exception when feature_not_supported or invalid_parameter_value or syntax_error then
  null; -- A server without lz4 compresses three times slower.
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
-- claims it, and an access secret after that. The digests are SHA-256. institution: null if it is the clock itself.
-- connected_at, consent_from: the clock's time when it
-- was connected, and when the secret was claimed. settings: a JSON object. recent_calls: a JSON object; by account, the
-- instants of calls in the clock's time and their number.
-- webhook: the URL to call when the bank shows something that it has not announced. webhook_announced: a JSON object.
-- webhook_checked, webhook_tried: the state of clock and connection of which everything is announced, and of the last failed
-- call. webhook_attempts: failed calls in this state; webhook_next_at: when to try again. webhook_lease: until when a server
-- calls. webhook_status, webhook_at: the last response and when it arrived.
create table connections (
  key               uuid    not null primary key,
  clock_key         uuid    not null,
  protocol          text    not null,
  institution       text,
  created_at        bigint  not null,
  connected_at      bigint  not null,
  settings          text,
  consent_from      bigint,
  recent_calls      text,
  last_calls        text,
  setup_digest      bytea,
  access_digest     bytea,
  login_required    boolean not null default false,
  webhook           text,
  webhook_announced text,
  webhook_checked   text,
  webhook_tried     text,
  webhook_attempts  bigint  not null default 0,
  webhook_next_at   bigint  not null default 0,
  webhook_lease     bigint  not null default 0,
  webhook_status    bigint,
  webhook_at        bigint
);
create index connections_by_clock on connections (clock_key);
create index connections_by_webhook on connections (clock_key) where webhook is not null;
create unique index connections_by_setup_digest on connections (setup_digest) where setup_digest is not null;
create unique index connections_by_access_digest on connections (access_digest) where access_digest is not null;

-- Link tokens. Each lets a page act for the access token that created it, until either ends. digest: SHA-256. user_key: for
-- the limit. item_digest: the digest of the access secret of the connection to repair, in update mode. settings: a JSON object.
create table link_tokens (
  digest       bytea  not null primary key,
  token_digest bytea  not null,
  user_key     uuid   not null,
  created_at   bigint not null,
  expires_at   bigint not null,
  item_digest  bytea,
  settings     text   not null
);
create index link_tokens_by_user on link_tokens (user_key, expires_at);
create index link_tokens_by_expiry on link_tokens (expires_at);

-- Emails that were sent or are being sent. The newest email with delays_next delays the next one. The newest code of an
-- address is the valid one. digest: an HMAC of a code, or SHA-256 of a link's secret. network: a keyed digest of the
-- client's network. It allows counting by network, and doesn't reveal the client's address. number: the order of emails to
-- an address. A wall clock can be set back, so sent_at is not reliable.
create table login_emails (
  digest      bytea   not null primary key,
  email       text    collate "C" not null,
  kind        text    not null check (kind in ('CODE', 'LINK')),
  sent_at     bigint  not null,
  expires_at  bigint  not null,
  network     bytea   not null,
  attempts    bigint  not null default 0,
  spent       boolean not null default false,
  delays_next boolean not null default true,
  number      bigint  not null default 0
) with (fillfactor = 70);
create index login_emails_by_email on login_emails (email, number);
create index login_emails_by_age on login_emails (sent_at);

-- Consecutive failures against all live codes of an address, and the time of the last one. A sign-in deletes the row.
create table login_failures (
  email   text   collate "C" not null primary key,
  count   bigint not null,
  last_at bigint not null
) with (fillfactor = 70);

-- Decoys: emails that were never sent. An attempt without a live code updates a decoy with the same statements as an
-- attempt against a real code, so that both take the same time. There are many, so that attempts for different addresses
-- don't wait for each other. They are spent, and the sweep never deletes them.
insert into login_emails (digest, email, kind, sent_at, expires_at, network, spent, delays_next)
  select decode(lpad(to_hex(number), 64, '0'), 'hex'), '', 'CODE', 9223372036854775807, 0, '', true, false
  from generate_series(0, 63) as number;
insert into login_failures (email, count, last_at) select number::text, 0, 0 from generate_series(0, 63) as number;

-- What must not run twice at once: the calls of an owner or an address that read something and then write. name: the key of
-- the owner, or the address. Each write changes the version, and does nothing if it isn't the version that the call has
-- read. So no call waits for another one with an open transaction. used_at: when an address was used.
create sequence lock_versions;
create table locks (
  name    text   collate "C" not null primary key,
  version bigint not null,
  used_at bigint not null
) with (fillfactor = 70);
create index locks_by_age on locks (used_at);

-- The secret keys of the running servers. There must be only one. fingerprint: a digest that doesn't reveal the key.
create table server_keys (
  fingerprint bytea  not null primary key,
  seen_at     bigint not null
) with (fillfactor = 70);
