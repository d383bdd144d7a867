"""Limits on emails to an address, and on attempts with its codes."""

from datetime import timedelta
from math import ceil
from typing import Final

from msgspec import Struct

from tickover.api.limits import (
    CODE_ATTEMPTS,
    FAILURES_IN_A_ROW,
    RESEND_INTERVAL,
    SENDS_AN_HOUR,
    SENDS_AN_HOUR_FROM_ONE_NETWORK,
)
from tickover.api.timestamps import Instant

HOUR: Final = timedelta(hours=1)
MAX_DISORDER: Final = timedelta(minutes=10)
"""Concurrent emails may be recorded out of order. A time later than this means that the wall clock was set back."""


class SendLimits(Struct, frozen=True):
    """Limits until the next sign-in. The operator can change those of emails."""

    resend_interval: timedelta = RESEND_INTERVAL
    sends_an_hour: int = SENDS_AN_HOUR
    sends_an_hour_from_one_network: int = SENDS_AN_HOUR_FROM_ONE_NETWORK
    code_attempts: int = CODE_ATTEMPTS
    failures_in_a_row: int = FAILURES_IN_A_ROW
    failure_lifetime: timedelta | None = None
    """How long after the last failure the failures count. None means until a sign-in."""


class EmailRecorded(Struct, frozen=True):
    """The email may be sent. If `codes_stopped`, the address accepts no codes until it signs in with a link."""

    codes_stopped: bool


class TooSoon(Struct, frozen=True):
    """The email must wait until `interval` after `since`. `by_last_email` means the resend interval, not a quota."""

    since: Instant
    interval: timedelta
    by_last_email: bool

    def retry_after_seconds(self, now: Instant) -> int:
        """Return the seconds to wait, from 1 to the interval, even if the wall clock was set back."""
        wait = min(self.since + self.interval - now, self.interval)
        return max(1, ceil(wait.total_seconds()))
