-- Idempotency records of created clocks. digest: of the owner and the idempotency key. params: a digest of the parameters.
create table creations (
  digest    bytea not null primary key,
  params    bytea not null,
  clock_key uuid  not null
);
create index creations_by_clock on creations (clock_key);

-- Return the live clock that was created with this idempotency key, if any.
create function find_creation(
  the_digest bytea, the_owner uuid, living_from uuid,
  out params bytea, out key uuid, out start_time bigint, out frozen_time bigint, out max_time bigint, out body bytea
) returns setof record language sql stable as $$
  select k.params, c.key, c.start_time, c.frozen_time, c.max_time, s.body
  from creations k
  -- `offset 0` forces lookups by key. A join planned for an empty slot would scan the slot.
  cross join lateral (select * from clocks c where c.key = k.clock_key and c.owner = the_owner offset 0) as c
  cross join lateral (select * from schedules s where s.key = c.key and s.slot = c.slot offset 0) as s
  where k.digest = the_digest and k.clock_key >= living_from;
$$;

-- Return the live clock that was created with this idempotency key, or insert the new clock if the owner has not too many.
-- refused: the oldest live clock of an owner who has too many.
create function keep_clock_once(
  the_digest bytea, the_params bytea, the_slot smallint, the_key uuid, the_owner uuid, the_start_time bigint,
  the_frozen_time bigint, the_max_time bigint, the_body bytea, living_from uuid, most bigint,
  out refused uuid, out earlier_params bytea, out earlier_key uuid, out earlier_start_time bigint,
  out earlier_frozen_time bigint, out earlier_max_time bigint, out earlier_body bytea
) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(pg_catalog.hashtextextended(encode(the_digest, 'hex'), 6::bigint));
  select * into earlier_params, earlier_key, earlier_start_time, earlier_frozen_time, earlier_max_time, earlier_body
    from find_creation(the_digest, the_owner, living_from);
  if found then
    return;
  end if;
  select kept.oldest into refused from keep_clocks(
    the_slot, array[the_key], array[the_owner], array[the_start_time], array[the_frozen_time], array[the_max_time],
    array[the_body], array[living_from], most
  ) as kept;
  if refused is null then
    insert into creations values (the_digest, the_params, the_key)
      on conflict (digest) do update set params = excluded.params, clock_key = excluded.clock_key;
  end if;
end
$$;

create function sweep_creations(living_from uuid, most bigint) returns bigint language plpgsql as $$
declare
  swept bigint;
begin
  -- The lock of `sweep`. The same transaction can take it again.
  if not pg_try_advisory_xact_lock(5, pg_catalog.hashtext(current_schema()::text)) then
    return 0;
  end if;
  -- The condition is repeated: while this waits for a row, its key may be reused for a live clock.
  delete from creations
    where clock_key < living_from
      and digest in (select digest from creations where clock_key < living_from order by clock_key limit most);
  get diagnostics swept = row_count;
  return swept;
end
$$;
