"""Jobs for the writer, and their results."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event, current_thread, main_thread
from typing import Any

import apsw

from tickover.api.errors import Reason, Rejection
from tickover.server.storage.sqlite.writer import Writer

Job = Callable[[apsw.Connection], Any]

CONTINUE = False
"""The result of a commit hook that lets the commit continue."""


class JobError(Exception):
    """An error of one job."""


def insert(name: str) -> Job:
    def job(db: apsw.Connection) -> str:
        db.execute("insert into things (name) values (?)", (name,))
        return name

    return job


def insert_and_fail(name: str) -> Job:
    def job(db: apsw.Connection) -> None:
        db.execute("insert into things (name) values (?)", (name,))
        raise JobError(name)

    return job


def connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(20)
    connection.pragma("journal_mode", "wal")
    connection.pragma("foreign_keys", True)
    return connection


def names(other: apsw.Connection) -> list[str]:
    return [str(name) for (name,) in other.execute("select name from things order by number")]


@asynccontextmanager
async def busy_writer(writer: Writer) -> AsyncIterator[None]:
    """Keep the writer busy with a job, so that submitted jobs wait."""
    busy, go_on = asyncio.Event(), Event()
    loop = asyncio.get_running_loop()

    def job(db: apsw.Connection) -> None:
        loop.call_soon_threadsafe(busy.set)
        assert go_on.wait(30)

    waiting = writer.submit(job, is_long=True)
    await busy.wait()
    try:
        yield
    finally:
        go_on.set()
    await waiting


async def outcomes_of(futures: list["asyncio.Future[Any]"]) -> list[Any]:
    async with asyncio.timeout(30):
        return await asyncio.gather(*futures, return_exceptions=True)


def is_unavailable(outcome: object) -> bool:
    return isinstance(outcome, Rejection) and outcome.reason is Reason.UNAVAILABLE


def runs_on_loop() -> bool:
    return current_thread() is main_thread()


class Watched:
    """The statements of a connection, and the number of those before the thread's first one."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.in_the_thread = asyncio.Event()


def watch_statements(connection: apsw.Connection) -> Watched:
    watched, loop = Watched(), asyncio.get_running_loop()

    def record_statement(_: object, statement: str, __: object) -> bool:
        watched.statements.append(statement)
        if not runs_on_loop():
            loop.call_soon_threadsafe(watched.in_the_thread.set)
        return True

    connection.set_exec_trace(record_statement)
    return watched
