"""The SQL statements of both databases.

Parameters are $1, $2 and so on. An owner is two values, of which one is null: a user's key, and the digest of a token.
A revoked token has no user. In a change of a rule, {lock} is a condition: the change is not too late.
"""

from typing import Final, NamedTuple

from tickover.api.limits import DEFAULT_INSTITUTION, MAX_INSTITUTION


class Statement(NamedTuple):
    sqlite: str
    postgres: str


def _both(text: str) -> Statement:
    return Statement(text, text)


OWNER: Final = "coalesce($1, (select user_key from tokens where digest = $2))"
_CLOCK: Final = "start_time, frozen_time, max_time, name, labels, revision"

# Clocks

FIND_CLOCK: Final = _both(f"""
    select {_CLOCK}, case when revision is distinct from $4 then (select body from schedules where clock_key = $3) end
    from clocks where key = $3 and owner = {OWNER}""")
_PAGE: Final = f"""
    select key, {_CLOCK} from clocks where owner = {OWNER} and key >= $3 and key < $4 order by key desc limit $5"""
# A row without any value means that the token was revoked.
_REVOKED: Final = f"select null, null, null, null, null, null, null where {OWNER} is null"
LIST_CLOCKS: Final = _both(f"select * from ({_PAGE}) as found union all {_REVOKED}")
# The last row has a key alone. It is there if the scan ended early.
SEARCH_CLOCKS: Final = Statement(
    sqlite=f"""
    with scanned as materialized ({_PAGE}),
    found as (
      select * from scanned
      where ($8 is null or name = $8)
        and not exists (select 1 from json_each($6) where coalesce(instr(labels, value), 0) = 0)
      order by key desc limit $7
    )
    select * from found
    union all
    select min(key), null, null, null, null, null, null from scanned having count(*) = $5
    union all {_REVOKED}""",
    # There is no min(uuid). Keys are sorted, so the last one is the smallest.
    postgres=f"""
    with scanned as materialized ({_PAGE}),
    found as (
      select * from scanned
      where ($8::text is null or name = $8) and not exists (
        select from json_array_elements_text($6::json) as member where coalesce(strpos(labels, member), 0) = 0
      )
      order by key desc limit $7
    )
    select * from found
    union all
    select (array_agg(key))[$5], null, null, null, null, null, null from scanned having count(*) = $5
    union all {_REVOKED}""",
)

# The owner, or null if the token was revoked, and the number, size and oldest key of the owner's live clocks. It counts
# no more than $4 clocks.
USAGE: Final = _both(f"""
    select {OWNER}, count(*), coalesce(sum(bytes), 0),
      (select key from clocks where owner = {OWNER} and key >= $3 order by key limit 1)
    from (select bytes from clocks where owner = {OWNER} and key >= $3 limit $4) as live""")
FIND_OWNER: Final = _both(f"select {OWNER}")
FIND_CREATION: Final = _both(f"""
    select params, key, {_CLOCK}, body
    from creations join clocks on key = creations.clock_key join schedules on schedules.clock_key = key
    where creations.digest = $3 and owner = {OWNER} and key >= $4""")
# PostgreSQL creates many clocks at once, with `postgres.statements.CREATE_CLOCKS`.
INSERT_CLOCK: Final = _both("""
    insert into clocks (key, owner, start_time, frozen_time, max_time, bytes, name, labels)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
    returning key""")
INSERT_SCHEDULE: Final = _both("insert into schedules (clock_key, body) values ($1, $2)")
INSERT_CREATION: Final = _both("""
    insert into creations (digest, params, clock_key) select $1, $2, $3 where {lock}
    on conflict (digest) do update set params = excluded.params, clock_key = excluded.clock_key""")
# So that the commit waits for synchronous standbys, and doesn't confirm a clock that they may lack.
TOUCH_CREATION: Final = _both("update creations set params = params where digest = $1 returning digest")
# The schedule only if the amendment is a conflict, and its size always.
FIND_CLOCK_TO_AMEND: Final = _both(f"""
    select (select length(body) from schedules where clock_key = $3), {_CLOCK},
      case when revision <> $4 or frozen_time > $5 then (select body from schedules where clock_key = $3) end
    from clocks where key = $3 and owner = {OWNER}""")
