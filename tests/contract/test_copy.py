"""Copies between databases: a copy is complete, an interrupted copy continues, and errors are reported."""

import asyncio
import hashlib
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import apsw
import pytest

from tests.contract.sample_data import fill, open_at, query_all
from tests.contract.values import (
    ANA,
    HOUR,
    NOW,
    START,
    add_clock,
    add_clock_once,
    advance,
    clock,
    code,
    code_limits,
    digest,
    key,
    make_record,
    sent,
    session,
    user,
    user_of_token,
)
from tests.support.postgres import PostgresServer
from tickover.server.domain.logins import Claimed, TooSoon, Try
from tickover.server.settings import SettingError
from tickover.server.storage.copy import Copied, copy
from tickover.server.storage.copy_source import TABLES
from tickover.server.storage.migrations import migrations
from tickover.server.storage.store import Created, ExistingClock, Quota, QuotaExceeded, StoredClock, Token

NAMES = [table.name for table in TABLES]
Execute = Callable[[str, str], list[tuple[Any, ...]]]


@pytest.fixture
def urls(request: pytest.FixtureRequest, tmp_path: Path, postgres: PostgresServer) -> tuple[str, str]:
    """New source and target; SQLite files don't exist yet. From SQLite to PostgreSQL by default."""
    source, target = getattr(request, "param", "sqlite postgres").split()
    if source == target == "postgres":
        return postgres.create_database(), request.getfixturevalue("postgres_url")
    return (
        request.getfixturevalue("postgres_url") if source == "postgres" else f"sqlite:///{tmp_path / 'source.db'}",
        request.getfixturevalue("postgres_url") if target == "postgres" else f"sqlite:///{tmp_path / 'target.db'}",
    )


@pytest.fixture
def execute(postgres: PostgresServer) -> Execute:
    """Run SQL without the store, and return the rows. PostgreSQL returns them as text."""

    def run(url: str, sql: str) -> list[tuple[Any, ...]]:
        if url.startswith("sqlite"):
            with closing(apsw.Connection(url.removeprefix("sqlite:///"))) as connection:
                return connection.execute(sql).fetchall()
        lines = postgres.execute(sql, urlsplit(url).path[1:]).splitlines()
        return [tuple(line.split("|")) for line in lines]

    return run


all_directions = pytest.mark.parametrize(
    "urls", ["sqlite postgres", "postgres sqlite", "sqlite sqlite", "postgres postgres"], indirect=True
)
both_directions = pytest.mark.parametrize("urls", ["sqlite postgres", "postgres sqlite"], indirect=True)


def ignore_progress(doing: str, done: int, steps: int) -> None:
    pass


def written(copied: list[Copied]) -> dict[str, int]:
    return {table.table: table.written for table in copied}


def rows(copied: list[Copied]) -> dict[str, int]:
    return {table.table: table.rows for table in copied}


def checksums(copied: list[Copied]) -> dict[str, str]:
    return {table.table: table.checksum for table in copied}


async def make_empty(url: str) -> None:
    async with open_at(url):
        pass


# Completeness


@all_directions
async def test_copy_behaves_like_its_source(urls: tuple[str, str]) -> None:
    source, target = urls
    contents = await fill(source)
    copied = await copy(source, target, ignore_progress)
    assert [table.table for table in copied] == NAMES
    assert written(copied) == rows(copied)
    assert min(rows(copied).values()) > 0, "an empty table proves nothing"

    found = await query_all(target, contents)
    assert found == await query_all(source, contents)
    assert {type(result) for result in found} == {
        bytes,
        type(None),
        list,
        Token,
        StoredClock,
        ExistingClock,
        TooSoon,
        Claimed,
        Try,
    }


async def test_copy_there_and_back_is_equal(urls: tuple[str, str], tmp_path: Path) -> None:
    source, target = urls
    await fill(source)
    there = await copy(source, target, ignore_progress)
    back = await copy(target, f"sqlite:///{tmp_path / 'back.db'}", ignore_progress)
    assert checksums(back) == checksums(there)
    assert len(set(checksums(there).values())) == len(NAMES)


@all_directions
async def test_empty_store_is_copied(urls: tuple[str, str]) -> None:
    source, target = urls
    await make_empty(source)
    copied = await copy(source, target, ignore_progress)
    nothing = hashlib.sha256().hexdigest()
    assert copied == [Copied(name, rows=0, written=0, checksum=nothing) for name in NAMES]
    await fill(target)


