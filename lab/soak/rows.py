"""The interface of a row: its target, and a function that measures it on one store."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from tests.support.postgres import PostgresServer

StoreName = Literal["sqlite", "postgres"]
STORES: tuple[StoreName, ...] = get_args(StoreName)


class Figure(NamedTuple):
    """A measured figure. `met` is None if it has no target."""

    name: str
    value: str
    target: str = ""
    met: bool | None = None


def at_most(name: str, value: float, limit: float, unit: str = "") -> Figure:
    return Figure(name, f"{value:,.10g}{unit}", f"at most {limit:,.10g}{unit}", value <= limit)


def at_least(name: str, value: float, limit: float, unit: str = "") -> Figure:
    return Figure(name, f"{value:,.10g}{unit}", f"at least {limit:,.10g}{unit}", value >= limit)


class Context:
    """One run of a row on one store.

    `folder` is empty, and is deleted if the row succeeds. `deadline` is a value of time.monotonic().
    """

    def __init__(
        self, store: StoreName, is_quick: bool, folder: Path, deadline: float, progress: Callable[[float, str], None]
    ) -> None:
        self.store = store
        self.is_quick = is_quick
        self.folder = folder
        self.deadline = deadline
        self.progress = progress
        """Shows the finished share of the row, from 0 to 1, and the current step."""

    def scale(self, full: int, quick: int) -> int:
        """Return a count for this run."""
        return quick if self.is_quick else full

    @property
    def is_out_of_time(self) -> bool:
        return time.monotonic() > self.deadline

    def rounds(self, count: int, what: str, start: float = 0.0, end: float = 1.0) -> Iterator[int]:
        """Count rounds up to the deadline, and show them as the part of the row from `start` to `end`."""
        for number in range(count):
            if self.is_out_of_time:
                return
            self.progress(start + (end - start) * number / count, f"{what} {number + 1:,} of {count:,}")
            yield number

    @contextmanager
    def database(self, **postgres_settings: str) -> Iterator[dict[str, str]]:
        """Yield the settings of a program on a new database. PostgreSQL is durable unless its settings differ."""
        if self.store == "sqlite":
            yield {}
            return
        durable = PostgresServer()
        durable.settings |= {"fsync": "on", "full_page_writes": "on", **postgres_settings}
        with durable as server:
            yield {"TICKOVER_DATABASE_URL": server.create_database()}


class Row(NamedTuple):
    """A target of the soak.

    `run` yields figures as soon as they are known, so that an interrupted run reports them. A failed assertion is a
    figure that is not met. `minutes` and `quick_minutes` are planned for one store; twice that is the deadline.
    """

    name: str
    title: str
    target: str
    run: Callable[[Context], Iterable[Figure]]
    minutes: float
    quick_minutes: float
    stores: tuple[StoreName, ...] = STORES

    def planned_seconds(self, is_quick: bool) -> float:
        return 60 * (self.quick_minutes if is_quick else self.minutes)
