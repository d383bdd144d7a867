"""The SQL statements about clocks of the SQLite store."""

FIND_SESSION = """
    select key, email, expires_at from tokens join users on key = user_key where digest = ? and expires_at > ?"""
# Changes a decoy row that belongs to no address. The value must change, because SQLite skips writes of equal pages.
PROBE = "update login_failures set count = count + 1 where email = ''"
FIND_SCHEDULE = "select body from schedules where clock_key = ?"
FIND_CLOCK = "select start_time, frozen_time, max_time, name, labels from clocks where key = ? and owner = ?"
INSERT_CLOCK = """
    insert into clocks (key, owner, start_time, frozen_time, max_time, bytes, name, labels)
    values (?, ?, ?, ?, ?, ?, ?, ?)"""
UPDATE_NAMES = "update clocks set name = ?, labels = ?, bytes = bytes + ? where key = ?"
LIST_CLOCKS = """
    select key, start_time, frozen_time, max_time, name, labels from clocks
    where owner = ? and key >= ? and key < ? order by key desc limit ?"""
# The last row has a key alone. It is there if the scan ended early.
SEARCH_CLOCKS = """
    with scanned as materialized (
      select key, start_time, frozen_time, max_time, name, labels from clocks
      where owner = ? and key >= ? and key < ? order by key desc limit ?
    ), found as (
      select * from scanned
      where labels is not null and not exists (select 1 from json_each(?) where instr(labels, value) = 0)
      order by key desc limit ?
    )
    select * from found
    union all
    select min(key), null, null, null, null, null from scanned having count(*) = ?"""
FIND_CREATION = """
    select params, key, start_time, frozen_time, max_time, name, labels, body
    from creations join clocks on key = creations.clock_key join schedules on schedules.clock_key = key
    where digest = ? and owner = ? and key >= ?"""