@all_directions
async def test_quotas_and_the_order_of_codes_continue_in_the_copy(urls: tuple[str, str]) -> None:
    source, target = urls
    async with open_at(source) as store:
        for number in range(5):
            await add_clock(store, clock(number), user(1), bytes(20))
            # The wall clock was set back each time.
            await sent(store, code(number, NOW - number * HOUR))
    await copy(source, target, ignore_progress)
    async with open_at(target) as store:
        new = clock(9), user(1), bytes(10), bytes(16)
        assert await store.create_clock(*new, Quota(bytes=109)) == QuotaExceeded("bytes", key(0))
        assert await store.create_clock(*new, Quota(bytes=110)) == Created()
        for number in (4, 5, 6):
            now = NOW - number * HOUR
            if number > 4:
                await sent(store, code(number, now))
            assert await store.count_try(ANA, code_limits(), now) == Try(digest(number), now)


async def test_source_left_by_a_crash_is_copied_completely_and_not_changed(
    urls: tuple[str, str], tmp_path: Path
) -> None:
    source, target = urls
    used = f"sqlite:///{tmp_path / 'used.db'}"
    async with open_at(used):  # writes stay in the write-ahead log while the store is open
        contents = await fill(used)
        before = {name: (tmp_path / f"used.db{name}").read_bytes() for name in ("", "-wal")}
    for name, content in before.items():
        (tmp_path / f"source.db{name}").write_bytes(content)
    await copy(source, target, ignore_progress)
    assert {name: (tmp_path / f"source.db{name}").read_bytes() for name in before} == before
    assert await query_all(target, contents) == await query_all(used, contents)


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


@all_directions
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
            if not re.search(r"_\d$", table):  # a partition
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


def insert_many_schedules(url: str, count: int, size: int) -> None:
    random = Random(count)
    with closing(apsw.Connection(url.removeprefix("sqlite:///"))) as connection, connection:
        for number in range(10**6, 10**6 + count):
            values = (key(number), random.randbytes(size))
            connection.execute("insert into schedules values (?, ?)", values)
            connection.execute(
                "insert into clocks values (?, ?, 1, 2, 3, ?, null, null, 0)", (key(number), user(1), size)
            )


