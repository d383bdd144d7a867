"""Tests of the test databases: each test gets an empty one, and no server outlives the tests."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.databases import ReusedDatabase
from tests.support.postgres import PostgresServer
from tests.support.program import wait_until

_START_AND_KILL = """
import os
import sys
from pathlib import Path
from tests.support.postgres import PostgresServer
folder, password = sys.argv[1:]
server = PostgresServer(Path(folder), 1, password).sibling()
server.start()
print(server.folder, flush=True)
os.kill(os.getpid(), 9)
"""
_TERMINATE_SESSIONS = """
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()"""


def _contents(server: PostgresServer, url: str) -> list[str]:
    """Return the contents of the database, independent of the physical order."""
    dump = server.run("pg_dump", "--exclude-schema=initial", "-d", url)
    return sorted(line for line in dump.splitlines() if not line.startswith("\\"))


_CHANGES = [
    # Rows that are new, changed and missing.
    """insert into users values (gen_random_uuid(), 'ana@example.test', 0);
       update login_sends set tries = tries + 1;
       delete from login_failures where email like '1%';
       insert into schema_version values (9999);
       truncate login_sends""",
    "drop table tokens; alter table users add column name text; create table more (than int)",
    _TERMINATE_SESSIONS,
]


def test_database_is_empty_after_any_test(postgres: PostgresServer) -> None:
    name = f"emptied_{os.getpid()}"
    database = ReusedDatabase(postgres, name)
    try:
        before = _contents(postgres, database.url())
        for sql in _CHANGES:
            postgres.execute(sql, name)
            assert _contents(postgres, database.url()) == before, sql
    finally:
        database.close()
        postgres.execute(f"drop database {name} with (force)")


def test_server_ends_with_the_process_that_started_it_and_leaves_nothing(postgres: PostgresServer) -> None:
    command = [sys.executable, "-c", _START_AND_KILL, str(postgres.folder), postgres.password]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == -9, ran.stderr
    folder = Path(ran.stdout.strip())
    wait_until(lambda: not folder.exists())
