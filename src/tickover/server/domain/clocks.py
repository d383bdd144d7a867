"""Test clocks. A clock points to a schedule, which never changes, and to an instant, which only moves forward.

`schedule_json` has the schedule, and the view: a pure function of a schedule and an instant.
"""

from msgspec import UNSET, Struct

from tickover.api import timestamps
from tickover.api.timestamps import Instant
from tickover.server.domain.clock_params import CreateTestClockParams


class Clock(Struct, frozen=True, gc=False):
    """A clock without its schedule. `ids.expires_at(key)` is its expiry."""

    key: bytes
    start_time: Instant
    frozen_time: Instant
    max_time: Instant


def new_clock(key: bytes, params: CreateTestClockParams, now: Instant) -> Clock:
    """Return a clock that starts at the requested frozen time, or now."""
    start_time = now if params.frozen_time is UNSET else params.frozen_time
    return Clock(key, start_time, start_time, timestamps.years_after(start_time))
