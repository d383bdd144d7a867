"""All data from one database to another: only what is missing or different is written, and all is checked at the end.

So a copy that was broken off goes on where it was when it is run again. Nothing of the source is ever changed.
"""

import hashlib
from collections.abc import Callable

from msgspec import Struct, msgpack

from tickover.server.settings import SettingError
from tickover.server.storage import is_postgres, open_store, shown
from tickover.server.storage.copy_ends import SQLITE, TABLES, TROUBLES, CopyEnd, Row, Table, opened, path_of
from tickover.server.storage.postgres.connections import said

Report = Callable[[str, int, int], None]
"""Told what is being done, how many steps are done, and of how many. What it raises breaks the copy off."""


class Copied(Struct, frozen=True):
    """A table that is the same at both ends, and how many of its rows had to be written for that."""

    table: str
    rows: int
    written: int
    checksum: str
    """SHA-256 of all rows in the order of their keys, in hexadecimal."""


class _Sum(Struct, frozen=True):
    rows: int
    checksum: str


async def copy(source_url: str, target_url: str, report: Report) -> list[Copied]:
    """Make the target hold what the source holds; SettingError for what a person can mend.

    A target that holds anything else is refused before anything is written.
    """
    _refuse_wrong_urls(source_url, target_url)
    try:
        async with opened(source_url, only_reads=True) as source:
            # A source that will not do leaves no trace of a target.
            store = await open_store(target_url)
            await store.close()
            async with opened(target_url, only_reads=False) as target:
                await _refuse_other_data(source, target, shown(target_url))
                return await _Copy(source, target, report).run()
    except TROUBLES as error:
        raise SettingError(
            f"The copy was broken off: {said(error)}. What was copied stays; run it again, and it goes on."
        ) from error


def _refuse_wrong_urls(source_url: str, target_url: str) -> None:
    for url in (source_url, target_url):
        if not is_postgres(url) and not url.startswith(SQLITE):
            raise SettingError(
                "Source and target must look like sqlite:///path/to/file.db or postgresql://user:password@host/database."
            )
    if not is_postgres(source_url):
        source = path_of(source_url)
        if not source.is_file():
            raise SettingError(f"There is no database {source}.")
        if not is_postgres(target_url) and path_of(target_url).exists() and source.samefile(path_of(target_url)):
            raise SettingError("The target is the source itself.")


async def _refuse_other_data(source: CopyEnd, target: CopyEnd, name: str) -> None:
    for table in TABLES:
        async for after, keys in target.chunks(table):
            if not set(keys).issubset(await source.keys(table, after, keys[-1])):
                raise SettingError(
                    f"The database {name} holds other data: its table {table.name} has rows that the source has not. "
                    "Nothing was changed. Name an empty database; so also if it is an older copy, and the source has "
                    "deleted these rows since."
                )


class _Copy:
    """One run over all tables, twice: to write, and to check."""

    def __init__(self, source: CopyEnd, target: CopyEnd, report: Report) -> None:
        self._source = source
        self._target = target
        self._report = report
        self._steps = 0
        self._done = 0

    async def run(self) -> list[Copied]:
        self._steps = 2 * sum([await self._source.count(table) for table in TABLES])
        written = [await self._write(table) for table in TABLES]
        sums = [await self._check(table) for table in TABLES]
        return [
            Copied(table.name, found.rows, rows, found.checksum)
            for table, found, rows in zip(TABLES, sums, written, strict=True)
        ]

    async def _write(self, table: Table) -> int:
        """Write what the target lacks or has otherwise; how many rows that were."""
        written = 0
        self._tell("copying", table)
        async for after, keys in self._source.chunks(table):
            rows = await self._source.rows(table, after, keys[-1])
            held = {row[0]: row for row in await self._target.rows(table, after, keys[-1])}
            new = [row for row in rows if held.get(row[0]) != row]
            if new:
                await self._target.replace(table, [row[0] for row in new if row[0] in held], new)
            written += len(new)
            self._tell("copying", table, len(keys))
        return written

    async def _check(self, table: Table) -> _Sum:
        """Read both ends once more, each by itself; what they have in common."""
        self._tell("checking", table)
        found = await _sum(self._source, table, lambda rows: self._tell("checking", table, rows))
        copied = await _sum(self._target, table, lambda _: None)
        if found != copied:
            raise SettingError(
                f"The copy differs in the table {table.name}: the source has {found.rows} rows with the checksum "
                f"{found.checksum[:16]}, the target {copied.rows} with {copied.checksum[:16]}. One of them "
                "was written to meanwhile: stop every server that uses them, and run this again."
            )
        return found

    def _tell(self, doing: str, table: Table, steps: int = 0) -> None:
        # There may be more rows than were counted, if the source is in use.
        self._done = min(self._done + steps, self._steps)
        self._report(f"{doing} {table.name}", self._done, self._steps)


async def _sum(end: CopyEnd, table: Table, told: Callable[[int], None]) -> _Sum:
    digest = hashlib.sha256()
    count = 0
    async for after, keys in end.chunks(table):
        rows: list[Row] = await end.rows(table, after, keys[-1])
        for row in rows:
            digest.update(msgpack.encode(row))
        count += len(rows)
        told(len(rows))
    return _Sum(count, digest.hexdigest())
