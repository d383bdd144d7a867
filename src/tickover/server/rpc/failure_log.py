"""The log of calls that fail because of the database."""

from typing import Final

from tickover.api.errors import Reason, Rejection, truncate
from tickover.server.logs import Log

_QUIET_SECONDS: Final = 10.0


class FailureLog:
    """Logs calls that fail because of the database, at most one per kind in ten seconds.

    It logs the cause, which responses don't contain.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._quiet_until: dict[tuple[object, ...], float] = {}
        self._suppressed: dict[tuple[object, ...], int] = {}

    def note(self, operation: str, rejection: Rejection, began: float, ended: float, request_id: str) -> None:
        """Log a failure, or count it for the next line of its kind. `began` and `ended` are in seconds."""
        described = describe_cause(rejection)
        kind = (operation, described.get("cause"), described.get("sqlstate"))
        if ended < self._quiet_until.get(kind, ended):
            self._suppressed[kind] = self._suppressed.get(kind, 0) + 1
            return
        self._quiet_until[kind] = ended + _QUIET_SECONDS
        self._log.warning(
            "a call failed",
            method=operation,
            outcome=rejection.reason,
            **described,
            milliseconds=round((ended - began) * 1000),
            suppressed=self._suppressed.pop(kind, 0),
            request_id=request_id,
        )


def describe_cause(rejection: Rejection) -> dict[str, str]:
    """Return the fields of a failure for the log: the type of the cause, and the database's message.

    Every UNAVAILABLE with a cause comes from the database. The first line of its message has no values of callers.
    Messages of mail servers may contain email addresses, so they are omitted.
    """
    cause = rejection.__cause__
    if cause is None:
        return {}
    described = {"cause": type(cause).__name__}
    if sqlstate := getattr(cause, "sqlstate", None):
        described["sqlstate"] = sqlstate
    if rejection.reason is Reason.UNAVAILABLE and (message := str(cause).strip().partition("\n")[0]):
        described["error"] = truncate(message)
    return described
