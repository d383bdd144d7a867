-- Idempotency records of created clocks. digest: of the owner and the idempotency key. params: a digest of the parameters.
create table creations (
  digest    blob not null primary key,
  params    blob not null,
  clock_key blob not null
) strict, without rowid;
create index creations_by_clock on creations (clock_key);
