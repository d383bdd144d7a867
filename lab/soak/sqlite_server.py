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

    def stop(self) -> None:
        self.programs[0].stop()