@pytest.mark.parametrize("count", [4999, 5000, 5001, 10_000, 12_345])
async def test_tables_of_many_chunks_are_copied_completely(urls: tuple[str, str], execute: Execute, count: int) -> None:
    source, target = urls
    await make_empty(source)
    insert_many_tokens(source, execute, count)
    assert rows(await copy(source, target, ignore_progress))["tokens"] == count
    assert execute(target, "select count(*), sum(expires_at) from tokens") == [
        (str(count), str(count * (count + 1) // 2))
    ]
    assert written(await copy(source, target, ignore_progress))["tokens"] == 0


async def test_chunks_of_large_rows_are_small(urls: tuple[str, str]) -> None:
    source, target = urls
    await make_empty(source)
    insert_many_schedules(source, count=60, size=300_000)
    steps: list[int] = []

    def report(doing: str, done: int, of: int) -> None:
        if doing == "copying schedules":
            steps.append(done)

    await copy(source, target, report)
    sizes = [after - before for before, after in pairwise(steps)]
    assert sum(sizes) == 60
    assert max(sizes) * 300_000 < 5_000_000


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


# Interruptions


class Interrupted(Exception):
    pass


def interrupt_at(stage: str, chunks: int) -> Callable[[str, int, int], None]:
    """Return a report function that raises after this many chunks of the step."""
    seen = 0

    def report(doing: str, done: int, of: int) -> None:
        nonlocal seen
        seen += doing == stage
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


@both_directions
async def test_ctrl_c_at_any_time_leaves_both_databases_consistent(urls: tuple[str, str], tmp_path: Path) -> None:
    source, target = urls
    made_in = f"sqlite:///{tmp_path / 'made.db'}"
    contents = await fill(made_in)
    insert_many_schedules(made_in, count=30, size=300_000)
    await copy(made_in, source, ignore_progress)
    random = Random(1)
    interrupted = 0
    for _ in range(12):
        copying = asyncio.create_task(copy(source, target, ignore_progress))
        asyncio.get_running_loop().call_later(random.uniform(0, 0.3), copying.cancel)
        try:
            await copying
        except asyncio.CancelledError:
            interrupted += 1
        for url in urls:
            async with open_at(url) as store:
                await store.ping()
    assert interrupted > 0
    await copy(source, target, ignore_progress)
    assert await query_all(target, contents) == await query_all(source, contents)


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


async def test_progress_is_reported(urls: tuple[str, str]) -> None:
    source, target = urls
    await fill(source)
    reports: list[tuple[str, int, int]] = []
    copied = await copy(source, target, lambda *progress: reports.append(progress))
    stages = list(dict.fromkeys(doing for doing, _, _ in reports))
    assert stages == [f"{doing} {name}" for doing in ("copying", "checking") for name in NAMES]
    done = [done for _, done, _ in reports]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, 2 * sum(rows(copied).values()))
    assert {steps for _, _, steps in reports} == {done[-1]}


# Differences


CHANGES = {
    "users": "created_at = created_at + 1",
    "tokens": "expires_at = expires_at + 1",
    "schedules": "body = cast('another' as {bytes})",
    "clocks": "frozen_time = frozen_time + 1",
    "creations": "params = cast('another' as {bytes})",
    "login_failures": "count = count + 1",
    "login_sends": "holds_slot = not holds_slot",
}


def change_sql(name: str, url: str) -> str:
    """Return SQL that changes every copied row."""
    changed = CHANGES[name].format(bytes="blob" if url.startswith("sqlite") else "bytea")
    copied = next(table.condition for table in TABLES if table.name == name)
    return f"update {name} set {changed} where {copied}"


@both_directions
async def test_rows_changed_since_are_updated(urls: tuple[str, str], execute: Execute) -> None:
    source, target = urls
    contents = await fill(source)
    last = await copy(source, target, ignore_progress)
    for name in NAMES:
        before = last
        execute(source, change_sql(name, source))
        last = await copy(source, target, ignore_progress)
        assert written(last) == dict.fromkeys(NAMES, 0) | {name: rows(before)[name]}
        assert [table for table in NAMES if checksums(before)[table] != checksums(last)[table]] == [name]
    assert await query_all(target, contents) == await query_all(source, contents)


@pytest.mark.parametrize("name", NAMES)
@both_directions
async def test_target_with_other_data_is_rejected_and_not_changed(
    urls: tuple[str, str], execute: Execute, name: str
) -> None:
    source, target = urls
    await fill(source)
    await copy(source, target, ignore_progress)
    copied = next(table.condition for table in TABLES if table.name == name)
    execute(source, f"delete from {name} where {copied}")
    execute(source, change_sql("users", source))  # the first table to be written
    sum_of_users = "select sum(created_at) from users"
    before = execute(target, sum_of_users)
    with pytest.raises(SettingError, match=f"contains other data: .*{name if name != 'users' else ''}.*Nothing was"):
        await copy(source, target, ignore_progress)
    assert execute(target, sum_of_users) == before


async def test_target_in_use_is_rejected(urls: tuple[str, str]) -> None:
    source, target = urls
    await fill(source, seed=1)
    contents = await fill(target, seed=2)
    with pytest.raises(SettingError, match="contains other data"):
        await copy(source, target, ignore_progress)
    async with open_at(target) as store:
        assert await user_of_token(store, contents.tokens[0], NOW) is not None
        assert await user_of_token(store, session(1000).token_digest, NOW) is None


@pytest.mark.parametrize("harm", ["changed", "lost"])
@both_directions
async def test_damage_to_the_copy_is_detected(urls: tuple[str, str], execute: Execute, harm: str) -> None:
    source, target = urls
    await fill(source)
    for table in TABLES:
        sql = (
            change_sql(table.name, target) if harm == "changed" else f"delete from {table.name} where {table.condition}"
        )

        def report(doing: str, done: int, of: int, sql: str = sql) -> None:
            if doing == "checking users" and done == of / 2:
                execute(target, sql)

        with pytest.raises(SettingError, match=f"differs in the table {table.name}: .* Stop all servers"):
            await copy(source, target, report)
        healed = await copy(source, target, ignore_progress)
        assert written(healed) == dict.fromkeys(NAMES, 0) | {table.name: rows(healed)[table.name]}


async def test_source_in_use_is_detected(urls: tuple[str, str], execute: Execute) -> None:
    source, target = urls
    await fill(source)

    def report(doing: str, done: int, of: int) -> None:
        if doing == "checking users":
            execute(source, change_sql("clocks", source))

    with pytest.raises(SettingError, match="differs in the table clocks"):
        await copy(source, target, report)
    await copy(source, target, ignore_progress)


async def test_lost_target_is_reported_on_one_line(tmp_path: Path) -> None:
    source = f"sqlite:///{tmp_path / 'source.db'}"
    await fill(source)
    with PostgresServer() as server:
        target = server.create_database()

        def report(doing: str, done: int, of: int) -> None:
            if doing == "copying clocks" and server.is_running:
                server.stop("immediate")

        with pytest.raises(SettingError, match=r"was interrupted: .+[^.]\. Run it again to continue"):
            await copy(source, target, report)
        server.start()
        assert written(await copy(source, target, ignore_progress))["users"] == 0


# Rejected sources and targets


RELATIONS = "select relname from pg_class where relnamespace = 'public'::regnamespace"


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("target_kind", ["sqlite", "postgres"])
async def test_missing_source_is_rejected_and_nothing_is_created(
    tmp_path: Path, target_kind: str, postgres: PostgresServer, execute: Execute
) -> None:
    target = postgres.create_database() if target_kind == "postgres" else f"sqlite:///{tmp_path / 'target.db'}"
    with pytest.raises(SettingError, match=r"The database .*source\.db doesn't exist"):
        await copy(f"sqlite:///{tmp_path / 'source.db'}", target, ignore_progress)
    assert names_in(tmp_path) == []
    if target_kind == "postgres":
        assert execute(target, RELATIONS) == []


async def test_missing_postgres_source_is_rejected_without_its_password(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    with pytest.raises(SettingError, match="nowhere") as error:
        await copy(postgres.url("nowhere"), f"sqlite:///{tmp_path / 'target.db'}", ignore_progress)
    assert postgres.password not in str(error.value)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b"", r"is not up to date\. Start this Tickover on it once", id="empty"),
        pytest.param(b"Dear diary, " * 100, "Can't use the database .*: file is not a database", id="not a database"),
    ],
)
async def test_other_file_is_rejected(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "source.db").write_bytes(content)
    with pytest.raises(SettingError, match=reason):
        await copy(f"sqlite:///{tmp_path / 'source.db'}", f"sqlite:///{tmp_path / 'target.db'}", ignore_progress)
    assert not (tmp_path / "target.db").exists()
    assert (tmp_path / "source.db").read_bytes() == content


