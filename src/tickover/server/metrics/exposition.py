"""Writes the metrics in the text format of Prometheus. No label contains data of callers."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from tickover.api.errors import Reason
from tickover.server.metrics.numbers import (
    BUCKET_NAMES,
    CAUSES,
    EMAIL_OUTCOMES,
    OPERATION_NAMES,
    OUTCOMES,
    SharedNumbers,
)
from tickover.server.operations import OPERATIONS
from tickover.server.storage.admin.statistics import Statistics

CONTENT_TYPE: Final = b"text/plain; version=0.0.4; charset=utf-8"
_ANY_CALL: Final = (Reason.INVALID_PARAMS, Reason.UNAVAILABLE, Reason.INTERNAL)


class Facts(Struct, frozen=True):
    """Values that are read when Prometheus asks, besides the shared numbers."""

    build: Mapping[str, str]
    is_database_up: bool
    free_bytes: int
    statistics: Statistics | None = None
    """None if they can't be read."""


def render(numbers: SharedNumbers, facts: Facts) -> bytes:
    return "".join(f"{line}\n" for line in _lines(numbers, facts)).encode()


def _lines(numbers: SharedNumbers, facts: Facts) -> Iterator[str]:
    yield from _family("build_info", "gauge", "The version, as labels.", {_labels(**facts.build): 1})
    yield from _calls(numbers)
    yield from _histogram(
        "call_duration_seconds",
        "Duration of calls.",
        {
            _labels(method=name): [numbers.total("call seconds", name, part) for part in _PARTS]
            for name in OPERATION_NAMES
        },
    )
    yield from _gauge(numbers, "calls_in_flight", "Calls in progress.", "calls in flight")
    yield from _gauge(numbers, "http_connections", "Open connections of clients.", "connections")
    yield from _counter(numbers, "requests_rejected", "Requests rejected by a limit.", "rejected requests")
    yield from _emails(numbers)
    yield from _database(numbers, facts)
    last_sweep = {"": numbers.maximum("last sweep")}
    yield from _family(
        "sweep_last_success_timestamp_seconds", "gauge", "Unix time of the last sweep; 0 if none.", last_sweep
    )
    yield from _counter(numbers, "swept_rows", "Expired rows that were deleted.", "swept rows")
    yield from _counter(numbers, "worker_restarts", "Workers that ended unexpectedly.", "worker restarts")
    yield from _family(
        "disk_free_bytes",
        "gauge",
        "Free bytes on the disk of the SQLite file or the data folder.",
        {"": facts.free_bytes},
    )


_PARTS: Final = (*BUCKET_NAMES, "sum")


def _calls(numbers: SharedNumbers) -> Iterator[str]:
    values = {}
    for name in OPERATION_NAMES:
        expected = {"OK", *_expected_outcomes(name)}
        for outcome in OUTCOMES:
            value = numbers.total("calls", name, outcome)
            # A counter starts at 0, so that the first failure is an increase.
            if value or outcome in expected:
                values[_labels(method=name, outcome=outcome)] = value
    yield from _family("calls_total", "counter", "Calls by method and outcome: OK, or the reason of the error.", values)


def _expected_outcomes(name: str) -> tuple[Reason, ...]:
    operation = OPERATIONS.get(name)
    if operation is None:
        return (Reason.METHOD_NOT_FOUND,)
    needs_token = (Reason.UNAUTHENTICATED,) if operation.needs is not None else ()
    return (*_ANY_CALL, *needs_token, *operation.reasons)


def _emails(numbers: SharedNumbers) -> Iterator[str]:
    values = {_labels(outcome=outcome): numbers.total("emails", outcome) for outcome in EMAIL_OUTCOMES}
    yield from _family("emails_total", "counter", "Emails by outcome of their delivery.", values)
    parts = [numbers.total("email seconds", part) for part in _PARTS]
    yield from _histogram("email_duration_seconds", "Duration of deliveries to the mail server.", {"": parts})


def _database(numbers: SharedNumbers, facts: Facts) -> Iterator[str]:
    yield from _family("database_up", "gauge", "1 if the database accepts writes.", {"": int(facts.is_database_up)})
    failures = {_labels(cause=cause): numbers.total("database failures", cause) for cause in CAUSES}
    yield from _family(
        "database_failures_total", "counter", "Calls that failed because of the database, by cause.", failures
    )
    connections = {
        _labels(state="open"): numbers.total("database connections"),
        _labels(state="busy"): numbers.total("busy connections"),
    }
    yield from _family("database_connections", "gauge", "Connections to PostgreSQL.", connections)
    yield from _gauge(numbers, "database_calls_waiting", "Calls that wait for the database.", "calls waiting")
    found = facts.statistics
    if found is None:
        return
    yield from _family("database_bytes", "gauge", "Size of the database.", {"": found.bytes})
    rows = {_labels(table=table): count for table, count in found.rows.items()}
    yield from _family("database_rows", "gauge", "Rows by table; PostgreSQL estimates them.", rows)
    if found.clock_skew_seconds is not None:
        skew = {"": found.clock_skew_seconds}
        yield from _family("clock_skew_seconds", "gauge", "How far the server's clock is ahead of PostgreSQL's.", skew)


def _counter(numbers: SharedNumbers, name: str, help: str, key: str) -> Iterator[str]:
    return _family(f"{name}_total", "counter", help, {"": numbers.total(key)})


def _gauge(numbers: SharedNumbers, name: str, help: str, key: str) -> Iterator[str]:
    return _family(name, "gauge", help, {"": numbers.total(key)})


def _family(name: str, kind: str, help: str, values: Mapping[str, float]) -> Iterator[str]:
    """Return the lines of a metric. `values` has a value for each set of labels."""
    yield from _head(name, kind, help)
    for labels, value in values.items():
        yield f"tickover_{name}{labels} {_number(value)}"


def _histogram(name: str, help: str, parts: Mapping[str, list[float]]) -> Iterator[str]:
    """Return the lines of a histogram. `parts` has the counts of the buckets and the sum for each set of labels."""
    yield from _head(name, "histogram", help)
    for labels, (*buckets, total) in parts.items():
        count = 0.0
        for bound, inside in zip(BUCKET_NAMES, buckets, strict=True):
            count += inside
            yield f"tickover_{name}_bucket{_add_label(labels, 'le', bound)} {_number(count)}"
        yield f"tickover_{name}_sum{labels} {_number(total)}"
        yield f"tickover_{name}_count{labels} {_number(count)}"


def _head(name: str, kind: str, help: str) -> Iterator[str]:
    yield f"# HELP tickover_{name} {help}"
    yield f"# TYPE tickover_{name} {kind}"


def _labels(**values: str) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in values.items()) + "}"


def _add_label(labels: str, name: str, value: str) -> str:
    return f'{labels[:-1]},{name}="{value}"}}' if labels else _labels(**{name: value})


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
