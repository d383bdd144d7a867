"""Faults of SQLite's file and disk."""

import asyncio
from contextlib import suppress
from pathlib import Path

from lab.soak.faults.fault import fault
from lab.soak.servers import Servers
from lab.soak.write_load import WriteLoad

_MEBIBYTE = 2**20
_REJECTIONS = 8
_MANY = 200


@fault("full disk", "sqlite")
async def full_disk(servers: Servers, load: WriteLoad) -> None:
    assert servers.disk is not None, "only root can mount a small disk"
    ballast = servers.disk / "ballast"
    await asyncio.to_thread(_fill, ballast)
    try:
        await load.be_rejected(_REJECTIONS)
    finally:
        ballast.unlink()


def _fill(file: Path) -> None:
    with file.open("wb", buffering=0) as ballast:
        for size in (_MEBIBYTE, 4096, 1):
            with suppress(OSError):
                while True:
                    ballast.write(bytes(size))


@fault("another writer", "sqlite")
async def other_writer(servers: Servers, load: WriteLoad) -> None:
    """Another program holds the lock for writing."""
    other = servers.connect_sqlite()
    try:
        other.setbusytimeout(10_000)
        other.execute("begin immediate")
        await load.be_rejected(_REJECTIONS)
        other.execute("rollback")
    finally:
        other.close()


@fault("a long reader", "sqlite")
async def long_reader(servers: Servers, load: WriteLoad) -> None:
    """Another program reads one state of the database for long, so the log can't be checkpointed."""
    other = servers.connect_sqlite()
    try:
        other.execute("begin")
        other.execute("select count(*) from clocks").fetchall()
        await load.succeed(_MANY)
        other.execute("rollback")
    finally:
        other.close()


@fault("online backup", "sqlite")
async def backup(servers: Servers, load: WriteLoad) -> None:
    """Back up the database while callers write, and check the copy."""
    copy = servers.program.folder / "copy.db"
    other = servers.connect_sqlite()
    try:
        await asyncio.to_thread(other.execute, f"vacuum into '{copy}'")
        assert other.execute(f"attach '{copy}' as copied").fetchall() == []
        assert other.execute("pragma copied.integrity_check").fetchall() == [("ok",)]
    finally:
        other.close()
        copy.unlink(missing_ok=True)
    await load.succeed(1)
