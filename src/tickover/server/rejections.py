"""Counts rejected calls by reason, for one log line a minute. The counts contain no data of callers."""

from collections import Counter
from typing import Final

from structlog.stdlib import BoundLogger

from tickover.api.errors import Reason

REPORTED: Final = frozenset(
    {
        Reason.LOGIN_REFUSED,
        Reason.UNAUTHENTICATED,
        Reason.RESEND_TOO_SOON,
        Reason.RATE_LIMITED,
        Reason.MAIL_NOT_SENT,
        Reason.UNAVAILABLE,
    }
)
"""Reasons that may indicate guessing, flooding or an outage. Other reasons are mistakes of callers."""


class RejectionCounter:
    def __init__(self, log: BoundLogger) -> None:
        self._log = log
        self._counts: Counter[Reason] = Counter()

    def count(self, reason: Reason) -> None:
        if reason in REPORTED:
            self._counts[reason] += 1

    def report(self) -> None:
        """Log the counts since the last report in one line, if there are any."""
        if self._counts:
            counts, self._counts = self._counts, Counter()
            self._log.info("calls rejected", **{reason.lower(): number for reason, number in sorted(counts.items())})
