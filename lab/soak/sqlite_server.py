"""One program on SQLite, with the interface of `tests.support.replicas.Replicas`."""

from pathlib import Path
from typing import Any

import apsw

from tests.support.program import Program


class SqliteServer:
    """A program, and a connection of its own to the program's file for each question."""

    def __init__(self, program: Program) -> None:
        self.programs = [program]
        url = program.environment.get("TICKOVER_DATABASE_URL", f"sqlite:///{program.data / 'tickover.db'}")
        self._file = Path(url.removeprefix("sqlite:///"))

    def connect(self) -> apsw.Connection:
        return apsw.Connection(str(self._file))

    def sessions(self, _condition: str = "true") -> list[str]:
        return []

    def ask(self, sql: str) -> list[str]:
        """Return rows as lines with columns separated by |. Bytes are in hexadecimal."""
        database = self.connect()
        try:
            database.create_scalar_function("encode", _encode, 2)
            return ["|".join(map(_as_text, row)) for row in database.execute(sql)]
        finally:
            database.close()

    def stop(self) -> None:
        self.programs[0].stop()


def _encode(*arguments: Any) -> str:
    """The function of PostgreSQL that WriteLoad uses for digests."""
    content, _format = arguments
    return bytes(content).hex()


def _as_text(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
