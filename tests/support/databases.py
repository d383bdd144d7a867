"""New and empty databases for tests: SQLite files, and databases of one PostgreSQL server that all tests share."""

import asyncio
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import asyncpg
import pytest

from tests.support.postgres import PostgresServer
from tickover.server.storage import open_store

_RUN = pytest.StashKey[Path]()
_WAIT_SECONDS = 900.0  # PostgreSQL may have to be installed

_TABLES = """
    select relation.oid::regclass::text from pg_class as relation
    where relation.relkind = 'r' and relation.relnamespace = 'public'::regnamespace"""
_SHAPE = """
    select array_agg((oid, relname, relnatts, relispartition) order by oid)::text
    from pg_class where relnamespace = 'public'::regnamespace"""


class _SharedServer:
    """Started at the first wish, by the process that leads all workers, so that it can outlive any of these.

    A wish is a byte in a pipe; the answer is a file beside it.
    """

    def __init__(self, run: Path) -> None:
        os.mkfifo(run / "wishes")
        self._run = run
        self._wishes = os.open(run / "wishes", os.O_RDWR)
        self._server: PostgresServer | None = None
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    def close(self) -> None:
        os.write(self._wishes, b"x")
        self._thread.join()
        if self._server is not None:
            self._server.remove()
        os.close(self._wishes)
        shutil.rmtree(self._run)

    def _work(self) -> None:
        if os.read(self._wishes, 1) == b"x":
            return
        answer: dict[str, Any]
        try:
            self._server = PostgresServer()
            self._server.start()
            answer = {"place": [str(self._server.folder), self._server.port, self._server.password]}
        except Exception as trouble:
            answer = {"trouble": str(trouble)}
        written = self._run / "answer.new"
        written.write_text(json.dumps(answer))
        written.rename(self._run / "answer")


def pytest_configure(config: pytest.Config) -> None:
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None:
        config.stash[_RUN] = Path(worker["tickover_run"])
    else:
        config.stash[_RUN] = Path(tempfile.mkdtemp(prefix="tickover-tests-"))
        config.add_cleanup(_SharedServer(config.stash[_RUN]).close)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Called for each worker, if there are any."""
    node.workerinput["tickover_run"] = str(node.config.stash[_RUN])


class EmptiedDatabase:
    """One database for each worker, emptied before each test: to make a new one would take ten times as long.

    It is emptied to what the store itself had made of it. If a test has changed more than rows, it is made anew.
    """

    def __init__(self, server: PostgresServer, name: str) -> None:
        self._server = server
        self._name = name
        self._loop = asyncio.new_event_loop()
        self._connection: asyncpg.Connection | None = None
        self._shape = ""
        self._empty = ""

    def url(self) -> str:
        self._loop.run_until_complete(self._renew())
        return self._server.url(self._name)

    def close(self) -> None:
        self._loop.run_until_complete(self._disconnect())
        self._loop.close()

    async def _renew(self) -> None:
        try:
            if self._connection and await self._connection.fetchval(_SHAPE) == self._shape:
                await self._connection.execute(self._empty)
                return
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            pass  # Whatever a test has done to it, a new one will do.
        await self._make()

    async def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            # The socket is closed in the loop's next round.
            await asyncio.sleep(0)

    async def _make(self) -> None:
        await self._disconnect()
        self._server.execute(
            f"drop database if exists {self._name} with (force); create database {self._name} owner tickover"
        )
        store = await open_store(self._server.url(self._name))
        await store.close()
        connection = self._connection = await asyncpg.connect(
            self._server.url(self._name, "postgres", application_name="empties")
        )
        self._shape = await connection.fetchval(_SHAPE)
        self._empty = await self._statements(connection)

    async def _statements(self, connection: asyncpg.Connection) -> str:
        """Those that delete all rows but the ones that the store began with, and bring these back."""
        await connection.execute("create schema kept")
        statements = ["set lock_timeout = '1s'"]
        for (table,) in await connection.fetch(_TABLES):
            count = await connection.fetchval(f"select count(*) from {table}")
            if not count:
                statements.append(f"delete from {table}")
                continue
            await connection.execute(f"create table kept.{table} as table {table}")
            # The store begins with thousands of rows, so only those are compared that were written since.
            last = await connection.fetchval(f"select xmin from {table} order by age(xmin) limit 1")
            statements += [
                f"""delete from {table} as now where age(now.xmin) < age('{last}'::xid)
                    and not exists (select from kept.{table} as kept where kept = now)""",
                f"""insert into {table} select * from kept.{table}
                    where (select count(*) from {table}) < {count} on conflict do nothing""",
            ]
        return ";".join(statements)


@pytest.fixture(scope="session")
def postgres(pytestconfig: pytest.Config) -> PostgresServer:
    """The server that all tests share. Who wants to stop one, or to set it otherwise, starts a PostgresServer."""
    run = pytestconfig.stash[_RUN]
    (run / "wishes").write_bytes(b"w")
    deadline = time.monotonic() + _WAIT_SECONDS
    while not (run / "answer").exists():
        assert time.monotonic() < deadline, "PostgreSQL was not started in time"
        time.sleep(0.01)
    answer = json.loads((run / "answer").read_text())
    if "trouble" in answer:
        pytest.fail(answer["trouble"], pytrace=False)
    folder, port, password = answer["place"]
    return PostgresServer(Path(folder), port, password)


@pytest.fixture(scope="session")
def _emptied_database(postgres: PostgresServer) -> Iterator[EmptiedDatabase]:
    database = EmptiedDatabase(postgres, f"worker_{os.getpid()}")
    yield database
    database.close()


@pytest.fixture
def postgres_url(_emptied_database: EmptiedDatabase) -> str:
    """An empty database with the store's schema; for one without anything there is `postgres.create_database`."""
    return _emptied_database.url()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'tickover.db'}"
