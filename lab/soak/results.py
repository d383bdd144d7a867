"""The results of rows, stored in report.json, so that a run of some rows keeps the results of the others."""

import json
import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import apsw

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
            _processor(),
            f"{platform.system()} {platform.machine()}",
            f"Python {platform.python_version()}",
            f"SQLite {apsw.sqlite_lib_version()}",
        )
    )


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown CPU")


def load(file: Path) -> list[Result]:
    """Return the stored results, or an empty list."""
    if not file.exists():
        return []
    stored: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
    return [Result(**{**entry, "figures": [Figure(*figure) for figure in entry["figures"]]}) for entry in stored]


def save(file: Path, results: Sequence[Result]) -> None:
    entries = [result._asdict() for result in results]
    file.write_text(json.dumps(entries, indent=1) + "\n", "utf-8")


def merge(stored: Sequence[Result], new: Sequence[Result]) -> list[Result]:
    """Replace stored results by new ones of the same row and store."""
    replaced = {(result.row, result.store) for result in new}
    return [*(result for result in stored if (result.row, result.store) not in replaced), *new]
