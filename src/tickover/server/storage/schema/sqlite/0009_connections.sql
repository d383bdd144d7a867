-- Connections of clocks to programs that speak the protocol of a bank. A connection has a setup secret until the program
-- claims it, and an access secret after that. The digests are SHA-256. faults: a JSON array.
create table connections (
  key            blob    not null primary key,
  clock_key      blob    not null,
  protocol       text    not null,
  institution    text    not null,
  created_at     integer not null,
  faults         text,
  setup_digest   blob,
  access_digest  blob,
  login_required integer not null default 0
) strict, without rowid;
create index connections_by_clock on connections (clock_key);
create unique index connections_by_setup_digest on connections (setup_digest) where setup_digest is not null;
create unique index connections_by_access_digest on connections (access_digest) where access_digest is not null;
