"""Test clocks. A clock points to a schedule and to an instant, which only moves forward.

A schedule never changes. An amendment makes the clock point to the next schedule, and adds 1 to its revision.

`schedule` has the schedule, and the view: a pure function of a schedule and an instant.
"""

from collections.abc import Mapping

from msgspec import UNSET, Struct, UnsetType, json

from tickover.api import timestamps
from tickover.api.clocks import NewClock
from tickover.api.timestamps import Instant


class Clock(Struct, frozen=True, gc=False):
    """A clock without its schedule. `ids.expires_at(key)` is its expiry."""

    key: bytes
    start_time: Instant
    frozen_time: Instant
    max_time: Instant
    name: str | None = None
    labels: str | None = None
    """A JSON object."""
    revision: int = 0
    """The number of amendments, each of which replaced the schedule."""


def new_clock(key: bytes, params: NewClock, now: Instant) -> Clock:
    """Return a clock that starts at the requested frozen time, or now."""
    start_time = params.frozen_time or now
    max_time = timestamps.years_after(start_time)
    return Clock(key, start_time, start_time, max_time, params.name or None, encode_labels(params.labels))


def encode_labels(labels: Mapping[str, str] | UnsetType | None) -> str | None:
    """Return labels as JSON, or None if there are none."""
    return None if labels is None or labels is UNSET else json.encode(labels).decode()


def encode_label(name: str, value: str) -> str:
    """Return the text of a label in the JSON of labels.

    A label's name contains no quote, and JSON escapes quotes in values, so no value can contain this text.
    """
    return json.encode({name: value}).decode()[1:-1]


def encode_start(clock: Clock) -> bytes:
    """Return the member `startTime` with a comma before it."""
    return b',"startTime":%b' % json.encode(clock.start_time)


def encode_names(clock: Clock) -> bytes:
    """Return the members `name` and `labels` of a clock, those that it has, with a comma before each."""
    name = b"" if clock.name is None else b',"name":%b' % json.encode(clock.name)
    return name if clock.labels is None else b'%b,"labels":%b' % (name, clock.labels.encode())
