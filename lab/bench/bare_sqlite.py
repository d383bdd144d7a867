"""The speed of SQLite alone: the statements of advances and creations in a loop, durable, without a server.

Schema, journal and durability are the same as in the store. Each batch is one commit, so one sync of the
disk.
"""

import os
import time
from itertools import pairwise
from pathlib import Path

import apsw

from lab.bench.results import Slot
from tickover.api.ids import uuid7
from tickover.api.timestamps import from_micros
from tickover.server.storage.migrations import migrations
from tickover.server.storage.sqlite.connection import CHECKPOINT_PAGES
from tickover.server.storage.sqlite.statements import FIND_CLOCK, FIND_SCHEDULE

BATCHES = (1, 16, 64)
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
        for migration in migrations("sqlite"):
            self._db.execute(migration.sql)
        # As compressible as schedules; it makes no difference to SQLite.
        self._schedule = b"." * schedule_bytes
        self._owners = [self._new_key() for _ in range(200)]
        self._created = 0
        self._keys: list[bytes] = []
        with self._db:
            self._keys = [self._create() for _ in range(_CLOCKS)]
        self._advanced = 0

    def close(self) -> None:
        self._db.close()

    def measure(self, operation: str, batch: int, seconds: float) -> Slot:
        """Run batches of this size, one commit each, for this long. Return the rate and the latency of a commit."""
        once = self._advance if operation == "advance" else self._create
        started = time.perf_counter()
        ends = [started]
        while ends[-1] - started < seconds:
            self._db.execute("begin immediate")
            for _ in range(batch):
                once()
            self._db.execute("commit")
            ends.append(time.perf_counter())
        micros = sorted((end - start) * 1e6 for start, end in pairwise(ends))
        median, p99 = (micros[int(len(micros) * share)] for share in (0.5, 0.99))
        return Slot(ends[-1] - started, batch * len(micros), median, p99)

    def _advance(self) -> None:
        self._advanced += 1
        index = self._advanced % _CLOCKS
        key, owner, to = self._keys[index], self._owner(index), _START + self._advanced * 1_000_000
        assert self._db.execute(FIND_CLOCK, (owner, None, key)).fetchone()
        self._db.execute(_ADVANCE, (to, key))
        assert self._db.execute(FIND_SCHEDULE, (key,)).fetchone()

    def _create(self) -> bytes:
        key, owner = self._new_key(), self._owner(self._created)
        self._created += 1
        self._db.execute(_INSERT_CLOCK, (key, owner, _START, _START, _START + 10 * _YEAR))
        self._db.execute(_INSERT_SCHEDULE, (key, self._schedule))
        return key

    def _owner(self, number: int) -> bytes:
        return self._owners[number % len(self._owners)]

    @staticmethod
    def _new_key() -> bytes:
        return uuid7(from_micros(time.time_ns() // 1000), os.urandom(10))
