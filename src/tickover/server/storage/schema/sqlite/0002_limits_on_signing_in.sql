-- network: a keyed digest of the client's network, so that letters can be counted by it and nobody can be read from it.
alter table login_sends add column network blob not null default x'';

-- Failures in a row against live codes of an address, over all its codes; a sign-in deletes the row.
create table login_failures (
  email text    not null primary key,
  count integer not null
) strict, without rowid;

-- A letter that was never sent, to nobody: a try that meets no live code is counted here, by the same statements on the
-- same tables as one that does, so that both take the same time. It is spent, and of an age that is never swept.
insert into login_sends (digest, email, kind, sent_at, expires_at, spent, holds_slot)
  values (zeroblob(32), '', 'CODE', 9223372036854775807, 0, 1, 0);
insert into login_failures (email, count) values ('', 0);
