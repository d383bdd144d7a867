"""Numbers in memory that all processes of a server share. Each process writes its own row, so it needs no lock."""

from bisect import bisect_left
from mmap import mmap
from typing import Final

from tickover.api.errors import Reason, Rejection
from tickover.server.operations import OPERATIONS

Key = tuple[str, ...]

OPERATION_NAMES: Final = (*OPERATIONS, "unknown")
"""Calls of unknown methods are counted together, because callers choose the name."""
OUTCOMES: Final = ("OK", *Reason)
EMAIL_OUTCOMES: Final = ("sent", "rejected", "unknown")
BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the buckets of durations, in seconds."""
BUCKET_NAMES: Final = (*(f"{bound:g}" for bound in BUCKETS), "+Inf")
GAUGES: Final = ("calls in flight", "connections", "database connections", "busy connections", "calls waiting")

_CAUSES: Final = {
    "Overloaded": "overloaded",
    "FullError": "disk_full",
    "DiskFullError": "disk_full",
    "ReadOnlyError": "read_only",
    "ReadOnlySQLTransactionError": "read_only",
    "BusyError": "lock",
    "LockedError": "lock",
    "LockNotAvailableError": "lock",
    "TransactionRollbackError": "rolled_back",
    "TooManyConnectionsError": "too_many_connections",
    "TimeoutError": "timeout",
    "QueryCanceledError": "timeout",
    "InterfaceError": "connection",
    "InternalClientError": "connection",
    "PostgresConnectionError": "connection",
    "OperatorInterventionError": "connection",
    "ConnectionError": "connection",
    "gaierror": "connection",
    "InvalidAuthorizationSpecificationError": "access",
    "InvalidCatalogNameError": "access",
    "InsufficientPrivilegeError": "access",
    "IOError": "io",
    "CorruptError": "io",
    "NotADBError": "io",
    "PostgresSystemError": "io",
    "DataCorruptedError": "io",
}
"""Exceptions of the database drivers by name, the names of base classes included, and their causes."""
CAUSES: Final = (*dict.fromkeys(_CAUSES.values()), "other")

_KEYS: Final[list[Key]] = [
    *(("calls", operation, outcome) for operation in OPERATION_NAMES for outcome in OUTCOMES),
    *(("call seconds", operation, part) for operation in OPERATION_NAMES for part in (*BUCKET_NAMES, "sum")),
    *(("emails", outcome) for outcome in EMAIL_OUTCOMES),
    *(("email seconds", part) for part in (*BUCKET_NAMES, "sum")),
    *(("database failures", cause) for cause in CAUSES),
    *((name,) for name in ("rejected requests", "last sweep", "swept rows", "worker restarts", *GAUGES)),
]
_SLOTS: Final = {key: slot for slot, key in enumerate(_KEYS)}
_CALL_SLOTS: Final = {
    operation: (_SLOTS["calls", operation, "OK"], _SLOTS["call seconds", operation, BUCKET_NAMES[0]])
    for operation in OPERATION_NAMES
}
_UNKNOWN: Final = _CALL_SLOTS["unknown"]
_OUTCOME_OFFSETS: Final = {outcome: offset for offset, outcome in enumerate(OUTCOMES)}
_SUM_OFFSET: Final = len(BUCKET_NAMES)


class SharedNumbers:
    """One row of numbers for each process, starting at 0. Processes that are forked later share them."""

    def __init__(self, processes: int = 1) -> None:
        self._numbers = memoryview(mmap(-1, processes * len(_SLOTS) * 8)).cast("d")

    def recorder(self, process: int = 0) -> "Recorder":
        """Return the recorder of one process. A new process continues the counts of the one that it replaces."""
        return Recorder(self._numbers[process * len(_SLOTS) : (process + 1) * len(_SLOTS)])

    def total(self, *key: str) -> float:
        """Return the sum over all processes."""
        return sum(self._numbers[_SLOTS[key] :: len(_SLOTS)])

    def maximum(self, *key: str) -> float:
        """Return the maximum over all processes."""
        return max(self._numbers[_SLOTS[key] :: len(_SLOTS)])


class Recorder:
    """Writes the numbers of one process."""

    def __init__(self, numbers: "memoryview[float]") -> None:
        self._numbers = numbers

    def record_call(self, operation: str, rejection: Rejection | None, seconds: float) -> None:
        """Count a call that has ended, its duration, and the failure of the database that may have ended it."""
        numbers = self._numbers
        outcomes, durations = _CALL_SLOTS.get(operation, _UNKNOWN)
        if rejection is None:
            numbers[outcomes] += 1
        else:
            numbers[outcomes + _OUTCOME_OFFSETS[rejection.reason]] += 1
            if rejection.reason is Reason.UNAVAILABLE and rejection.__cause__ is not None:
                self.add("database failures", cause_of(rejection.__cause__))
        numbers[durations + bisect_left(BUCKETS, seconds)] += 1
        numbers[durations + _SUM_OFFSET] += seconds

    def record_email(self, outcome: str, seconds: float) -> None:
        self.add("emails", outcome)
        self.add("email seconds", BUCKET_NAMES[bisect_left(BUCKETS, seconds)])
        self.add("email seconds", "sum", amount=seconds)

    def add(self, *key: str, amount: float = 1) -> None:
        self._numbers[_SLOTS[key]] += amount

    def set(self, *key: str, value: float) -> None:
        self._numbers[_SLOTS[key]] = value

    def clear_gauges(self) -> None:
        """Set the gauges of a process that has ended to 0."""
        for name in GAUGES:
            self.set(name, value=0)


def cause_of(failure: BaseException) -> str:
    """Return the kind of a database failure: one of CAUSES."""
    return next((_CAUSES[kind.__name__] for kind in type(failure).__mro__ if kind.__name__ in _CAUSES), "other")
