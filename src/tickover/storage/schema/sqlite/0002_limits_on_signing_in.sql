-- network: a keyed digest of the client's network, so that letters can be counted by it and nobody can be read from it.
alter table login_sends add column network blob not null default x'';

-- Failures in a row against live codes of an address, over all its codes; a sign-in deletes the row.
create table login_failures (
  email text    not null primary key,
  count integer not null
) strict, without rowid;
