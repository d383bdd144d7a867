"""The servers of the benchmark, with their data on the real disk.

Tickover has its default settings with two exceptions. It doesn't limit sign-ins of one address
(TICKOVER_CLIENT_BURST=0), because all load comes from one. A user may store a terabyte (TICKOVER_MAX_BYTES_PER_USER),
because a few users create all clocks.
"""

import os
import secrets
import sys
from pathlib import Path
from typing import Any, NamedTuple, Self

from lab.bench.calls import is_ready, read_outbox, sign_in
from lab.bench.load import Clocks, Filler, HttpLoad, advancing, creating
from lab.processes import Process, says_ready
from tests.support.ports import reusable_port
from tests.support.postgres import PostgresServer

ROOT = Path(__file__).parents[2]
_PORT_PLACEHOLDER = "{port}"
"""Replaced by the side's port in commands and environments."""
TICKOVER_PROGRAM = str(Path(sys.executable).with_name("tickover"))

LIMIT = "limit"
TICKOVER = "Tickover"
TICKOVER_TWO = "Tickover, 2 workers"
PGBENCH = "pgbench"
BARE = "bare SQLite"


class Work(NamedTuple):
    """The work of a side: advance these clocks, and create more with these parameters, for the same users."""

    name: str
    clocks: Clocks
    params: Any


class Side:
    """A server of the comparison. It runs inside the context."""

    def __init__(self, name: str, folder: Path, *command: str, **environment: str) -> None:
        self.name = name
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.port = reusable_port()
        self.url = f"http://127.0.0.1:{self.port}"
        others = {key: value for key, value in os.environ.items() if not key.startswith("TICKOVER_")}
        ours = {key: self._with_port(value) for key, value in environment.items()}
        self.process = Process(list(map(self._with_port, command)), folder / "output.txt", {**others, **ours}, ROOT)

    def _with_port(self, text: str) -> str:
        return str(self.port) if text == _PORT_PLACEHOLDER else text

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        self.process.start(self._is_up, 0.005)

    def stop(self) -> None:
        self.process.stop()

    def _is_up(self, process: Process) -> bool:
        return says_ready(process)

    def tokens(self, count: int) -> list[str]:
        """Return the tokens of this many users."""
        raise NotImplementedError

    def filler(self, tokens: list[str], params: Any) -> Filler:
        return Filler(self.folder / "fill.lua", self.url, tokens, params)

    def loads(self, work: Work) -> dict[str, HttpLoad]:
        """Return the load of each operation."""
        file = f"{self.name} {work.name}".replace(" ", "-")
        return {
            "advance": advancing(self.folder / f"{file}-advance.lua", self.url, work.clocks),
            "create": creating(self.folder / f"{file}-create.lua", self.url, work.clocks.tokens, work.params),
        }


def limit(folder: Path, size: int) -> Side:
    command = [sys.executable, "-m", "lab.bench.limit", "--port", _PORT_PLACEHOLDER, "--size", str(size)]
    return Side(LIMIT, folder, *command)


class Tickover(Side):
    """With SQLite in the folder, or with the database of the settings."""

    def __init__(self, folder: Path, name: str = TICKOVER, **settings: str) -> None:
        self._data = folder / "data"
        unlimited = {"TICKOVER_CLIENT_BURST": "0", "TICKOVER_MAX_BYTES_PER_USER": str(10**12)}
        fixed = {"TICKOVER_PORT": _PORT_PLACEHOLDER, "TICKOVER_DATA_DIR": str(self._data), **unlimited}
        super().__init__(name, folder, TICKOVER_PROGRAM, "serve", **fixed, **settings)

    def _is_up(self, process: Process) -> bool:
        return is_ready(self.url)

    def tokens(self, count: int) -> list[str]:
        read_code = read_outbox(self._data)
        return [sign_in(self.url, read_code, f"{secrets.token_hex(8)}@example.test") for _ in range(count)]


def durable_postgres() -> PostgresServer:
    """A PostgreSQL server with durable commits, and memory and log for a database of this size."""
    return PostgresServer(
        fsync="on",
        full_page_writes="on",
        synchronous_commit="on",
        shared_buffers="512MB",
        max_wal_size="16GB",
        checkpoint_timeout="1h",
    )