# The bytes are a 32-bit integer.
_GROW: Final = "bytes = case when bytes < 1000000000 then bytes + $2 else bytes end"
AMEND_CLOCK: Final = _both(f"""
    update clocks set revision = revision + 1, {_GROW}, name = $3, labels = $4
    where key = $1 and revision = $5 and frozen_time <= $6 and {{lock}}
    returning frozen_time""")
AMEND_SCHEDULE: Final = _both("update schedules set body = $2 where clock_key = $1 and {lock}")
UPDATE_NAMES: Final = _both(f"""
    update clocks set {_GROW}, name = $3, labels = $4 where key = $1 and {{lock}} returning frozen_time""")
MOVE_CLOCK: Final = _both(f"""
    update clocks set {_GROW}, frozen_time = $4 where key = $1 and frozen_time = $3 and {{lock}} returning key""")
DELETE_CLOCK: Final = _both(f"delete from clocks where key = $3 and owner = {OWNER} and {{lock}} returning key")
DELETE_SCHEDULE: Final = _both("delete from schedules where clock_key = $1 and {lock}")
DELETE_CREATIONS: Final = _both("delete from creations where clock_key = $1 and {lock}")
DELETE_CONNECTIONS: Final = _both("delete from connections where clock_key = $1 and {lock}")

# Connections

# The name of a clock that is the institution of its connections.
_NAME: Final = f"coalesce(substr(name, 1, {MAX_INSTITUTION}), '{DEFAULT_INSTITUTION}')"
# All that decides what a connection shows. A call is owed if something has changed since everything was announced.
_BANK_STATE: Final = "concat_ws(':', frozen_time, revision, login_required, settings, consent_from)"
_IS_OWED: Final = f"webhook_checked is distinct from {_BANK_STATE}"
_CONNECTION: Final = f"""
    connections.key, protocol, coalesce(institution, {_NAME}), connections.created_at, settings,
    access_digest is not null, institution is null,
    webhook, access_digest is not null and {_IS_OWED}, webhook_status, webhook_at"""
COUNT_CONNECTIONS: Final = _both(f"""
    select (select count(*) from connections where clock_key = $3) from clocks where key = $3 and owner = {OWNER}""")
INSERT_CONNECTION: Final = _both("""
    insert into connections
      (key, clock_key, protocol, institution, created_at, connected_at, settings, setup_digest, webhook)
    select $1, $2, $3, $4, $5, frozen_time, $6, $7, $8 from clocks where key = $2 and {lock} returning key""")
# A clock without connections has one row without values.
LIST_CONNECTIONS: Final = _both(f"""
    select {_CONNECTION} from clocks left join connections on clock_key = clocks.key
    where clocks.key = $3 and owner = {OWNER}""")
# A clock without this connection has one row without values.
FIND_CONNECTION_OF_CLOCK: Final = _both(f"""
    select {_CONNECTION} from clocks left join connections on clock_key = clocks.key and connections.key = $4
    where clocks.key = $3 and owner = {OWNER}""")
UPDATE_SETTINGS: Final = _both("""
    update connections set settings = $2, webhook = $3, webhook_tried = null, webhook_attempts = 0
    where key = $1 and {lock} returning key""")
FIND_RECENT_CALLS: Final = _both("""
    select frozen_time, settings, recent_calls from connections join clocks on clocks.key = clock_key
    where connections.key = $1""")
SET_RECENT_CALLS: Final = _both("update connections set recent_calls = $2 where key = $1 and {lock} returning key")
FIND_LAST_CALLS: Final = _both("select last_calls from connections where key = $1")
SET_LAST_CALLS: Final = _both("update connections set last_calls = $2 where key = $1 and {lock}")
LIST_LAST_CALLS: Final = _both(f"""
    select connections.key, last_calls
    from clocks left join connections on clock_key = clocks.key and connections.key = $4
    where clocks.key = $3 and owner = {OWNER}""")
DELETE_CONNECTION: Final = _both("delete from connections where key = $1 and clock_key = $2 and {lock} returning key")
CLAIM_CONNECTION: Final = _both("""
    update connections set setup_digest = null, access_digest = $2,
      consent_from = (select frozen_time from clocks where clocks.key = clock_key)
    where setup_digest = $1 and protocol = $3 and clock_key >= $4 returning key""")
FIND_CONNECTION: Final = _both(f"""
    select {_CONNECTION}, connected_at, consent_from, login_required, owner, clocks.key, {_CLOCK},
      case when revision is distinct from $4 then (
        select body from schedules where schedules.clock_key = clocks.key
      ) end
    from connections join clocks on clocks.key = connections.clock_key
    where access_digest = $1 and protocol = $2 and connections.clock_key >= $3""")
