"""The speed of SQLite alone: the statements of advances in a loop, without a server.

Schema, journal and durability are the same as in the store. Each advance is one commit, so one sync of the disk.
"""

import os
import statistics
import time
from itertools import pairwise
from pathlib import Path

import apsw

from lab.bench.results import Slot
from tickover.api.ids import uuid7
from tickover.api.timestamps import from_micros
from tickover.server.storage.migrations import missing_migrations
from tickover.server.storage.sqlite.connection import CHECKPOINT_PAGES
from tickover.server.storage.sqlite.statements import FIND_CLOCK

_SECONDS = 0.15
_CLOCKS = 1000
_YEAR = 365 * 86_400 * 1_000_000
_START = 1_798_761_600_000_000

_ADVANCE = "update clocks set frozen_time = ? where key = ?"
_INSERT_CLOCK = "insert into clocks (key, owner, start_time, frozen_time, max_time) values (?, ?, ?, ?, ?)"
_INSERT_SCHEDULE = "insert into schedules (clock_key, body) values (?, ?)"


class BareSqlite:
    """A database file with some clocks whose schedules have this many bytes."""

    def __init__(self, file: Path, schedule_bytes: int) -> None:
        self._db = apsw.Connection(str(file))
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("pragma synchronous = full; pragma fullfsync = 1; pragma checkpoint_fullfsync = 1")
        self._db.execute(f"pragma wal_autocheckpoint = {CHECKPOINT_PAGES}")
        for migration in missing_migrations("sqlite", 0):
            self._db.execute(migration.sql)
        # As compressible as schedules; it makes no difference to SQLite.
        self._schedule = b"." * schedule_bytes
        self._owners = [self._new_key() for _ in range(200)]
        with self._db:
            self._keys = [self._create(number) for number in range(_CLOCKS)]
        self._advanced = 0
        self.retries: list[str] = []

    def close(self) -> None:
        self._db.close()

    def run(self, _connections: int, seconds: float) -> Slot:
        """Advance one clock after the other for this long, each with a commit."""
        started = time.perf_counter()
        ends = [started]
        while ends[-1] - started < min(seconds, _SECONDS):
            self._db.execute("begin immediate")
            self._advance()
            self._db.execute("commit")
            ends.append(time.perf_counter())
        micros = [(end - start) * 1e6 for start, end in pairwise(ends)]
        return Slot(ends[-1] - started, len(micros), statistics.median(micros))

    def _advance(self) -> None:
        self._advanced += 1
        index = self._advanced % _CLOCKS
        key, owner, to = self._keys[index], self._owner(index), _START + self._advanced * 1_000_000
        assert self._db.execute(FIND_CLOCK, (owner, None, key, None)).fetchone()
        self._db.execute(_ADVANCE, (to, key))

    def _create(self, number: int) -> bytes:
        key = self._new_key()
        self._db.execute(_INSERT_CLOCK, (key, self._owner(number), _START, _START, _START + 10 * _YEAR))
        self._db.execute(_INSERT_SCHEDULE, (key, self._schedule))
        return key

    def _owner(self, number: int) -> bytes:
        return self._owners[number % len(self._owners)]

    @staticmethod
    def _new_key() -> bytes:
        return uuid7(from_micros(time.time_ns() // 1000), os.urandom(10))
