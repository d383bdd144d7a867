"""The SQLite store as a file: durability, files that it rejects, and shared use."""

import asyncio
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import current_thread, main_thread

import apsw
import pytest

from tests.store.values import (
    ANA,
    MINUTE,
    NOW,
    START,
    add_clock,
    clock,
    code,
    code_limits,
    key,
    make_record,
    sent,
    session,
    user,
    user_of_token,
)
from tests.support.debian_packages import require_program
from tests.support.repository import ROOT
from tickover.api.errors import Reason, Rejection
from tickover.api.timestamps import to_micros
from tickover.server.settings import SettingError
from tickover.server.storage import open_store
from tickover.server.storage.sqlite.connection import connect
from tickover.server.storage.sqlite.store import _MAX_INLINE_SCHEDULE, SqliteStore
from tickover.server.storage.store import Amended, Amendment, DatabaseUnavailable, Quota

# Durability


@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("fullfsync", 1), ("checkpoint_fullfsync", 1)]
)
async def test_every_connection_writes_durably(store: SqliteStore, pragma: str, value: object) -> None:
    assert store._writing.pragma(pragma) == value
    assert store._reading.pragma(pragma) == value


_WRITE_AND_PRINT = """
import asyncio, os, sys
from pathlib import Path
from tests.store.values import clock, add_clock, user
from tickover.server.storage.sqlite.store import SqliteStore

async def main():
    store = await SqliteStore.open(Path(sys.argv[1]))
    for number in range(3):
        await add_clock(store, clock(number), user(1))
        os.write(1, b"it is stored")
    await store.close()

asyncio.run(main())
"""


def test_confirmed_writes_are_on_the_disk(path: Path, tmp_path: Path) -> None:
    """A system call trace shows that the log is synced between its last write and the confirmation."""
    trace = tmp_path / "trace"
    watch = [require_program("strace"), "-f", "-y", "-e", "trace=write,pwrite64,fsync,fdatasync", "-o", str(trace)]
    program = [sys.executable, "-c", _WRITE_AND_PRINT, str(path)]
    watched = subprocess.run([*watch, *program], cwd=ROOT, capture_output=True, check=False, timeout=60)
    if b"ptrace" in watched.stderr.lower():
        pytest.skip("this machine doesn't let strace watch other processes")
    assert watched.stdout == b"it is stored" * 3, watched.stderr.decode()
    assert _before_each_confirmation(trace.read_text(), "it is stored") == [["written", "safe"]] * 3


def _before_each_confirmation(trace: str, confirmation: str) -> list[list[str]]:
    """Return the last two operations on the log before each confirmation, without repetitions."""
    found, happened = [], [""]
    for call in trace.splitlines():
        if confirmation in call:
            found.append(happened[-2:])
            happened = [""]
        elif re.search(r"pwrite64\(.*tickover\.db-wal>", call):
            happened += ["written"] if happened[-1] != "written" else []
        elif re.search(r"sync\(.*tickover\.db-wal>\) += 0|sync resumed>", call):
            happened += ["safe"] if happened[-1] != "safe" else []
    return found


# Opening


async def test_file_and_directory_are_created(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path / 'new' / 'folder' / 'tickover.db'}")
    await store.ping()
    await store.close()
    assert (tmp_path / "new" / "folder" / "tickover.db").is_file()
    assert (tmp_path / "new" / "folder").stat().st_mode & 0o777 == 0o700


def test_file_that_is_not_a_database_is_rejected_and_not_changed(path: Path) -> None:
    path.write_text("Dear diary, " * 1000)
    with pytest.raises(SettingError, match=re.escape(str(path))):
        asyncio.run(SqliteStore.open(path))
    assert path.read_text() == "Dear diary, " * 1000


def _damage(path: Path) -> None:
    """Overwrite the first page of each table and index, but not the schema."""
    with closing(apsw.Connection(str(path))) as database:
        roots = [page for (page,) in database.execute("select rootpage from sqlite_schema where rootpage > 1")]
    content = bytearray(path.read_bytes())
    for page in roots:
        content[(page - 1) * 4096 : page * 4096] = b"\xaa" * 4096
    path.write_bytes(content)


