"""The results of rows."""

import os
import platform
import time
from collections.abc import Sequence
from typing import Literal, NamedTuple

import apsw

from lab.bench.machine import processor
from lab.soak.rows import Figure, StoreName

State = Literal["finished", "failed", "interrupted", "not run"]


class Result(NamedTuple):
    """The figures of one row on one store."""

    row: str
    store: StoreName
    state: State
    figures: Sequence[Figure]
    note: str = ""
    """The reason of a state other than finished."""
    minutes: float = 0.0
    finished_at: str = ""

    @property
    def is_met(self) -> bool:
        return self.state == "finished" and all(figure.met is not False for figure in self.figures)


def timestamp() -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())


def machine() -> str:
    """Describe this machine in one line."""
    return ", ".join(
        (
            f"{os.cpu_count()} cores",
            processor(),
            f"{platform.system()} {platform.machine()}",
            f"Python {platform.python_version()}",
            f"SQLite {apsw.sqlite_lib_version()}",
        )
    )
