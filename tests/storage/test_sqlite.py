"""The SQLite store as a file: how safely it is written, what it refuses to open, and how it shares with others."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.contract.values import (
    ANA,
    MINUTE,
    NOW,
    START,
    add_clock,
    advance,
    claim,
    clock,
    code,
    code_limits,
    key,
    schedule_of,
    sent,
    session,
    user,
)
from tests.support.debian_packages import need
from tickover.api.errors import Reason, Rejection
from tickover.api.limits import CLOCK_LIFETIME
from tickover.api.timestamps import to_micros
from tickover.server.settings import SettingError
from tickover.server.storage import open_store
from tickover.server.storage.migrations import Migration, migrations, pending
from tickover.server.storage.sqlite.store import SqliteStore

_ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tickover.db"


# Safety


@pytest.mark.parametrize(
    ("pragma", "value"),
    [("journal_mode", "wal"), ("synchronous", 2), ("fullfsync", 1), ("checkpoint_fullfsync", 1)],
)
async def test_every_connection_writes_safely(path: Path, pragma: str, value: object) -> None:
    store = await SqliteStore.open(path)
    assert store._writing.pragma(pragma) == value
    assert store._reading.pragma(pragma) == value
    await store.close()


_WRITE_AND_SAY_SO = """
import asyncio, os, sys
from pathlib import Path
from tests.contract.values import clock, add_clock, user
from tickover.server.storage.sqlite.store import SqliteStore

async def main():
    store = await SqliteStore.open(Path(sys.argv[1]))
    for number in range(3):
        await add_clock(store, clock(number), user(1))
        os.write(1, b"it is kept")
    await store.close()

asyncio.run(main())
"""


def test_what_was_answered_is_on_the_disk(path: Path, tmp_path: Path) -> None:
    """Seen from the kernel: between the last write to the log and the answer, the log was made safe."""
    trace = tmp_path / "trace"
    watch = [need("strace"), "-f", "-y", "-e", "trace=write,pwrite64,fsync,fdatasync", "-o", str(trace)]
    program = [sys.executable, "-c", _WRITE_AND_SAY_SO, str(path)]
    watched = subprocess.run([*watch, *program], cwd=_ROOT, capture_output=True, check=False, timeout=60)
    if b"ptrace" in watched.stderr.lower():
        pytest.skip("this machine does not let strace watch other processes")
    assert watched.stdout == b"it is kept" * 3, watched.stderr.decode()
    assert _before_each_answer(trace.read_text(), "it is kept") == [["written", "safe"]] * 3


def _before_each_answer(trace: str, answer: str) -> list[list[str]]:
    """The last two things that had happened to the log before each of the answers, repetitions left out."""
    found, happened = [], [""]
    for call in trace.splitlines():
        if answer in call:
            found.append(happened[-2:])
            happened = [""]
        elif re.search(r"pwrite64\(.*tickover\.db-wal>", call):
            happened += ["written"] if happened[-1] != "written" else []
        elif re.search(r"sync\(.*tickover\.db-wal>\) += 0|sync resumed>", call):
            happened += ["safe"] if happened[-1] != "safe" else []
    return found


# Opening


async def test_the_file_and_its_folder_are_made(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path / 'new' / 'folder' / 'tickover.db'}")
    await store.ping()
    await store.close()
    assert (tmp_path / "new" / "folder" / "tickover.db").is_file()
    assert (tmp_path / "new" / "folder").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "url",
    ["", "tickover.db", "sqlite:", "sqlite://", "sqlite:///", "sqlite:/x.db", "mysql:///x", "SQLITE:///x.db"],
)
async def test_a_url_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(SettingError, match="TICKOVER_DATABASE_URL"):
        await open_store(url)


def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    path.write_text("Dear diary, " * 1000)
    with pytest.raises(SettingError, match=re.escape(str(path))):
        asyncio.run(SqliteStore.open(path))
    assert path.read_text() == "Dear diary, " * 1000


async def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=re.escape(str(tmp_path))):
        await SqliteStore.open(tmp_path)


def test_a_file_in_the_place_of_the_folder_is_refused(path: Path) -> None:
    path.write_text("a file")
    with pytest.raises(SettingError, match="Cannot open"):
        asyncio.run(SqliteStore.open(path / "tickover.db"))


# Migrations


def _version(path: Path) -> int:
    with closing(apsw.Connection(str(path))) as connection:
        return int(connection.pragma("user_version"))


def _tables(path: Path) -> set[str]:
    with closing(apsw.Connection(str(path))) as connection:
        return {str(name) for (name,) in connection.execute("select name from sqlite_schema where type = 'table'")}


async def test_a_new_file_is_brought_up_to_date(path: Path) -> None:
    await (await SqliteStore.open(path)).close()
    assert _version(path) == migrations("sqlite")[-1].number
    before = _tables(path)
    await (await SqliteStore.open(path)).close()
    assert _tables(path) == before


async def test_a_database_of_a_newer_program_is_refused_and_left_alone(path: Path) -> None:
    await (await SqliteStore.open(path)).close()
    newer = migrations("sqlite")[-1].number + 1
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("user_version", newer)
    with pytest.raises(SettingError, match=f"version {newer}"):
        await SqliteStore.open(path)
    assert _version(path) == newer


async def test_a_migration_that_breaks_leaves_nothing(path: Path) -> None:
    """A database of someone else, in which a table of ours is in the way halfway through."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("create table schedules (of trains)")
    with pytest.raises(SettingError, match=re.escape(str(path))):
        await SqliteStore.open(path)
    assert _tables(path) == {"schedules"}
    assert _version(path) == 0


