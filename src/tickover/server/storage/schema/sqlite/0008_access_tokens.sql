-- Access tokens are tokens that a user creates for programs. They have a token_key; the tokens of sessions have none.
-- last_used_on: midnight UTC of the last day of use.
alter table tokens add column token_key blob;
alter table tokens add column name text;
alter table tokens add column read_only integer not null default 0;
alter table tokens add column created_at integer;
alter table tokens add column last_used_on integer;
create unique index access_tokens_by_user on tokens (user_key, token_key) where token_key is not null;