async def test_damaged_file_says_so(path: Path) -> None:
    store = await SqliteStore.open(path)
    await sent(store, code(1))
    await store.close()
    _damage(path)
    store = await SqliteStore.open(path)
    for call in (store.find_token(bytes(32), NOW), sent(store, code(2)), store.ping()):
        with pytest.raises(Rejection, match=r"^The database file is damaged\. The operator must"):
            await call
    await store.close()


# Disk


async def test_ping_needs_room_for_large_calls(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickover.server.storage.sqlite.store.MIN_FREE_BYTES", 2**60)
    with pytest.raises(Rejection) as rejected:
        await store.ping()
    assert isinstance(rejected.value, DatabaseUnavailable)
    assert isinstance(rejected.value.error, apsw.FullError)
    monkeypatch.undo()
    await store.ping()


async def test_ping_fails_if_the_folder_was_deleted(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "folder" / "tickover.db")
    shutil.rmtree(tmp_path / "folder")
    with pytest.raises(Rejection, match=r"^The folder of the database is missing\.$"):
        await store.ping()
    await store.close()


# Migrations


def _version(path: Path) -> int:
    with closing(apsw.Connection(str(path))) as connection:
        return int(connection.pragma("user_version"))


def _tables(path: Path) -> set[str]:
    with closing(apsw.Connection(str(path))) as connection:
        return {str(name) for (name,) in connection.execute("select name from sqlite_schema where type = 'table'")}


async def test_failed_migration_leaves_nothing(path: Path) -> None:
    """A database of another program has a table with the name of a later one."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("create table schedules (of trains)")
    with pytest.raises(SettingError, match=re.escape(str(path))):
        await SqliteStore.open(path)
    assert _tables(path) == {"schedules"}
    assert _version(path) == 0


# Shared use


_OPEN_AND_PRINT = """
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


def test_processes_that_start_together_on_a_new_file_all_start(path: Path) -> None:
    command = [sys.executable, "-c", _OPEN_AND_PRINT, str(path)]
    programs = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)]
    for program in programs:  # each opens the file when its input ends
        assert program.stdin is not None
        program.stdin.close()
        program.stdin = None
    assert [program.communicate(timeout=60)[0] for program in programs] == [b"ready\n"] * 4


def test_start_waits_for_a_process_that_writes_to_a_new_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite itself doesn't wait when it switches to write-ahead logging."""
    with closing(apsw.Connection(str(path))) as other:
        other.execute("create table beside (number); begin immediate")
        monkeypatch.setattr("time.sleep", lambda _: other.execute("commit"))
        connect(path).close()
        assert not other.in_transaction


async def test_locked_store_is_unavailable_for_writes_but_reads(store: SqliteStore, path: Path) -> None:
    store._writer._lock_wait_milliseconds = 20
    message = await sent(store, code(1))
    await store.redeem_code(ANA, message.digest, session(1))
    with closing(apsw.Connection(str(path))) as other:
        other.execute("begin immediate")
        outcomes = await asyncio.gather(
            store.ping(),
            add_clock(store, clock(2), user(1)),
            store.count_attempt(ANA, code_limits(), NOW),
            return_exceptions=True,
        )
        assert [outcome.reason for outcome in outcomes if isinstance(outcome, Rejection)] == [Reason.UNAVAILABLE] * 3
        assert await user_of_token(store, session(1).token_digest, NOW) == user(1)
        other.execute("rollback")
    await store.ping()
    await add_clock(store, clock(2), user(1))


