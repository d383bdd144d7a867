"""Ids and cursors. A clock's id contains its creation time."""

from datetime import UTC, datetime, timedelta
from uuid import RFC_4122, UUID

import pytest

from tickover.api import ids

BORN = datetime(2027, 1, 1, 12, 0, 0, 123_000, tzinfo=UTC)
WEEK = timedelta(days=7)
MICROSECOND = timedelta(microseconds=1)
ZEROS = bytes(10)
ONES = b"\xff" * 10


@pytest.mark.parametrize("random", [ZEROS, ONES])
def test_id_is_prefix_and_uuid_version_7(random: bytes) -> None:
    key = ids.uuid7(BORN, random)
    uuid = UUID(bytes=key)
    assert (uuid.version, uuid.variant) == (7, RFC_4122)
    assert ids.write("clock", key) == f"clock_{uuid}"
    assert ids.read("clock", f"clock_{uuid}") == key
    assert ids.read("user", f"user_{uuid}") == key


def test_74_random_bits_are_used() -> None:
    none = int.from_bytes(ids.uuid7(BORN, ZEROS), "big")
    keys = [ids.uuid7(BORN, (1 << bit).to_bytes(10, "big")) for bit in range(80)]
    changes = [none ^ int.from_bytes(key, "big") for key in keys]
    assert {len(key) for key in keys} == {16}
    assert sum(change.bit_count() for change in changes) == 74
    assert len({change for change in changes if change}) == 74


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("0198a000-0000-7000-8000-000000000000", id="no prefix"),
        pytest.param("user_0198a000-0000-7000-8000-000000000000", id="another prefix"),
        pytest.param("clock_0198A000-0000-7000-8000-000000000000", id="one upper-case digit"),
        pytest.param("clock_0198a000-0000-7000-8000-00000000000", id="a digit short"),
        pytest.param("clock_0198a000-0000-7000-8000-00000000000০", id="a Bengali digit"),
        pytest.param("clock_0198a000-0000-8000-8000-000000000000", id="version 8"),
        pytest.param("clock_0198a000-0000-7000-7000-000000000000", id="variant just below"),
        pytest.param("clock_0198a000-0000-7000-8000-000000000000\n", id="line break at the end"),
        pytest.param("clock_" + "0" * 1_000_000, id="a million digits"),
    ],
)
def test_invalid_clock_id_has_no_key(text: str) -> None:
    assert ids.read("clock", text) is None


@pytest.mark.parametrize(
    ("age", "expired"),
    [
        pytest.param(WEEK - MICROSECOND, False, id="a microsecond before seven days"),
        pytest.param(WEEK, True, id="seven days"),
        pytest.param(-MICROSECOND, False, id="not yet born"),
    ],
)
@pytest.mark.parametrize("micros", [0, 999])
@pytest.mark.parametrize("random", [ZEROS, ONES])
def test_clock_expires_seven_days_after_its_millisecond(
    age: timedelta, expired: bool, micros: int, random: bytes
) -> None:
    key = ids.uuid7(BORN + micros * MICROSECOND, random)
    assert ids.expires_at(key) == BORN + WEEK
    assert ids.has_expired(key, BORN + age) is expired
    assert (key < ids.first_live_key(BORN + age)) is expired


# Cursors

_HEX = "01a2d11f02007129903ac1d45597fdf1"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_HEX, id="no prefix"),
        pytest.param(f"clock_{_HEX}", id="another prefix"),
        pytest.param(f"cursor_{_HEX[:-1]}০", id="a Bengali digit"),
        pytest.param(f"cursor_{_HEX}\n", id="line break at the end"),
    ],
)
def test_invalid_cursor_has_no_key(text: str) -> None:
    assert ids.read_cursor(text) is None