def test_migrations_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in migrations("sqlite")] == [
        *range(1, len(migrations("sqlite")) + 1),
    ]


_THREE = [Migration(number, f"{number:04}_step", "") for number in (1, 2, 3)]


@pytest.mark.parametrize(
    ("version", "missing"), [pytest.param(0, [1, 2, 3], id="new"), (1, [2, 3]), (2, [3]), pytest.param(3, [], id="now")]
)
def test_what_a_database_lacks_comes_in_order(version: int, missing: list[int]) -> None:
    assert [migration.number for migration in pending(_THREE, version)] == missing


def test_a_version_that_nobody_knows_is_refused() -> None:
    with pytest.raises(SettingError, match="newer Tickover"):
        pending(_THREE, 4)


# Sharing


_OPEN_AND_SAY_SO = """
import asyncio, sys
from pathlib import Path
from tickover.server.storage.sqlite.store import SqliteStore

async def main():
    sys.stdin.read()
    store = await SqliteStore.open(Path(sys.argv[1]))
    await store.ping()
    await store.close()
    print("ready")

asyncio.run(main())
"""


def test_programs_that_start_at_once_on_a_new_file_all_come_up(path: Path) -> None:
    command = [sys.executable, "-c", _OPEN_AND_SAY_SO, str(path)]
    programs = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)]
    for program in programs:  # each opens the file when its input ends
        assert program.stdin is not None
        program.stdin.close()
        program.stdin = None
    assert [program.communicate(timeout=60)[0] for program in programs] == [b"ready\n"] * 4


async def test_two_stores_on_one_file_count_as_one(path: Path) -> None:
    stores = [await SqliteStore.open(path) for _ in range(2)]
    await add_clock(stores[0], clock(1), user(1))
    for number in range(10):
        now = NOW + number * MINUTE
        claims = [claim(stores[n % 2], code(number * 50 + n, now)) for n in range(50)]
        assert (await asyncio.gather(*claims)).count(None) == 1
        tries = await asyncio.gather(*(stores[n % 2].count_try(ANA, code_limits(), now) for n in range(50)))
        assert tries.count(None) == 45
        targets = [START + number * MINUTE + n * (MINUTE / 60) for n in range(50)]
        await asyncio.gather(*(advance(stores[n % 2], key(1), user(1), to) for n, to in enumerate(targets)))
        for store in stores:
            stands = await advance(store, key(1), user(1), START)
            assert stands is not None
            assert stands.frozen_time == targets[-1]
    for store in stores:
        await store.close()


