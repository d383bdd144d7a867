-- bytes: the length of the clock's schedule. The index includes it, so that an owner's total is read from the index alone.
alter table clocks add column bytes integer not null default 0;
update clocks set bytes = coalesce((select length(body) from schedules where clock_key = key), 0);
drop index clocks_by_owner;
create index clocks_by_owner on clocks (owner, key, bytes);

-- number: the order of emails to an address. A wall clock can be set back, so sent_at is not reliable.
alter table login_sends add column number integer not null default 0;
update login_sends set number = numbered.number
  from (
    select digest, row_number() over (partition by email order by sent_at, digest) as number from login_sends
  ) as numbered
  where numbered.digest = login_sends.digest;
drop index login_sends_by_email;
create index login_sends_by_email on login_sends (email, number);
