"""The metrics, which are numbers in memory that all processes of a server share, and their text for Prometheus.

No label contains data of callers.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from mmap import mmap
from typing import Final, get_args

from msgspec import Struct

from tickover.api.errors import Reason, Rejection
from tickover.server.bank.routes import CALLS as BANK_CALLS
from tickover.server.operations import OPERATIONS
from tickover.server.storage.store import Cause, DatabaseUnavailable

Key = tuple[str, ...]
"""The name of a metric, and a value for each of its labels."""

_CALLS: Final = (*OPERATIONS, *BANK_CALLS, "webhook", "unknown")
"""Calls of unknown methods and paths are counted together, because callers choose the name."""
_OUTCOMES: Final = ("OK", *Reason)
_ANY_CALL: Final = ("OK", Reason.INVALID_PARAMS, Reason.UNAVAILABLE, Reason.INTERNAL)
_BOUNDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the buckets of durations, in seconds."""
BUCKETS: Final = (*(f"{bound:g}" for bound in _BOUNDS), "+Inf")


class Metric(Struct, frozen=True):
    """A metric, with a number for each combination of the values of its labels."""

    name: str
    kind: str
    help: str
    labels: Mapping[str, Sequence[str]] = {}
    is_timestamp: bool = False
    """The latest of all processes counts, also of one that has ended. Of other numbers, the sum counts."""

    def series(self) -> Iterator[Key]:
        return product([self.name], *self.labels.values())


_PARTS: Final = {"le": (*BUCKETS, "sum")}
"""The numbers of a histogram: the count in each bucket, and the sum of the durations."""
METRICS: Final = (
    Metric(
        "calls_total",
        "counter",
        "Calls by method and outcome: OK, or the reason of the error.",
        {"method": _CALLS, "outcome": _OUTCOMES},
    ),
    Metric("call_duration_seconds", "histogram", "Duration of calls.", {"method": _CALLS, **_PARTS}),
    Metric("calls_in_flight", "gauge", "Calls in progress."),
    Metric("http_connections", "gauge", "Open connections of clients."),
    Metric("requests_rejected_total", "counter", "Requests rejected by a limit."),
    Metric(
        "emails_total", "counter", "Emails by outcome of their delivery.", {"outcome": ("sent", "rejected", "unknown")}
    ),
    Metric("email_duration_seconds", "histogram", "Duration of deliveries to the mail server.", _PARTS),
    Metric(
        "database_failures_total",
        "counter",
        "Calls that failed because of the database, by cause.",
        {"cause": get_args(Cause)},
    ),
    Metric("database_connections", "gauge", "Connections to PostgreSQL.", {"state": ("open", "busy")}),
    Metric("database_calls_waiting", "gauge", "Calls that wait for the database."),
    Metric(
        "sweep_last_success_timestamp_seconds", "gauge", "Unix time of the last sweep; 0 if none.", is_timestamp=True
    ),
    Metric("swept_rows_total", "counter", "Expired rows that were deleted."),
    Metric("worker_restarts_total", "counter", "Workers that ended unexpectedly."),
)
GAUGES: Final = [
    key for metric in METRICS if metric.kind == "gauge" and not metric.is_timestamp for key in metric.series()
]
_SLOTS: Final = {key: slot for slot, key in enumerate(key for metric in METRICS for key in metric.series())}
_CALL_SLOTS: Final = {
    name: (_SLOTS["calls_total", name, "OK"], _SLOTS["call_duration_seconds", name, BUCKETS[0]]) for name in _CALLS
}
_UNKNOWN: Final = _CALL_SLOTS["unknown"]
_OUTCOME_OFFSETS: Final = {outcome: offset for offset, outcome in enumerate(_OUTCOMES)}
_SUM_OFFSET: Final = len(BUCKETS)


class SharedNumbers:
    """One row of numbers for each process, starting at 0. Processes that are forked later share them.

    Each process writes its own row, so it needs no lock.
    """

    def __init__(self, processes: int = 1) -> None:
        self._numbers = memoryview(mmap(-1, processes * len(_SLOTS) * 8)).cast("d")

    def recorder(self, process: int = 0) -> "Recorder":
        """Return the recorder of one process. A new process continues the counts of the one that it replaces."""
        return Recorder(self, self._numbers[process * len(_SLOTS) : (process + 1) * len(_SLOTS)])

    def read(self) -> Iterator[tuple[Metric, Sequence[float]]]:
        """Yield each metric with a number for each of its keys, over all processes."""
        for metric in METRICS:
            combine = max if metric.is_timestamp else sum
            yield metric, [combine(self._numbers[_SLOTS[key] :: len(_SLOTS)]) for key in metric.series()]


class Recorder:
    """Writes the numbers of one process."""

    def __init__(self, shared: SharedNumbers, numbers: "memoryview[float]") -> None:
        self.shared = shared
        self._numbers = numbers

    def record_call(self, operation: str, rejection: Rejection | None, seconds: float) -> None:
        """Count a call that has ended, its duration, and the failure of the database that may have ended it."""
        numbers = self._numbers
        outcomes, durations = _CALL_SLOTS.get(operation, _UNKNOWN)
        if rejection is None:
            numbers[outcomes] += 1
        else:
            numbers[outcomes + _OUTCOME_OFFSETS[rejection.reason]] += 1
            if isinstance(rejection, DatabaseUnavailable):
                self.add("database_failures_total", rejection.cause)
        numbers[durations + bisect_left(_BOUNDS, seconds)] += 1
        numbers[durations + _SUM_OFFSET] += seconds

    def record_email(self, outcome: str, seconds: float) -> None:
        self.add("emails_total", outcome)
        self.add("email_duration_seconds", BUCKETS[bisect_left(_BOUNDS, seconds)])
        self.add("email_duration_seconds", "sum", amount=seconds)

    def add(self, *key: str, amount: float = 1) -> None:
        self._numbers[_SLOTS[key]] += amount

    def set(self, *key: str, value: float) -> None:
        self._numbers[_SLOTS[key]] = value

    def clear_gauges(self) -> None:
        """Set the gauges of a process that has ended to 0."""
        for key in GAUGES:
            self.set(*key, value=0)


def render(metrics: Iterable[tuple[Metric, Iterable[float]]]) -> bytes:
    """Return metrics, each with a value for each of its keys, in the text format of Prometheus."""
    return "".join(f"{line}\n" for metric, values in metrics for line in _lines(metric, values)).encode()


def _lines(metric: Metric, values: Iterable[float]) -> Iterator[str]:
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
    if name == "webhook" or name in BANK_CALLS:
        return outcome in ("OK", Reason.INVALID_REQUEST, Reason.UNAUTHENTICATED, Reason.UNAVAILABLE, Reason.INTERNAL)
    operation = OPERATIONS.get(name)
    if operation is None:
        return outcome in ("OK", Reason.METHOD_NOT_FOUND)
    needs_token = (Reason.UNAUTHENTICATED,) if operation.needs is not None else ()
    return outcome in (*_ANY_CALL, *needs_token, *operation.all_reasons)


def _sample(name: str, labels: list[str], value: float) -> str:
    written = f"{{{','.join(labels)}}}" if labels else ""
    return f"tickover_{name}{written} {int(value) if value == int(value) else value!r}"
