"""Copies between databases: a copy is complete, and an interrupted copy continues."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.store.copies import (
    NAMES,
    Execute,
    both_directions,
    ignore_progress,
    make_empty,
    rows,
    written,
)
from tests.store.sample_data import fill, open_at
from tests.store.values import ANA, HOUR, NOW, add_clock, clock, code, code_limits, digest, key, sent, user
from tests.support.postgres import PostgresServer
from tickover.server.settings import SettingError
from tickover.server.sign_in.logins import CountedAttempt
from tickover.server.storage.admin.copy import copy
from tickover.server.storage.admin.copy_tables import TABLES
from tickover.server.storage.store import Created, Quota, QuotaExceeded

# Completeness


async def test_copy_and_its_copy_have_all_rows_of_the_source(
    tmp_path: Path, postgres: PostgresServer, execute: Execute
) -> None:
    source, target, back = (
        f"sqlite:///{tmp_path / 'source.db'}",
        postgres.create_database(),
        f"sqlite:///{tmp_path / 'back.db'}",
    )
    await fill(source)
    copied = await copy(source, target, ignore_progress)
    assert [table.table for table in copied] == NAMES
    assert written(copied) == rows(copied)
    assert min(rows(copied).values()) > 0, "an empty table proves nothing"
    await copy(target, back, ignore_progress)
    for table in TABLES:
        query = f"select * from {table.name} where {table.condition} order by 1"
        assert execute(back, query) == execute(source, query), table.name


@both_directions
async def test_quotas_and_the_order_of_codes_continue_in_the_copy(urls: tuple[str, str], execute: Execute) -> None:
    source, target = urls
    async with open_at(source) as store:
        for number in range(5):
            await add_clock(store, clock(number), user(1), bytes(20))
            # The wall clock was set back each time.
            await sent(store, code(number, NOW - number * HOUR))
    # As in a source that has sent more emails than the target.
    execute(source, "update login_sends set number = number + 1000000 where email <> ''")
    await copy(source, target, ignore_progress)
    async with open_at(target) as store:
        new = clock(9), user(1), bytes(10), bytes(16)
        assert await store.create_clock(*new, Quota(bytes=109)) == QuotaExceeded("bytes", key(0))
        assert await store.create_clock(*new, Quota(bytes=110)) == Created()
        for number in (4, 5, 6):
            now = NOW - number * HOUR
            if number > 4:
                await sent(store, code(number, now))
            assert await store.count_attempt(ANA, code_limits(), now) == CountedAttempt(digest(number), now)


async def test_source_left_by_a_crash_is_copied_completely_and_not_changed(
    urls: tuple[str, str], tmp_path: Path
) -> None:
    source, target = urls
    used = f"sqlite:///{tmp_path / 'used.db'}"
    async with open_at(used):  # writes stay in the write-ahead log while the store is open
        await fill(used)
        before = {name: (tmp_path / f"used.db{name}").read_bytes() for name in ("", "-wal")}
    for name, content in before.items():
        (tmp_path / f"source.db{name}").write_bytes(content)
    await copy(source, target, ignore_progress)
    assert {name: (tmp_path / f"source.db{name}").read_bytes() for name in before} == before
    assert set(written(await copy(used, target, ignore_progress)).values()) == {0}


async def test_rows_of_one_database_alone_are_not_copied(urls: tuple[str, str], execute: Execute) -> None:
    source, target = urls
    await fill(source)
    await make_empty(target)
    own = "select count(*), sum(tries) from login_sends where email = ''"
    assert execute(source, own)[0][1] > 0, "a try without a code is counted here"
    execute(target, "update login_sends set tries = 7 where email = ''")
    await copy(source, target, ignore_progress)
    assert execute(target, own) == [("1024", str(7 * 1024))]
    assert execute(target, "select count(*) from login_failures where email not like '%@%'") == [("1024",)]


async def test_every_table_and_column_is_copied(urls: tuple[str, str], execute: Execute) -> None:
    for url in urls:
        await make_empty(url)
        found: dict[str, set[str]] = {}
        for table, column in execute(
            url,
            "select m.name, c.name from sqlite_schema m, pragma_table_info(m.name) c where m.type = 'table'"
            if url.startswith("sqlite")
            else "select table_name, column_name from information_schema.columns where table_schema = 'public'",
        ):
            if not table[-1].isdigit():  # a partition
                # SQLite names the key of a schedule clock_key.
                is_key = (table, column) == ("schedules", "clock_key")
                found.setdefault(table, set()).add("key" if is_key else column)
        for own in ("schema_version", "server_keys"):
            found.pop(own, None)
        for table in ("clocks", "schedules"):
            found[table].discard("slot")
        assert found == {table.name: set(table.columns) for table in TABLES}


# Many rows and large rows


def insert_many_tokens(url: str, execute: Execute, count: int) -> None:
    """Insert enough tokens for several chunks. Only for SQLite, where it is fast."""
    numbers = f"with recursive n (n) as (select 1 union all select n + 1 from n where n < {count})"
    execute(
        url,
        f"insert into tokens (digest, user_key, expires_at) {numbers} select randomblob(32), randomblob(16), n from n",
    )


# Interruptions


class Interrupted(Exception):
    pass


def interrupt_at(stage: str, chunks: int) -> Callable[[str, int, int], None]:
    """Return a report function that raises after this many chunks of the step."""
    seen = 0

    def report(step: str, done: int, of: int) -> None:
        nonlocal seen
        seen += step == stage
        if seen > chunks:
            raise Interrupted

    return report


async def test_interrupted_copy_continues(urls: tuple[str, str], execute: Execute) -> None:
    source, target = urls
    await fill(source)
    insert_many_tokens(source, execute, 12_000)
    with pytest.raises(Interrupted):
        await copy(source, target, interrupt_at("copying tokens", chunks=2))
    assert execute(target, "select count(*) from tokens") == [("10000",)]
    assert execute(target, "select count(*) from clocks") == [("0",)]

    copied = await copy(source, target, ignore_progress)
    assert written(copied) == rows(copied) | {"users": 0, "tokens": rows(copied)["tokens"] - 10_000}
    assert set(written(await copy(source, target, ignore_progress)).values()) == {0}


async def test_addresses_are_sorted_by_bytes_in_any_collation(
    urls: tuple[str, str], execute: Execute, postgres: PostgresServer
) -> None:
    source, target = urls[0], postgres.create_database()
    await make_empty(source)
    await make_empty(target)
    if not execute(target, "select 1 from pg_collation where collname = 'und-x-icu'"):
        pytest.skip("this PostgreSQL was built without other orders than that of bytes")
    execute(target, 'alter table login_failures alter email type text collate "und-x-icu"')
    random = Random(1)
    names = {"".join(random.choices("aAbBzZ_-.+éÉß中0", k=4)) for _ in range(9000)}
    values = ", ".join(f"('{name}@example.test', {number})" for number, name in enumerate(names, 1))
    execute(source, f"insert into login_failures values {values}")
    assert len(names) > 5000
    assert written(await copy(source, target, ignore_progress))["login_failures"] == len(names)
    assert written(await copy(source, target, ignore_progress))["login_failures"] == 0


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_chunk_is_written_completely_or_not_at_all(
    tmp_path: Path, postgres: PostgresServer, execute: Execute, kind: str
) -> None:
    source = f"sqlite:///{tmp_path / 'source.db'}"
    target = postgres.create_database() if kind == "postgres" else f"sqlite:///{tmp_path / 'target.db'}"
    await make_empty(source)
    insert_many_tokens(source, execute, 100)
    await copy(source, target, ignore_progress)
    execute(source, "update tokens set expires_at = expires_at + 100")
    execute(
        target,
        "alter table tokens add check (expires_at <> 150)"
        if kind == "postgres"
        else """create trigger refuse before insert on tokens when new.expires_at = 150
                begin select raise(abort, 'no'); end""",
    )
    with pytest.raises(SettingError, match="was interrupted"):
        await copy(source, target, ignore_progress)
    [(count, last)] = execute(target, "select count(*), max(expires_at) from tokens")
    assert (int(count), int(last)) == (100, 100)