async def test_readiness_responds_before_the_lock_wait_ends(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tickover.server.storage.write_probe._TIMEOUT_SECONDS", 0.05)
    with closing(apsw.Connection(str(path))) as other:
        other.execute("begin immediate")
        writing = asyncio.create_task(add_clock(store, clock(1), user(1)))
        with pytest.raises(Rejection) as error:
            await store.ping()
        assert error.value.reason is Reason.UNAVAILABLE
        assert not writing.done(), "a write waits longer than a readiness check"
        other.execute("rollback")
    await writing
    monkeypatch.undo()
    await store.ping()


# Reads


@pytest.fixture
async def token(store: SqliteStore) -> None:
    """Sign Ana in."""
    message = await sent(store, code(1))
    assert await store.redeem_code(ANA, message.digest, session(1)) == user(1)


async def _is_valid(store: SqliteStore, number: int = 1) -> bool:
    """Read without an iteration of the event loop."""
    return await user_of_token(store, session(number).token_digest, NOW) is not None


@pytest.mark.usefixtures("token")
async def test_reads_of_one_loop_iteration_see_one_state_and_later_ones_see_new_writes(
    store: SqliteStore, path: Path
) -> None:
    with closing(apsw.Connection(str(path))) as other:
        assert await _is_valid(store)
        other.execute("delete from tokens")
        assert await _is_valid(store), "the same iteration"
        await asyncio.sleep(0)
        assert not await _is_valid(store)
        other.execute(
            "insert into tokens (digest, user_key, expires_at) values (?, ?, ?)",
            (session(1).token_digest, user(1), to_micros(session(1).expires_at)),
        )
        assert not await _is_valid(store), "the same iteration"
        await asyncio.sleep(0)
        assert await _is_valid(store)


@pytest.mark.usefixtures("token")
async def test_own_writes_are_visible_to_later_reads(store: SqliteStore) -> None:
    message = await sent(store, code(2, NOW + 2 * MINUTE))

    async def read_continuously() -> None:
        while True:
            await _is_valid(store)
            await asyncio.sleep(0)

    looking = asyncio.create_task(read_continuously())
    for _ in range(20):
        assert await _is_valid(store)
        await store.revoke_token(session(1).token_digest)
        assert not await _is_valid(store)
        await store._writer.submit(
            lambda db: db.execute(
                "insert into tokens (digest, user_key, expires_at) values (?, ?, 4000000000000000)",
                (session(1).token_digest, user(1)),
            ).close()
        )
        assert await _is_valid(store)
    assert await store.redeem_code(ANA, message.digest, session(2, NOW + 2 * MINUTE)) == user(1)
    assert await _is_valid(store, 2)
    looking.cancel()


@pytest.mark.usefixtures("token")
async def test_reads_do_not_block_checkpoints(store: SqliteStore, path: Path) -> None:
    """A finished read releases its snapshot, so a checkpoint can empty the whole log."""
    assert await _is_valid(store)
    await asyncio.sleep(0)
    with closing(apsw.Connection(str(path))) as other:
        assert other.execute("pragma wal_checkpoint(truncate)").fetchall() == [(0, 0, 0)]


# Failing disks and files


@pytest.mark.parametrize(
    "fate", [Path.unlink, lambda path: path.rename(path.with_name("elsewhere.db"))], ids=["deleted", "moved"]
)
async def test_deleted_or_moved_file_is_not_written(
    store: SqliteStore, path: Path, fate: Callable[[Path], object]
) -> None:
    await add_clock(store, clock(1), user(1))
    fate(path)
    for act in (store.ping(), add_clock(store, clock(2), user(1))):
        with pytest.raises(Rejection) as error:
            await act
        assert error.value.reason is Reason.UNAVAILABLE
    await store.close()


@pytest.mark.parametrize("is_large", [False, True])
async def test_large_schedules_are_not_written_on_the_event_loop(store: SqliteStore, is_large: bool) -> None:
    schedule = bytes(_MAX_INLINE_SCHEDULE + is_large)
    on_the_loop: list[bool] = []

    def trace(_cursor: apsw.Cursor, statement: str, _bindings: object) -> bool:
        if statement.startswith(("insert into schedules", "update schedules")):
            on_the_loop.append(current_thread() is main_thread())
        return True

    store._writing.exec_trace = trace
    await store.create_clock(clock(1), user(1), schedule, Quota())
    await store.create_clock(clock(2), user(1), schedule, Quota(), make_record(1))
    amendment = Amendment(0, START, schedule)
    assert isinstance(await store.amend_clock(key(1), user(1), amendment, Quota()), Amended)
    assert on_the_loop == [not is_large] * 3