async def test_while_another_program_writes_the_store_is_unavailable_but_reads(path: Path) -> None:
    store = await SqliteStore.open(path)
    store._writing.set_busy_timeout(20)
    letter = await sent(store, code(1))
    await store.redeem_code(ANA, letter.digest, session(1))
    with closing(apsw.Connection(str(path))) as other:
        other.execute("begin immediate")
        outcomes = await asyncio.gather(
            store.ping(),
            add_clock(store, clock(2), user(1)),
            store.count_try(ANA, code_limits(), NOW),
            return_exceptions=True,
        )
        assert [outcome.reason for outcome in outcomes if isinstance(outcome, Rejection)] == [Reason.UNAVAILABLE] * 3
        assert await store.user_of_token(session(1).token_digest, NOW) == user(1)
        other.execute("rollback")
    await store.ping()
    await add_clock(store, clock(2), user(1))
    await store.close()


async def test_readiness_is_answered_before_the_lock_is_given_up(path: Path) -> None:
    store = await SqliteStore.open(path)
    with closing(apsw.Connection(str(path))) as other:
        other.execute("begin immediate")
        writing = asyncio.create_task(add_clock(store, clock(1), user(1)))
        with pytest.raises(Rejection) as refused:
            await store.ping()
        assert refused.value.reason is Reason.UNAVAILABLE
        assert not writing.done(), "a write waits longer than the question whether the store answers"
        other.execute("rollback")
    await writing
    await store.ping()
    await store.close()


# Looking up


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    """One that lets Ana in."""
    opened = await SqliteStore.open(path)
    letter = await sent(opened, code(1))
    assert await opened.redeem_code(ANA, letter.digest, session(1)) == user(1)
    yield opened
    await opened.close()


async def _is_let_in(store: SqliteStore, number: int = 1) -> bool:
    """Asked without a turn of the event loop."""
    return await store.user_of_token(session(number).token_digest, NOW) is not None


async def test_one_turn_of_the_loop_sees_one_state_and_the_next_what_was_written_meanwhile(
    store: SqliteStore, path: Path
) -> None:
    with closing(apsw.Connection(str(path))) as other:
        assert await _is_let_in(store)
        other.execute("delete from tokens")
        assert await _is_let_in(store), "the same turn"
        await asyncio.sleep(0)
        assert not await _is_let_in(store)
        other.execute(
            "insert into tokens values (?, ?, ?)", (session(1).token_digest, user(1), to_micros(session(1).expires_at))
        )
        assert not await _is_let_in(store), "the same turn"
        await asyncio.sleep(0)
        assert await _is_let_in(store)


async def test_whoever_is_told_of_a_revoked_token_finds_it_revoked_in_every_store(
    store: SqliteStore, path: Path
) -> None:
    other = await SqliteStore.open(path)
    assert await _is_let_in(store)
    assert await _is_let_in(other)
    await other.revoke_token(session(1).token_digest)
    assert not await _is_let_in(other)
    assert not await _is_let_in(store)
    await other.close()


async def test_what_was_written_here_is_found_here_whatever_was_looked_up_before(store: SqliteStore) -> None:
    letter = await sent(store, code(2, NOW + 2 * MINUTE))

    async def look_up_all_the_while() -> None:
        while True:
            await _is_let_in(store)
            await asyncio.sleep(0)

    looking = asyncio.create_task(look_up_all_the_while())
    for _ in range(20):
        assert await _is_let_in(store)
        await store.revoke_token(session(1).token_digest)
        assert not await _is_let_in(store)
        await store._writer.submit(
            lambda db: db.execute("insert into tokens values (?, ?, 9e18)", (session(1).token_digest, user(1))).close()
        )
        assert await _is_let_in(store)
    assert await store.redeem_code(ANA, letter.digest, session(2, NOW + 2 * MINUTE)) == user(1)
    assert await _is_let_in(store, 2)
    looking.cancel()


