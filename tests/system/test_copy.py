"""`tickover copy`: a server continues on the copied database."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import asyncpg
import pytest

from tests.support.forked_programs import ForkedProcess, open_nothing
from tests.support.postgres import PostgresServer
from tests.support.program import Program, run_tickover, verify_params, wait_until
from tickover.server.storage import open_store

SOURCE = "sqlite:///.tickover/tickover.db"
ANA = "ana@example.test"
BEN = "ben@example.test"


@pytest.fixture
def target(postgres: PostgresServer) -> str:
    return postgres.create_database()


def create_once(program: Program, token: str, key: str) -> str:
    """Return the id of the clock with this Idempotency-Key."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "createTestClock", "params": {}}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}", "Idempotency-Key": key}
    response = program.request("POST", "/rpc", json.dumps(call).encode(), headers)
    clock_id: str = response.json["result"]["clock"]["id"]
    return clock_id


class Source(NamedTuple):
    """The folder of a stopped server with two clocks, one of them with an Idempotency-Key, and an unused code."""

    folder: Path
    token: str
    clock: Any
    keyed_clock_id: str
    code: str


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    folder = tmp_path_factory.mktemp("source")
    with Program(folder) as program:
        token = program.sign_in(ANA)
        clock = program.result("createTestClock", {}, token)["clock"]
        keyed_clock_id = create_once(program, token, "mine")
        code = program.send_code(BEN)
        assert program.stop() == 0
    return Source(folder, token, clock, keyed_clock_id, code)


def copy_until_it_waits(folder: Path, target: str, postgres: PostgresServer, number: int) -> tuple[int, str]:
    """Send the signal when the copy waits for a lock. Return its exit code and output."""
    waits = f"""select 1 from pg_locks join pg_database as d on d.oid = database
                where not granted and datname = '{urlsplit(target).path[1:]}'"""
    output = folder / "copy.txt"
    with open_nothing() as nothing, output.open("a") as file:
        streams = (nothing.fileno(), file.fileno(), file.fileno())
        copying = ForkedProcess(("copy", SOURCE, target), folder, dict(os.environ), streams)
    wait_until(lambda: postgres.execute(waits))
    copying.send_signal(number)
    return copying.wait(120), output.read_text()


async def test_server_continues_on_a_database_whose_copy_was_interrupted(
    source: Source, target: str, postgres: PostgresServer
) -> None:
    """Killed, interrupted with Ctrl-C, and then complete."""
    await (await open_store(target)).close()
    somebody = await asyncpg.connect(target)
    for number, code in [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)]:
        async with somebody.transaction():
            # The lock blocks writes of clocks, so the copy waits.
            await somebody.execute("lock table clocks in share mode")
            returned, output = copy_until_it_waits(source.folder, target, postgres, number)
        assert returned == code
        assert "Traceback" not in output
    await somebody.close()

    ran = run_tickover(source.folder, "copy", SOURCE, target)
    assert ran.returncode == 0, ran.stderr
    assert "Both databases are equal" in ran.stdout
    # Table, rows, "rows," and written rows.
    counts = [line.split()[:4] for line in ran.stdout.splitlines() if "written" in line]
    rows = {name: (int(rows), int(written)) for name, rows, _, written in counts}
    assert {name: rows[name] for name in ("users", "tokens", "schedules", "clocks", "creations")} == {
        "users": (1, 0),
        "tokens": (1, 0),
        "schedules": (2, 0),
        "clocks": (2, 2),
        "creations": (1, 1),
    }
    await asyncio.to_thread(_continue_on, source, target)


def _continue_on(source: Source, target: str) -> None:
    with Program(source.folder, TICKOVER_DATABASE_URL=target) as program:
        params = {"id": source.clock["id"], "frozenTime": source.clock["frozenTime"]}
        assert program.result("advanceTestClock", params, source.token)["clock"] == source.clock
        assert create_once(program, source.token, "mine") == source.keyed_clock_id
        assert create_once(program, source.token, "another") not in (source.clock["id"], source.keyed_clock_id)
        assert program.result("loginByEmailVerification", verify_params(BEN, source.code))["token"]