REQUIRE_LOGIN: Final = _both("""
    update connections set login_required = true
    where access_digest = $1 and protocol = $2 and clock_key >= $3 returning true""")
END_CONNECTION: Final = _both("""
    delete from connections where access_digest = $1 and protocol = $2 and clock_key >= $3 returning true""")
UPDATE_WEBHOOK: Final = _both("""
    update connections set webhook = $4, webhook_tried = null, webhook_attempts = 0
    where access_digest = $1 and protocol = $2 and clock_key >= $3 returning true""")
LIST_WEBHOOK_CLOCKS: Final = _both("""
    select distinct clock_key from connections
    where webhook is not null and access_digest is not null and clock_key >= $1""")
_OWED_WEBHOOKS: Final = f"""
    select connections.key, clock_key, owner, access_digest, protocol, {_BANK_STATE}
    from connections join clocks on clocks.key = clock_key
    where webhook is not null and access_digest is not null and {_IS_OWED} and webhook_lease <= $2
      and (webhook_next_at <= $3 or webhook_tried is distinct from {_BANK_STATE})"""
LIST_OWED_WEBHOOKS: Final = _both(f"{_OWED_WEBHOOKS} and clock_key >= $1 limit 1000")
LIST_OWED_WEBHOOKS_OF_CLOCK: Final = _both(f"{_OWED_WEBHOOKS} and clock_key = $1")
LEASE_WEBHOOK: Final = _both("""
    update connections set webhook_lease = $3
    where key = $1 and webhook_lease <= $2 and webhook is not null
    returning webhook, webhook_announced, webhook_tried, webhook_attempts, webhook_status, webhook_at""")
END_WEBHOOK_LEASE: Final = _both("""
    update connections set webhook_announced = $3, webhook_checked = coalesce($4, webhook_checked), webhook_tried = $5,
      webhook_attempts = $6, webhook_next_at = $7, webhook_status = $8, webhook_at = $9, webhook_lease = 0
    where key = $1 and webhook_lease = $2 returning true""")
FIND_INSTITUTION: Final = _both(f"""
    select coalesce(institution, {_NAME}) from connections join clocks on clocks.key = clock_key
    where connections.key = $1 and clock_key >= $2
    union all select {_NAME} from clocks where key = $1 and key >= $2""")
FIND_LOGIN: Final = _both(f"""
    select settings, frozen_time from connections join clocks on clocks.key = clock_key
    where access_digest = $3 and clock_key >= $4 and owner = {OWNER}""")
# The program that repairs a login knows, so the webhook doesn't announce it.
REPAIR_LOGIN: Final = _both("""
    update connections set login_required = false, settings = $2, consent_from = $3, setup_digest = $4,
      webhook_announced = replace(webhook_announced, '"login_required":true', '"login_required":false')
    where access_digest = $1 and {lock} returning key""")

# Link tokens. Their owner is the access token that created them.

COUNT_LINK_TOKENS: Final = _both(f"""
    select {OWNER}, count(*) from link_tokens where user_key = {OWNER} and expires_at > $3""")
INSERT_LINK_TOKEN: Final = _both("""
    insert into link_tokens (digest, token_digest, user_key, created_at, expires_at, item_digest, settings)
    select $1, $2, $3, $4, $5, $6, $7 where {lock} returning digest""")
FIND_LINK_TOKEN: Final = _both("""
    select link_tokens.created_at, link_tokens.expires_at, item_digest, settings,
      tokens.digest, tokens.user_key, tokens.expires_at, token_key, read_only, last_used_on
    from link_tokens join tokens on tokens.digest = token_digest
    where link_tokens.digest = $1 and link_tokens.expires_at > $2 and tokens.expires_at > $2""")

# Users and tokens

FIND_EMAIL: Final = _both("select email from tokens join users on key = user_key where digest = $1")
FIND_USER: Final = _both("select key from users where email = $1")
# Unless the address has a user.
INSERT_USER: Final = _both("""
    insert into users (key, email, created_at)
    select $1, $2, $3 where not exists (select 1 from users where email = $2) and {lock} returning key""")
