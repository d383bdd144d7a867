"""Ids: an opaque string with a prefix outside, sixteen bytes inside.

The sixteen bytes are a UUIDv7, so a clock's id carries the millisecond of its birth, and ids sort by age.
"""

import re
from datetime import timedelta
from typing import Final

from tickover.api.limits import CLOCK_LIFETIME
from tickover.api.timestamps import Instant, from_micros, to_micros

_CLOCK_ID: Final = re.compile(r"clock_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_CURSOR: Final = re.compile(r"cursor_[0-9a-f]{32}")
_MILLISECOND: Final = timedelta(milliseconds=1)
_DAY: Final = timedelta(days=1)
_LIFETIME_MILLIS: Final = CLOCK_LIFETIME // _MILLISECOND


def uuid7(born: Instant, random: bytes) -> bytes:
    """A UUIDv7 of this birth, cut to the millisecond, with ten random bytes of which 74 bits are used."""
    millis = to_micros(born) // 1000
    version = bytes([0x70 | random[0] & 0x0F, random[1]])
    variant = bytes([0x80 | random[2] & 0x3F])
    return millis.to_bytes(6, "big") + version + variant + random[3:10]


def write(prefix: str, key: bytes) -> str:
    text = key.hex()
    return f"{prefix}_{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def read_clock_id(text: str) -> bytes | None:
    """The key inside a clock's id, or None when no clock can have this id."""
    return bytes.fromhex(text[6:].replace("-", "")) if _CLOCK_ID.fullmatch(text) else None


def write_cursor(key: bytes) -> str:
    """Where the next page of a list begins: after the clock with this key."""
    return f"cursor_{key.hex()}"


def read_cursor(text: str) -> bytes | None:
    """The key inside a cursor, or None when it is none."""
    return bytes.fromhex(text[7:]) if _CURSOR.fullmatch(text) else None


def has_expired(key: bytes, now: Instant) -> bool:
    """Whether a clock of this id has lived its seven days; the id alone tells."""
    # In whole milliseconds, because an id that was made up may name a birth beyond the year 9999.
    return to_micros(now) // 1000 - _birth_millis(key) >= _LIFETIME_MILLIS


def expires_at(key: bytes) -> Instant:
    return from_micros(_birth_millis(key) * 1000) + CLOCK_LIFETIME


def first_live_key(now: Instant) -> bytes:
    """Every key of a clock that has expired by now sorts before this one, and no other does."""
    millis = max(0, to_micros(now) // 1000 - _LIFETIME_MILLIS + 1)
    return millis.to_bytes(6, "big") + bytes(10)


def day_of_birth(key: bytes) -> int:
    """The day on which the clock was made, counted from 1970 in UTC."""
    return _birth_millis(key) // (_DAY // _MILLISECOND)


def _birth_millis(key: bytes) -> int:
    return int.from_bytes(key[:6], "big")
