"""R3: every write is on the disk before its response is sent, shown by a trace of system calls."""

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lab.soak.raw_connections import RawConnection, open_connections
from lab.soak.rows import Context, Figure, Row, at_least, at_most
from lab.soak.system_calls import CALLS, Verdict, check_responses
from tests.support.debian_packages import require_program
from tests.support.postgres import PostgresServer
from tests.support.program import Program, code_params, link_params, verify_params, wait_until

_START = datetime(2027, 1, 1, tzinfo=UTC)
_CALLS_A_ROUND = 8
"""Calls that each round of `_write_round` makes."""


def run(context: Context) -> Iterator[Figure]:
    writes = context.scale(1_000, 80)
    strace = require_program("strace")
    if context.store == "sqlite":
        with Program(context.folder) as program:
            verdict = _trace(context, strace, program, [program.process.pid], writes, frozenset())
    else:
        server = PostgresServer()
        # Autovacuum writes to the log at any time.
        server.settings |= {"fsync": "on", "full_page_writes": "on", "autovacuum": "off"}
        with server, Program(context.folder, TICKOVER_DATABASE_URL=server.create_database()) as program:
            processes = _server_processes(server)
            background = processes - _backends(server)
            pids = [program.process.pid, *processes]
            verdict = _trace(context, strace, program, pids, writes, frozenset(map(str, background)))
    yield at_least("responses after fsync", verdict.durable, writes)
    yield at_most("responses before fsync", len(verdict.too_early), 0)
    yield at_most("responses without a write", len(verdict.without_write), 0)


def _server_processes(server: PostgresServer) -> set[int]:
    postmaster = int((server.data / "postmaster.pid").read_text().split("\n")[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return {postmaster, *map(int, children)}


def _backends(server: PostgresServer) -> set[int]:
    rows = server.execute("select pid from pg_stat_activity where backend_type = 'client backend'")
    return set(map(int, rows.split()))


def _trace(
    context: Context, strace: str, program: Program, pids: list[int], writes: int, background: frozenset[str]
) -> Verdict:
    token = program.sign_in()
    trace = context.folder / "trace.txt"
    with _strace(strace, trace, pids):
        asyncio.run(_write(context, program, token, writes))
    context.progress(0.95, "reading the trace")
    with trace.open(errors="replace") as lines:
        return check_responses(lines, _is_log, background)


def _is_log(file: str) -> bool:
    return file.endswith("-wal") or "/pg_wal/" in file


@contextmanager
def _strace(strace: str, trace: Path, pids: list[int]) -> Iterator[None]:
    processes = [argument for pid in pids for argument in ("-p", str(pid))]
    command = [strace, "-f", "-y", "-qq", "-s", "16", "-e", f"trace={CALLS}", "-e", "signal=none"]
    with subprocess.Popen([*command, "-o", trace, *processes], start_new_session=True) as tracer:
        try:
            wait_until(lambda: tracer.poll() is not None or all(map(_is_traced, pids)))
            assert tracer.poll() is None, "strace can't trace processes here"
            yield
        finally:
            tracer.terminate()


def _is_traced(pid: int) -> bool:
    return "TracerPid:\t0\n" not in Path(f"/proc/{pid}/status").read_text()


async def _write(context: Context, program: Program, token: str, writes: int) -> None:
    """Make this many calls that write, one after the other."""
    async with open_connections(program.url, 1, token) as [connection]:
        for number in context.rounds(writes // _CALLS_A_ROUND, "writes"):
            await _write_round(connection, number)


async def _write_round(connection: RawConnection, number: int) -> None:
    clock = (await _result(connection, "createTestClock", {"frozenTime": _day(0)}))["clock"]["id"]
    await _result(connection, "advanceTestClock", {"id": clock, "frozenTime": _day(1)})
    await _result(connection, "forkTestClock", {"id": clock})
    await _result(connection, "deleteTestClock", {"id": clock})
    await _result(connection, "sendLoginCodeEmail", code_params(f"code{number}@example.test"))
    refused = await connection.call("loginByEmailVerification", verify_params(f"nobody{number}@example.test", "123456"))
    assert refused["error"]["data"]["reason"] == "LOGIN_REFUSED", refused
    url = (await _result(connection, "sendLoginCodeEmail", link_params(f"link{number}@example.test")))["loginUrl"]
    await _result(connection, "loginByEmailLink", {"token": url.partition("#token=")[2]})


async def _result(connection: RawConnection, method: str, params: Any) -> Any:
    response = await connection.call(method, params)
    assert "result" in response, response
    return response["result"]


def _day(day: int) -> str:
    return f"{_START + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}"


ROW = Row(
    "R3",
    "Power loss",
    "fsync comes between the last write and the response, shown by a trace of system calls for 1,000 writes",
    run,
    minutes=1,
    quick_minutes=0.2,
)