async def test_old_source_is_rejected_and_not_upgraded(urls: tuple[str, str], execute: Execute) -> None:
    source, target = urls
    execute(source, f"{migrations('sqlite')[0].sql}; pragma user_version = 1")
    with pytest.raises(SettingError, match="Start this Tickover on it once"):
        await copy(source, target, ignore_progress)
    assert execute(source, "pragma user_version") == [(1,)]


async def test_postgres_source_without_a_schema_is_rejected_and_gets_none(
    tmp_path: Path, postgres: PostgresServer, execute: Execute
) -> None:
    source = postgres.create_database()
    with pytest.raises(SettingError, match="Start this Tickover on it once"):
        await copy(source, f"sqlite:///{tmp_path / 'target.db'}", ignore_progress)
    assert execute(source, RELATIONS) == []
    assert names_in(tmp_path) == []


async def test_source_of_a_newer_version_is_rejected(urls: tuple[str, str], execute: Execute) -> None:
    source, target = urls
    await make_empty(source)
    execute(source, "pragma user_version = 99")
    with pytest.raises(SettingError, match="newer Tickover"):
        await copy(source, target, ignore_progress)


@pytest.mark.parametrize("wrong", ["", "tickover.db", "sqlite:tickover.db", "mysql://root:secret@host/db"])
async def test_unknown_urls_are_rejected(tmp_path: Path, wrong: str) -> None:
    good = f"sqlite:///{tmp_path / 'good.db'}"
    await make_empty(good)
    for urls in ((wrong, good), (good, wrong)):
        with pytest.raises(SettingError, match="must look like") as error:
            await copy(*urls, ignore_progress)
        assert "secret" not in str(error.value)


async def test_file_is_not_copied_onto_itself(tmp_path: Path) -> None:
    source = f"sqlite:///{tmp_path / 'source.db'}"
    await fill(source)
    (tmp_path / "link.db").symlink_to(tmp_path / "source.db")
    for target in (source, f"sqlite:///{tmp_path}/./source.db", f"sqlite:///{tmp_path / 'link.db'}"):
        with pytest.raises(SettingError, match="are the same file"):
            await copy(source, target, ignore_progress)


async def test_postgres_database_is_not_copied_onto_itself(postgres_url: str) -> None:
    await fill(postgres_url)
    for target in (postgres_url, f"{postgres_url}?application_name=another"):
        with pytest.raises(SettingError, match="is the source itself"):
            await copy(postgres_url, target, ignore_progress)


async def test_second_copy_to_the_same_database_is_rejected(urls: tuple[str, str]) -> None:
    source, target = urls
    await fill(source)
    errors: list[BaseException | None] = []

    def report(doing: str, done: int, of: int) -> None:
        with ThreadPoolExecutor(1) as thread:
            errors.append(thread.submit(asyncio.run, copy(source, target, ignore_progress)).exception())

    await copy(source, target, report)
    expected = (
        "The target is the source itself, or another copy uses the same database. "
        "Use another target, or wait for the other copy."
    )
    assert {str(error) for error in errors} == {expected}


async def test_server_that_uses_the_target_finds_all_data(urls: tuple[str, str]) -> None:
    source, target = urls
    contents = await fill(source)
    async with open_at(target) as store:
        await copy(source, target, ignore_progress)
        for token in contents.tokens:
            assert await user_of_token(store, token, NOW) is not None
        for clock_key, owner in contents.clocks:
            assert await advance(store, clock_key, owner, START) is not None
        for number, owner in contents.creations:
            assert isinstance(await add_clock_once(store, make_record(number), clock(7_000_000), owner), ExistingClock)