# Of the address's user, or of the new one, whom this statement can't see yet on PostgreSQL.
INSERT_SESSION: Final = _both("""
    insert into tokens (digest, user_key, expires_at)
    select $1, coalesce((select key from users where email = $2), $3), $4 where {lock}""")
REVOKE_TOKEN: Final = _both("delete from tokens where digest = $1 and {lock} returning digest")
REVOKE_SESSIONS: Final = _both("""
    delete from tokens
    where user_key = (select user_key from tokens where digest = $1) and token_key is null and {lock}
    returning digest""")
FIND_USER_OF_TOKEN: Final = _both("select key, email from tokens join users on key = user_key where digest = $1")
DELETE_USER: Final = _both("delete from users where key = $1 and {lock} returning key")
DELETE_TOKENS: Final = _both("delete from tokens where user_key = $1 and {lock}")
DELETE_LINK_TOKENS: Final = _both("delete from link_tokens where user_key = $1 and {lock}")
_CLOCKS_OF_USER: Final = "select key from clocks where owner = $1"
FIND_CLOCK_OF_USER: Final = _both(f"{_CLOCKS_OF_USER} limit 1")
HAS_CLOCKS: Final = _both(f"{_CLOCKS_OF_USER} and {{lock}} limit 1")
# Clocks come last, because the others are found by them.
DELETE_CLOCKS_OF_USER: Final = [
    _both(f"delete from {table} where {key} in ({_CLOCKS_OF_USER} order by key limit $2) and {{lock}}")
    for table, key in (
        ("schedules", "clock_key"), ("creations", "clock_key"), ("connections", "clock_key"), ("clocks", "key"),
    )
]  # fmt: skip
RECORD_TOKEN_USE: Final = _both("""
    update tokens set last_used_on = $2
    where digest = $1 and token_key is not null and coalesce(last_used_on, 0) < $2""")
COUNT_ACCESS_TOKENS: Final = _both(f"""
    select {OWNER}, count(*), min(expires_at) from tokens
    where user_key = {OWNER} and token_key is not null and expires_at > $3""")
INSERT_ACCESS_TOKEN: Final = _both("""
    insert into tokens (digest, user_key, expires_at, token_key, name, read_only, created_at)
    select $1, $2, $3, $4, $5, $6, $7 where {lock} returning digest""")
# A row without any value means that the session's token was revoked.
LIST_ACCESS_TOKENS: Final = _both(f"""
    select * from (
      select token_key, name, read_only, created_at, expires_at, last_used_on from tokens
      where user_key = {OWNER} and token_key is not null and expires_at > $3 order by token_key desc
    ) as found
    union all
    select null, null, null, null, null, null where {OWNER} is null""")
REVOKE_ACCESS_TOKEN: Final = _both(f"""
    delete from tokens where user_key = {OWNER} and token_key = $3 and expires_at > $4 returning true""")

FIND_TOKEN: Final = Statement(
    sqlite="""
    select user_key, expires_at, token_key, read_only, last_used_on from tokens
    where digest = $1 and expires_at > $2""",
    # The hot path: one statement for the waiting calls.
    postgres="""
    select input.position, user_key, expires_at, token_key, read_only, last_used_on
    from unnest($1::bytea[], $2::bigint[]) with ordinality as input (digest, instant, position)
    join tokens on tokens.digest = input.digest and tokens.expires_at > input.instant""",
)

# Emails and attempts


def _nth_newest_email(nth: str, condition: str) -> str:
    """Return a query of the time of the nth newest email to the address in the time range that begins at $3."""
    return f"""(
      select sent_at from login_emails
      where email = $1 and not spent and sent_at > $3 and sent_at < $4 and {condition}
      order by number desc limit 1 offset {nth})"""


# The last email that delays the next one, the emails that the hourly limits count from, the last number, and failures.
FIND_LAST_EMAILS: Final = _both(f"""
    select
      (select sent_at from login_emails where email = $1 and delays_next order by number desc limit 1),
      {_nth_newest_email("$5", "true")}, {_nth_newest_email("$6", "network = $2")},
      (select number from login_emails where email = $1 order by number desc limit 1),
      (select count from login_failures where email = $1), (select last_at from login_failures where email = $1)""")
# Fixed codes of one instant have the same digest.
INSERT_EMAIL: Final = _both("""
    insert into login_emails (digest, email, kind, sent_at, expires_at, network, delays_next, number)
    select $1, $2, $3, $4, $5, $6, $7, $8 where {lock}
    on conflict (digest) do nothing""")
