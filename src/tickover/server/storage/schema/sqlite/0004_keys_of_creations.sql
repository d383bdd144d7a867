-- What makes a repeated creation of a clock known. digest: of the owner and the Idempotency-Key; params: of the parameters.
create table creations (
  digest    blob not null primary key,
  params    blob not null,
  clock_key blob not null
) strict, without rowid;
create index creations_by_clock on creations (clock_key);
