"""One program on SQLite, with the interface of `tests.support.replicas.Replicas`."""

from pathlib import Path

import apsw

from tests.support.program import Program


class SqliteServer:
    def __init__(self, program: Program) -> None:
        self.programs = [program]
        url = program.environment.get("TICKOVER_DATABASE_URL", f"sqlite:///{program.data / 'tickover.db'}")
        self._file = Path(url.removeprefix("sqlite:///"))

    def connect(self) -> apsw.Connection:
        return apsw.Connection(str(self._file))

    def ask(self, sql: str) -> list[str]:
        """Return rows as lines with columns separated by |."""
        database = self.connect()
        try:
            return ["|".join(map(str, row)) for row in database.execute(sql)]
        finally:
            database.close()

    def stop(self) -> None:
        self.programs[0].stop()
