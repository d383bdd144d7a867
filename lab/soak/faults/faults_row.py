"""The row of faults: each fault has callers that write before, during and after it."""

import asyncio
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

# Each of these modules adds its faults.
from lab.soak.faults import client_faults, database_faults, file_faults, machine_faults, mail_faults  # noqa: F401
from lab.soak.faults.fault import FAULTS, Fault
from lab.soak.rows import Context, Figure, Row, at_least, at_most
from lab.soak.servers import Servers, run_servers
from lab.soak.write_load import PAUSE_SECONDS, WriteLoad
from tests.support.postgres import PostgresServer

_WRITERS = 8
_CALLS = 30
_SETTINGS = {"TICKOVER_KEEP_ALIVE_SECONDS": "75"}
_DISK_SIZE = "256m"
_MAX_SECONDS = 10


def run(context: Context) -> Iterator[Figure]:
    faults = [fault for fault in FAULTS if context.store in fault.stores]
    faults = faults[:: context.scale(1, 2)]
    done = 0
    with _serve(context) as servers:
        for number in context.rounds(len(faults), "fault"):
            fault = faults[number]
            try:
                seconds = asyncio.run(_withstand(fault, servers))
            except Exception as failure:
                cause = _first_cause(failure)
                yield Figure(fault.name, f"{type(cause).__name__}: {cause}"[:300], "nothing lost", met=False)
                continue
            done += 1
            yield at_most(f"{fault.name}: nothing lost, normal again after", round(seconds, 2), _MAX_SECONDS, " s")
        assert "Traceback" not in servers.program.output
    yield at_least("faults", done, len(faults))


@contextmanager
def _serve(context: Context) -> Iterator[Servers]:
    with ExitStack() as stack:
        if context.store == "sqlite":
            disk = stack.enter_context(_small_disk(context.folder))
            file = (disk or context.folder) / "tickover.db"
            settings = {**_SETTINGS, "TICKOVER_DATABASE_URL": f"sqlite:///{file}"}
            servers = stack.enter_context(run_servers(context.folder, None, 1, settings))
            servers.disk = disk
        else:
            postgres = PostgresServer()
            postgres.settings |= {"fsync": "on", "full_page_writes": "on"}
            stack.enter_context(postgres)
            settings = {**_SETTINGS, "TICKOVER_DATABASE_CONNECTIONS": "4"}
            servers = stack.enter_context(run_servers(context.folder, postgres, 1, settings, has_proxy=True))
        yield servers


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path | None]:
    """Mount a file system in memory. Only root may do this."""
    disk = folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_SIZE},mode=700", "tmpfs", str(disk)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        yield None
        return
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _first_cause(failure: BaseException) -> BaseException:
    return _first_cause(failure.exceptions[0]) if isinstance(failure, BaseExceptionGroup) else failure


async def _withstand(fault: Fault, servers: Servers) -> float:
    """Return the seconds from the end of the fault until the server is ready and callers succeed."""
    load = await asyncio.to_thread(WriteLoad, servers, PAUSE_SECONDS, False)
    async with load.of(_WRITERS, fault.visitors):
        await load.succeed(_CALLS)
        await fault.inject(servers, load)
        ended = time.monotonic()
        await load.until_readiness_is(200)
        await load.succeed(_CALLS)
        return time.monotonic() - ended


ROW = Row(
    "R6",
    "Faults",
    "30 kinds of faults under load (database, mail, disk full, signals, slow clients, clock set back): nothing lost, "
    "normal again within 10 s",
    run,
    minutes=3,
    quick_minutes=1.2,
)
