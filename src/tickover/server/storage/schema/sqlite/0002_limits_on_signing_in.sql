-- network: a keyed digest of the client's network. It allows counting by network, and doesn't reveal the client's address.
alter table login_sends add column network blob not null default x'';

-- Consecutive failures against all live codes of an address. A sign-in deletes the row.
create table login_failures (
  email text    not null primary key,
  count integer not null
) strict, without rowid;

-- A decoy: an email that was never sent. A try without a live code updates the decoy with the same statements as a try
-- against a real code, so that both take the same time. It is spent, and the sweep never deletes it.
insert into login_sends (digest, email, kind, sent_at, expires_at, spent, holds_slot)
  values (zeroblob(32), '', 'CODE', 9223372036854775807, 0, 1, 0);
insert into login_failures (email, count) values ('', 0);
