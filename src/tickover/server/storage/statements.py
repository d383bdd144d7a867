"""The SQL statements that both databases execute.

An owner is two values, of which one is null: a user's key, and the digest of a token. A revoked token has no user.
"""

from typing import Final

OWNER: Final = "coalesce($1, (select user_key from tokens where digest = $2))"

FIND_EMAIL: Final = "select email from tokens join users on key = user_key where digest = $1"
FIND_OR_CREATE_USER: Final = """
    insert into users values ($1, $2, $3) on conflict (email) do update set email = excluded.email returning key"""
ALLOW_RESEND: Final = "update login_sends set holds_slot = false where digest = $1"

RECORD_TOKEN_USE: Final = """
    update tokens set last_used_on = $2
    where digest = $1 and token_key is not null and coalesce(last_used_on, 0) < $2"""  # noqa: S105 - no secret
# A row without any value means that the session's token was revoked.
LIST_ACCESS_TOKENS: Final = f"""
    select * from (
      select token_key, name, read_only, created_at, expires_at, last_used_on from tokens
      where user_key = {OWNER} and token_key is not null and expires_at > $3 order by token_key desc
    ) as found
    union all
    select null, null, null, null, null, null where {OWNER} is null"""
REVOKE_ACCESS_TOKEN: Final = f"""
    delete from tokens where user_key = {OWNER} and token_key = $3 and expires_at > $4 returning true"""

PAGE: Final = f"""
    select key, start_time, frozen_time, max_time, name, labels, revision from clocks
    where owner = {OWNER} and key >= $3 and key < $4 order by key desc limit $5"""
# A row without any value means that the token was revoked.
REVOKED: Final = f"select null, null, null, null, null, null, null where {OWNER} is null"
LIST_CLOCKS: Final = f"select * from ({PAGE}) as found union all {REVOKED}"

CONNECTION: Final = "connections.key, protocol, institution, connections.created_at, faults, access_digest is not null"
CLAIM_CONNECTION: Final = """
    update connections set setup_digest = null, access_digest = $2
    where setup_digest = $1 and protocol = $3 and clock_key >= $4 returning key"""
REQUIRE_LOGIN: Final = """
    update connections set login_required = true
    where access_digest = $1 and protocol = $2 and clock_key >= $3 returning true"""
END_CONNECTION: Final = """
    delete from connections where access_digest = $1 and protocol = $2 and clock_key >= $3 returning true"""
FIND_INSTITUTION: Final = "select institution from connections where key = $1 and clock_key >= $2"
