"""IDs: opaque strings with a prefix in the API, keys of 16 bytes inside.

A key is a UUIDv7. It contains the millisecond of its creation, so keys sort by age, and a clock's key tells its expiry.
"""

import re
from datetime import timedelta
from typing import Final

from tickover.api.limits import CLOCK_LIFETIME
from tickover.api.timestamps import Instant, from_micros, to_micros

_UUID7: Final = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_CURSOR: Final = re.compile(r"cursor_[0-9a-f]{32}")
_LIFETIME_MS: Final = CLOCK_LIFETIME // timedelta(milliseconds=1)


def uuid7(created_at: Instant, random: bytes) -> bytes:
    """Return a UUIDv7 with this creation time, truncated to the millisecond. `random` has ten bytes; 74 bits count."""
    millis = to_micros(created_at) // 1000
    version = bytes([0x70 | random[0] & 0x0F, random[1]])
    variant = bytes([0x80 | random[2] & 0x3F])
    return millis.to_bytes(6, "big") + version + variant + random[3:10]


def write(prefix: str, key: bytes) -> str:
    text = key.hex()
    return f"{prefix}_{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def read(prefix: str, id: str) -> bytes | None:
    """Return the key of an ID with this prefix, or None if the ID is invalid."""
    found, _, uuid = id.partition("_")
    return bytes.fromhex(uuid.replace("-", "")) if found == prefix and _UUID7.fullmatch(uuid) else None


def write_cursor(key: bytes) -> str:
    """Return the cursor of the page after the clock with this key."""
    return f"cursor_{key.hex()}"


def read_cursor(text: str) -> bytes | None:
    """Return the key of a cursor, or None if the cursor is invalid."""
    return bytes.fromhex(text[7:]) if _CURSOR.fullmatch(text) else None


def has_expired(key: bytes, now: Instant) -> bool:
    """Return whether a clock with this key has expired, whether or not it exists."""
    # In milliseconds, because an invented ID may contain a creation time after the year 9999.
    return to_micros(now) // 1000 - _created_ms(key) >= _LIFETIME_MS


def expires_at(key: bytes) -> Instant:
    return from_micros(_created_ms(key) * 1000) + CLOCK_LIFETIME


def first_live_key(now: Instant) -> bytes:
    """Return the smallest key that a live clock can have. All keys of expired clocks are smaller."""
    millis = max(0, to_micros(now) // 1000 - _LIFETIME_MS + 1)
    return millis.to_bytes(6, "big") + bytes(10)


def _created_ms(key: bytes) -> int:
    return int.from_bytes(key[:6], "big")
