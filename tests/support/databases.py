"""New and empty databases for tests: SQLite files, and databases on one PostgreSQL server that all tests share."""

import asyncio
import json
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import asyncpg
import pytest

from tests.support.postgres import PostgresServer
from tests.support.sqlite_files import create_database
from tests.support.stores import close_idle_pools
from tickover.server.storage import open_store

_RUN = pytest.StashKey[Path]()
_WAIT_SECONDS = 900.0  # PostgreSQL may have to be installed

_TABLES = """
    select relation.oid::regclass::text from pg_class as relation
    where relation.relkind = 'r' and relation.relnamespace = 'public'::regnamespace"""
_SHAPE = """
    select array_agg((oid, relname, relnatts) order by oid)::text
    from pg_class where relnamespace = 'public'::regnamespace"""


class _SharedServer:
    """Starts the PostgreSQL server at the first request, in the controller process, so that it outlives all workers.

    A request is a byte in a named pipe. The response is a file in the same folder.
    """

    def __init__(self, run: Path) -> None:
        os.mkfifo(run / "requests")
        self._folder = run
        self._requests = os.open(run / "requests", os.O_RDWR)
        self._server: PostgresServer | None = None
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    def close(self) -> None:
        os.write(self._requests, b"x")
        self._thread.join()
        if self._server is not None:
            self._server.remove()
        os.close(self._requests)
        shutil.rmtree(self._folder)

    def _work(self) -> None:
        if os.read(self._requests, 1) == b"x":
            return
        response: dict[str, Any]
        try:
            self._server = PostgresServer()
            self._server.save_template()
            self._server.start()
            response = {"server": [str(self._server.folder), self._server.port, self._server.password]}
        except Exception as error:
            response = {"error": str(error)}
        file = self._folder / "response.new"
        file.write_text(json.dumps(response))
        file.rename(self._folder / "response")


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


class ReusedDatabase:
    """One database for each worker, emptied before each test, which is ten times faster than creating a new one.

    It is reset to its state after the store created it. If a test changed more than rows, it is created again.
    """

    def __init__(self, server: PostgresServer, name: str) -> None:
        self._server = server
        self._name = name
        self._loop = asyncio.new_event_loop()
        self._connection: asyncpg.Connection | None = None
        self._shape = ""

    def url(self) -> str:
        self._loop.run_until_complete(self._reset())
        return self._server.url(self._name)

    def close(self) -> None:
        self._loop.run_until_complete(self._disconnect())
        self._loop.close()

    async def _reset(self) -> None:
        try:
            if self._connection and await self._connection.fetchval(_SHAPE) == self._shape:
                await self._connection.execute("select initial.reset()")
                return
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            pass  # A new database replaces it.
        await self._create()

    async def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            # The socket is closed in the next iteration of the event loop.
            await asyncio.sleep(0)

    async def _create(self) -> None:
        await self._disconnect()
        self._server.execute(
            f"drop database if exists {self._name} with (force); create database {self._name} owner tickover"
        )
        store = await open_store(self._server.url(self._name))
        await store.close()
        connection = self._connection = await asyncpg.connect(
            self._server.url(self._name, "postgres", application_name="resets")
        )
        self._shape = await connection.fetchval(_SHAPE)
        await self._create_reset_function(connection)

    async def _create_reset_function(self, connection: asyncpg.Connection) -> None:
        """Create a function that deletes all rows except the store's initial ones, and restores these.

        Its session keeps the plans of its statements. Planning them for every test would take longer than the rest.
        """
        await connection.execute("create schema initial; set lock_timeout = '1s'")
        statements = []
        for (table,) in await connection.fetch(_TABLES):
            count = await connection.fetchval(f"select count(*) from {table}")
            if not count:
                statements.append(f"delete from {table}")
                continue
            await connection.execute(f"create table initial.{table} as table {table}")
            # The store starts with thousands of rows, so only rows written since are compared.
            last = await connection.fetchval(f"select xmin from {table} order by age(xmin) limit 1")
            statements += [
                f"""delete from {table} as now where age(now.xmin) < age('{last}'::xid)
                    and not exists (select from initial.{table} as initial where initial = now)""",
                f"""insert into {table} select * from initial.{table}
                    where (select count(*) from {table}) < {count} on conflict do nothing""",
            ]
        body = "; ".join(statements)
        await connection.execute(
            f"create function initial.reset() returns void language plpgsql as $$ begin {body}; end $$"
        )


@pytest.fixture(scope="session")
def postgres(pytestconfig: pytest.Config) -> PostgresServer:
    """The server that all tests share. A test that stops or configures a server starts its own PostgresServer."""
    run = pytestconfig.stash[_RUN]
    (run / "requests").write_bytes(b"w")
    deadline = time.monotonic() + _WAIT_SECONDS
    while not (run / "response").exists():
        assert time.monotonic() < deadline, "PostgreSQL didn't start in time"
        time.sleep(0.01)
    response = json.loads((run / "response").read_text())
    if "error" in response:
        pytest.fail(response["error"], pytrace=False)
    folder, port, password = response["server"]
    return PostgresServer(Path(folder), port, password)


@pytest.fixture(scope="session")
def _reused_database(postgres: PostgresServer) -> Iterator[ReusedDatabase]:
    database = ReusedDatabase(postgres, f"worker_{os.getpid()}")
    yield database
    database.close()


@pytest.fixture(scope="session")
async def _idle_pools() -> AsyncIterator[None]:
    yield
    await close_idle_pools()


@pytest.fixture
def postgres_url(_reused_database: ReusedDatabase, _idle_pools: None) -> str:
    """An empty database with the store's schema. For one without a schema, use `postgres.create_database`."""
    return _reused_database.url()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """A database with the store's schema and without rows."""
    return create_database(tmp_path)
