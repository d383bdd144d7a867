-- Access tokens are tokens that a user creates for programs. They have a token_key; the tokens of sessions have none.
-- last_used_on: midnight UTC of the last day of use. Servers of the previous release reject access tokens by their prefix.
alter table tokens
  add column token_key uuid,
  add column name text,
  add column read_only boolean not null default false,
  add column created_at bigint,
  add column last_used_on bigint;
create unique index access_tokens_by_user on tokens (user_key, token_key) where token_key is not null;

-- Insert an access token, unless the user has too many live ones. Then return when the first of them expires.
create function create_access_token_v1(
  the_owner uuid, the_digest bytea, the_key uuid, the_name text, is_read_only boolean, the_instant bigint,
  the_expires_at bigint, max_tokens bigint, out first_expires_at bigint
) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(pg_catalog.uuid_hash_extended(the_owner, 7::bigint));
  select pg_catalog.min(t.expires_at) into first_expires_at
    from tokens t where t.user_key = the_owner and t.token_key is not null and t.expires_at > the_instant
    having count(*) >= max_tokens;
  if first_expires_at is null then
    insert into tokens (digest, user_key, expires_at, token_key, name, read_only, created_at)
      values (the_digest, the_owner, the_expires_at, the_key, the_name, is_read_only, the_instant);
  end if;
end
$$;