async def test_a_look_up_keeps_no_writer_from_tidying_up(store: SqliteStore, path: Path) -> None:
    """What was read from is not held on to: the whole log can be put into the file and emptied."""
    assert await _is_let_in(store)
    await asyncio.sleep(0)
    with closing(apsw.Connection(str(path))) as other:
        assert other.execute("pragma wal_checkpoint(truncate)").fetchall() == [(0, 0, 0)]


async def test_a_store_closes_right_after_a_look_up(path: Path) -> None:
    store = await SqliteStore.open(path)
    assert not await _is_let_in(store)
    await store.close()
    with pytest.raises(Rejection) as refused:
        await _is_let_in(store)
    assert refused.value.reason is Reason.UNAVAILABLE


async def test_a_store_closes_cleanly_in_the_midst_of_look_ups(path: Path) -> None:
    troubles: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: troubles.append(context))

    async def look_up_until_closed(store: SqliteStore) -> None:
        with pytest.raises(Rejection):  # noqa: PT012 - which one is refused is the question
            while True:
                assert not await _is_let_in(store)
                await asyncio.sleep(0)

    for _ in range(20):
        store = await SqliteStore.open(path)
        await asyncio.gather(*(look_up_until_closed(store) for _ in range(3)), store.close())
    assert troubles == []


async def test_a_look_up_that_fails_is_unavailable_and_the_next_is_answered(store: SqliteStore, path: Path) -> None:
    with closing(apsw.Connection(str(path))) as other:
        other.execute("alter table tokens rename to hidden")
        with pytest.raises(apsw.SQLError):
            await _is_let_in(store)
        other.execute("alter table hidden rename to tokens")
    await asyncio.sleep(0)
    assert await _is_let_in(store)


# A disk or a file that fails


async def test_a_full_disk_keeps_no_part_of_a_clock(path: Path) -> None:
    store = await SqliteStore.open(path)
    store._writing.pragma("max_page_count", store._writing.pragma("page_count") + 5)
    with pytest.raises(Rejection) as refused:
        await add_clock(store, clock(1), user(1), bytes(1_000_000))
    assert refused.value.reason is Reason.UNAVAILABLE
    assert await schedule_of(store, key(1), user(1)) is None
    assert await advance(store, key(1), user(1), START) is None
    await add_clock(store, clock(1), user(1))
    await store.close()


@pytest.mark.parametrize(
    "fate", [Path.unlink, lambda path: path.rename(path.with_name("elsewhere.db"))], ids=["deleted", "moved"]
)
async def test_a_file_that_is_gone_is_written_to_no_more(tmp_path: Path, fate: Callable[[Path], object]) -> None:
    path = tmp_path / "tickover.db"
    store = await open_store(f"sqlite:///{path}")
    await add_clock(store, clock(1), user(1))
    fate(path)
    for act in (store.ping(), add_clock(store, clock(2), user(1))):
        with pytest.raises(Rejection) as refused:
            await act
        assert refused.value.reason is Reason.UNAVAILABLE
    await store.close()


async def test_a_clock_is_swept_at_its_very_end_whatever_else_lives(path: Path) -> None:
    """Sooner than every store must."""
    store = await SqliteStore.open(path)
    births = [NOW - CLOCK_LIFETIME + age * MINUTE for age in (-2, -1, 0, 1, 2)]
    for number, born in enumerate(births):
        await add_clock(store, clock(number, born), user(1))
    while await store.sweep(NOW, 2):
        pass
    left = [await schedule_of(store, key(number, born), user(1)) is not None for number, born in enumerate(births)]
    assert left == [False, False, False, True, True]
    await store.close()
