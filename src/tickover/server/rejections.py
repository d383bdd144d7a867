"""Refused calls, counted by reason and logged once a minute. Nothing that a caller sent is in the counts."""

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
"""Signs of guessing, flooding or an outage. The other reasons are mistakes that only their callers care about."""


class RejectionCounter:
    def __init__(self, log: BoundLogger) -> None:
        self._log = log
        self._counts: Counter[Reason] = Counter()

    def count(self, reason: Reason) -> None:
        if reason in REPORTED:
            self._counts[reason] += 1

    def report(self) -> None:
        """Log what was counted since the last report, in one line; nothing if that's nothing."""
        if self._counts:
            counts, self._counts = self._counts, Counter()
            self._log.info("calls rejected", **{reason.lower(): number for reason, number in sorted(counts.items())})
