"""Writes the metrics in the text format of Prometheus. No label contains data of callers."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from tickover.api.errors import Reason
from tickover.server.metrics.numbers import METRICS, Key, Metric, SharedNumbers
from tickover.server.operations import OPERATIONS
from tickover.server.storage.admin.statistics import Statistics

CONTENT_TYPE: Final = b"text/plain; version=0.0.4; charset=utf-8"
_ANY_CALL: Final = ("OK", Reason.INVALID_PARAMS, Reason.UNAVAILABLE, Reason.INTERNAL)


class Facts(Struct, frozen=True):
    """Values that are read when Prometheus asks, besides the shared numbers."""

    build: Mapping[str, str]
    is_database_up: bool
    free_bytes: int
    statistics: Statistics | None = None
    """None if they can't be read."""


def render(numbers: SharedNumbers, facts: Facts) -> bytes:
    families = [*_facts(facts), *((metric, numbers.read(metric)) for metric in METRICS)]
    return "".join(f"{line}\n" for metric, values in families for line in _lines(metric, values)).encode()


def _facts(facts: Facts) -> Iterator[tuple[Metric, Iterable[float]]]:
    build = {name: [value] for name, value in facts.build.items()}
    yield Metric("build_info", "gauge", "The version, as labels.", build), [1]
    yield Metric("database_up", "gauge", "1 if the database accepts writes."), [facts.is_database_up]
    free = "Free bytes on the disk of the SQLite file or the data folder."
    yield Metric("disk_free_bytes", "gauge", free), [facts.free_bytes]
    if (found := facts.statistics) is None:
        return
    yield Metric("database_bytes", "gauge", "Size of the database."), [found.bytes]
    tables = {"table": [*found.rows]}
    yield Metric("database_rows", "gauge", "Rows by table; PostgreSQL estimates them.", tables), found.rows.values()
    if (skew := found.clock_skew_seconds) is not None:
        yield Metric("clock_skew_seconds", "gauge", "How far the server's clock is ahead of PostgreSQL's."), [skew]


def _lines(metric: Metric, values: Iterable[float]) -> Iterator[str]:
    """Yield the lines of a metric. `values` has a value for each of its keys."""
    yield f"# HELP tickover_{metric.name} {metric.help}"
    yield f"# TYPE tickover_{metric.name} {metric.kind}"
    count = 0.0
    for key, value in zip(metric.series(), values, strict=True):
        labels = [f'{label}="{text}"' for label, text in zip(metric.labels, key[1:], strict=True)]
        if metric.kind != "histogram":
            # A counter starts at 0, so that the first failure is an increase.
            if value or _is_expected(key):
                yield _sample(metric.name, labels, value)
        elif key[-1] == "sum":
            yield _sample(f"{metric.name}_sum", labels[:-1], value)
            yield _sample(f"{metric.name}_count", labels[:-1], count)
            count = 0.0
        else:
            count += value
            yield _sample(f"{metric.name}_bucket", labels, count)


def _is_expected(key: Key) -> bool:
    """Return False for outcomes that a call can't have. Their series would only cost space."""
    if key[0] != "calls_total":
        return True
    _, name, outcome = key
    operation = OPERATIONS.get(name)
    if operation is None:
        return outcome in ("OK", Reason.METHOD_NOT_FOUND)
    needs_token = (Reason.UNAUTHENTICATED,) if operation.needs is not None else ()
    return outcome in (*_ANY_CALL, *needs_token, *operation.reasons)


def _sample(name: str, labels: list[str], value: float) -> str:
    written = f"{{{','.join(labels)}}}" if labels else ""
    return f"tickover_{name}{written} {int(value) if value == int(value) else value!r}"