DELETE_EMAILS: Final = _both("delete from login_emails where email = $1 and {lock}")
DELETE_EMAIL: Final = _both("delete from login_emails where digest = $1 and {lock}")
ALLOW_RESEND: Final = _both("update login_emails set delays_next = false where digest = $1")
ALLOW_RESENDS: Final = _both("update login_emails set delays_next = false where email = $1 and {lock}")
FIND_NEWEST_CODE: Final = _both("""
    select digest, sent_at, expires_at, attempts, spent,
      (select count from login_failures where login_failures.email = $1),
      (select last_at from login_failures where login_failures.email = $1)
    from login_emails where email = $1 and kind = 'CODE' order by number desc limit 1""")
FIND_LINK: Final = _both("""
    select email from login_emails where digest = $1 and kind = 'LINK' and not spent and expires_at > $2""")
COUNT_ATTEMPT: Final = _both(
    "update login_emails set attempts = attempts + 1 where digest = $1 and {lock} returning digest"
)
# If $2, earlier failures have expired.
COUNT_FAILURE: Final = _both("""
    insert into login_failures (email, count, last_at) select $1, 1, $3 where {lock}
    on conflict (email) do update
    set count = case when $2 then 1 else login_failures.count + 1 end, last_at = excluded.last_at""")


def _spend(condition: str = "true") -> Statement:
    """Return the change that uses the secret $2 and voids all others to $1. It returns the user, or $3 if new."""
    return _both(f"""
    update login_emails set spent = true
    where email = $1 and not spent
      and exists (select 1 from login_emails where digest = $2 and not spent) and {condition} and {{lock}}
    returning coalesce((select key from users where users.email = $1), $3)""")


SPEND_LINK: Final = _spend()
SPEND_CODE: Final = _spend(
    "$2 = (select digest from login_emails where email = $1 and kind = 'CODE' order by number desc limit 1)"
)
RESET_FAILURES: Final = _both("delete from login_failures where email = $1 and {lock}")

# A decoy row that belongs to no address.
PROBE: Final = _both("update login_failures set count = count + 1 where email = '0'")

# Servers. Only PostgreSQL has the tables `server_keys` and `locks`.

FIND_OTHER_KEY: Final = _both("""
    select true from server_keys where fingerprint <> $1 and seen_at >= $2 and seen_at <= $3 limit 1""")
REGISTER_KEY: Final = _both("""
    insert into server_keys (fingerprint, seen_at) select $1, $2 where {lock}
    on conflict (fingerprint) do update set seen_at = excluded.seen_at returning fingerprint""")
DELETE_OTHER_KEYS: Final = _both("delete from server_keys where fingerprint <> $1 and {lock}")
SWEEP_LOCKS: Final = _both("""
    delete from locks
    where used_at <= $1 and name in (select name from locks where used_at <= $1 order by used_at limit $2)""")

# Sweeps. A condition is repeated if a row may change while a sweep waits for it.

SWEEPS_OF_CLOCKS: Final = [
    _both("""
    delete from schedules
    where clock_key in (select clock_key from schedules where clock_key < $1 order by clock_key limit $2)
    returning 1"""),
    _both("delete from clocks where key in (select key from clocks where key < $1 order by key limit $2) returning 1"),
    _both("""
    delete from creations
    where clock_key < $1 and digest in (select digest from creations where clock_key < $1 order by clock_key limit $2)
    returning 1"""),
    _both("""
    delete from connections where key in (select key from connections where clock_key < $1 order by clock_key limit $2)
    returning 1"""),
]
SWEEP_TOKENS: Final = _both("""
    delete from tokens where digest in (select digest from tokens where expires_at <= $1 order by expires_at limit $2)
    returning 1""")
SWEEP_LINK_TOKENS: Final = _both("""
    delete from link_tokens
    where digest in (select digest from link_tokens where expires_at <= $1 order by expires_at limit $2) returning 1""")
# Earlier emails to the same address too, whatever their timestamps. If the wall clock was set back, an earlier code
# would otherwise outlive a newer one, and become the newest.
SWEEP_SENDS: Final = _both("""
    delete from login_emails
    where digest in (
      select earlier.digest
      from (select email, number from login_emails where sent_at <= $1 order by sent_at limit $2) as old
      join login_emails as earlier on earlier.email = old.email and earlier.number <= old.number)
    returning 1""")
