"""`tickover copy`: a server continues on the copied database."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from tests.support.postgres import PostgresServer
from tests.support.program import Program, run_tickover, verify_params, wait_until

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
    answer = program.request("POST", "/rpc", json.dumps(call).encode(), headers)
    clock_id: str = answer.json["result"]["clock"]["id"]
    return clock_id


def test_server_continues_on_the_copied_database(tmp_path: Path, target: str) -> None:
    with Program(tmp_path) as program:
        token = program.sign_in(ANA)
        created = program.result("createTestClock", {}, token)
        clock_id = created["clock"]["id"]
        once_id = create_once(program, token, "mine")
        code = program.send_code(BEN)
        assert program.stop() == 0

    ran = run_tickover(tmp_path, "copy", SOURCE, target)
    assert ran.returncode == 0, ran.stderr
    assert "Both databases are equal" in ran.stdout
    assert ran.stdout.count(" 1 rows") >= 3  # A user, a token and an idempotency record.
    assert ran.stdout.count(" 2 rows") >= 2  # Clocks and schedules.

    with Program(tmp_path, TICKOVER_DATABASE_URL=target) as program:
        to = created["clock"]["frozenTime"]
        moved = program.result("advanceTestClock", {"id": clock_id, "frozenTime": to}, token)
        assert moved["clock"]["id"] == clock_id
        assert create_once(program, token, "mine") == once_id
        assert create_once(program, token, "another") not in (clock_id, once_id)
        assert program.result("loginByEmailVerification", verify_params(BEN, code))["token"]
        assert program.stop() == 0


def test_errors_are_one_sentence(tmp_path: Path, target: str, postgres: PostgresServer) -> None:
    ran = run_tickover(tmp_path, "copy", SOURCE, target)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "tickover: The database .tickover/tickover.db doesn't exist. Check the path of the source.\n" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert postgres.password not in ran.stderr
    assert not (tmp_path / ".tickover").exists()


def copy_until_it_waits(folder: Path, target: str, postgres: PostgresServer, number: int) -> tuple[int, str]:
    """Send the signal when the copy waits for a lock. Return its exit code and output."""
    waits = f"""select 1 from pg_locks join pg_database as d on d.oid = database
                where not granted and datname = '{urlsplit(target).path[1:]}'"""
    command = [sys.executable, "-m", "tickover", "copy", SOURCE, target]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as copying:
        wait_until(lambda: postgres.execute(waits))
        copying.send_signal(number)
        output, _ = copying.communicate(timeout=30)
    return copying.returncode, output


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)], ids=["Ctrl-C", "SIGKILL"]
)
async def test_interrupted_copy_continues(
    tmp_path: Path, target: str, postgres: PostgresServer, number: int, code: int
) -> None:
    with Program(tmp_path) as program:
        token = program.sign_in(ANA)
        create_once(program, token, "mine")
        program.stop()
    assert run_tickover(tmp_path, "migrate", "--database-url", target).returncode == 0

    somebody = await asyncpg.connect(target)
    async with somebody.transaction():
        # The lock blocks writes of clocks, so the copy waits.
        await somebody.execute("lock table clocks in share mode")
        returned, output = copy_until_it_waits(tmp_path, target, postgres, number)
    await somebody.close()
    assert returned == code
    assert "Traceback" not in output

    ran = run_tickover(tmp_path, "copy", SOURCE, target)
    assert ran.returncode == 0, ran.stderr
    written = {line.split()[0]: int(line.split()[3]) for line in ran.stdout.splitlines() if "written" in line}
    assert {name: written[name] for name in ("users", "tokens", "schedules", "clocks", "creations")} == {
        "users": 0,
        "tokens": 0,
        "schedules": 0,
        "clocks": 1,
        "creations": 1,
    }
