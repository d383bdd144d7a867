"""Ids and cursors. A clock's id contains its creation time."""

from datetime import UTC, datetime, timedelta
from uuid import RFC_4122, UUID

import pytest

from tickover.api import ids

BORN = datetime(2027, 1, 1, 12, 0, 0, 123_000, tzinfo=UTC)
WEEK = timedelta(days=7)
MILLISECOND = timedelta(milliseconds=1)
MICROSECOND = timedelta(microseconds=1)
ZEROS = bytes(10)
ONES = b"\xff" * 10


@pytest.mark.parametrize("random", [pytest.param(ZEROS, id="zeros"), pytest.param(ONES, id="ones")])
def test_key_is_a_uuid_version_7(random: bytes) -> None:
    uuid = UUID(bytes=ids.uuid7(BORN, random))
    assert (uuid.version, uuid.variant) == (7, RFC_4122)


def test_74_random_bits_are_used() -> None:
    none = int.from_bytes(ids.uuid7(BORN, ZEROS), "big")
    keys = [ids.uuid7(BORN, (1 << bit).to_bytes(10, "big")) for bit in range(80)]
    changes = [none ^ int.from_bytes(key, "big") for key in keys]
    assert {len(key) for key in keys} == {16}
    assert sum(change.bit_count() for change in changes) == 74
    assert len({change for change in changes if change}) == 74


@pytest.mark.parametrize(
    ("later", "same"),
    [
        pytest.param(timedelta(0), True, id="at once"),
        pytest.param(timedelta(microseconds=999), True, id="the last microsecond of the millisecond"),
        pytest.param(MILLISECOND, False, id="the next millisecond"),
        pytest.param(-MICROSECOND, False, id="the microsecond before"),
    ],
)
def test_creation_time_is_truncated_to_the_millisecond(later: timedelta, same: bool) -> None:
    assert (ids.uuid7(BORN + later, ZEROS) == ids.uuid7(BORN, ZEROS)) is same


def test_keys_sort_by_age() -> None:
    older, younger = ids.uuid7(BORN, ONES), ids.uuid7(BORN + MILLISECOND, ZEROS)
    assert older < younger
    assert ids.write("clock", older) < ids.write("clock", younger)


def test_id_is_prefix_and_uuid() -> None:
    key = ids.uuid7(BORN, ONES)
    assert ids.write("clock", key) == f"clock_{UUID(bytes=key)}"
    assert ids.write("user", key) == f"user_{UUID(bytes=key)}"


@pytest.mark.parametrize("random", [pytest.param(ZEROS, id="zeros"), pytest.param(ONES, id="ones")])
def test_clock_id_round_trip(random: bytes) -> None:
    key = ids.uuid7(BORN, random)
    assert ids.read_clock_id(ids.write("clock", key)) == key


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("clock_", id="prefix alone"),
        pytest.param("0198a000-0000-7000-8000-000000000000", id="no prefix"),
        pytest.param("goal_0198a000-0000-7000-8000-000000000000", id="another prefix"),
        pytest.param("CLOCK_0198a000-0000-7000-8000-000000000000", id="upper-case prefix"),
        pytest.param("clock_0198A000-0000-7000-8000-000000000000", id="one upper-case digit"),
        pytest.param("clock_0198a000-0000-7000-8000-00000000000", id="a digit short"),
        pytest.param("clock_0198a000-0000-7000-8000-0000000000000", id="a digit long"),
        pytest.param("clock_0198a000000070008000000000000000", id="no hyphens"),
        pytest.param("clock_0198a0000-000-7000-8000-000000000000", id="hyphens elsewhere"),
        pytest.param("clock_{0198a000-0000-7000-8000-000000000000}", id="in braces"),
        pytest.param("clock_0198a000-0000-7000-8000-00000000000g", id="no digit of sixteen"),
        pytest.param("clock_0198a000-0000-7000-8000-00000000000০", id="a Bengali digit"),
        pytest.param("clock_0198a000-0000-4000-8000-000000000000", id="version 4"),
        pytest.param("clock_0198a000-0000-6000-8000-000000000000", id="version 6"),
        pytest.param("clock_0198a000-0000-8000-8000-000000000000", id="version 8"),
        pytest.param("clock_0198a000-0000-7000-7000-000000000000", id="variant just below"),
        pytest.param("clock_0198a000-0000-7000-c000-000000000000", id="variant just above"),
        pytest.param("clock_0198a000-0000-7000-8000-000000000000\n", id="line break at the end"),
        pytest.param(" clock_0198a000-0000-7000-8000-000000000000", id="space at the start"),
        pytest.param("clock_0198a000-0000-7000-8000-000000000000\0", id="U+0000 at the end"),
        pytest.param("clock_" + "0" * 1_000_000, id="a million digits"),
    ],
)
def test_invalid_clock_id_has_no_key(text: str) -> None:
    assert ids.read_clock_id(text) is None


def test_user_id_is_parsed() -> None:
    key = ids.uuid7(BORN, ONES)
    assert ids.read_user_id(ids.write("user", key)) == key
    for text in (ids.write("clock", key), ids.write("user", key)[:-1], "user_", "ana@example.test"):
        assert ids.read_user_id(text) is None


@pytest.mark.parametrize("variant", "89ab")
def test_every_variant_of_uuid_7_is_parsed(variant: str) -> None:
    text = f"clock_0198a000-0000-7fff-{variant}fff-ffffffffffff"
    assert ids.read_clock_id(text) == UUID(text.removeprefix("clock_")).bytes


@pytest.mark.parametrize(
    ("age", "expired"),
    [
        pytest.param(timedelta(0), False, id="newborn"),
        pytest.param(WEEK - MILLISECOND, False, id="a millisecond before seven days"),
        pytest.param(WEEK - MICROSECOND, False, id="a microsecond before seven days"),
        pytest.param(WEEK, True, id="seven days"),
        pytest.param(WEEK + MICROSECOND, True, id="a microsecond after seven days"),
        pytest.param(timedelta(days=3650), True, id="ten years"),
        pytest.param(-MICROSECOND, False, id="not yet born"),
        pytest.param(timedelta(days=-3650), False, id="born ten years from now"),
    ],
)
@pytest.mark.parametrize("random", [pytest.param(ZEROS, id="zeros"), pytest.param(ONES, id="ones")])
def test_clock_expires_after_seven_days_inclusive(age: timedelta, expired: bool, random: bytes) -> None:
    key = ids.uuid7(BORN, random)
    now = BORN + age
    assert ids.has_expired(key, now) is expired
    assert (ids.expires_at(key) <= now) is expired
    assert (key < ids.first_live_key(now)) is expired


@pytest.mark.parametrize("micros", [0, 1, 499, 999])
def test_expiry_is_seven_days_after_the_millisecond_of_creation(micros: int) -> None:
    key = ids.uuid7(BORN + timedelta(microseconds=micros), ZEROS)
    assert ids.expires_at(key) == BORN + WEEK
    assert not ids.has_expired(key, BORN + WEEK - MICROSECOND)
    assert ids.has_expired(key, BORN + WEEK)


@pytest.mark.parametrize("micros", [0, 1, 999])
def test_first_live_key_separates_expired_from_live(micros: int) -> None:
    now = BORN + WEEK + timedelta(microseconds=micros)
    last_expired, first_living = ids.uuid7(BORN, ONES), ids.uuid7(BORN + MILLISECOND, ZEROS)
    assert last_expired < ids.first_live_key(now) <= first_living


@pytest.mark.parametrize(
    ("made_up", "expired"),
    [
        pytest.param("clock_00000000-0000-7000-8000-000000000000", True, id="born in 1970"),
        pytest.param("clock_ffffffff-ffff-7fff-bfff-ffffffffffff", False, id="born after the year 9999"),
    ],
)
def test_invented_id_expires_by_its_creation_time(made_up: str, expired: bool) -> None:
    key = ids.read_clock_id(made_up)
    assert key is not None
    assert ids.has_expired(key, BORN) is expired


@pytest.mark.parametrize(
    ("born", "day"),
    [
        pytest.param(datetime(1970, 1, 1, tzinfo=UTC), 0, id="the first instant of the first day"),
        pytest.param(datetime(1970, 1, 2, tzinfo=UTC) - MICROSECOND, 0, id="its last instant"),
        pytest.param(datetime(1970, 1, 2, tzinfo=UTC), 1, id="the next day"),
        pytest.param(BORN, 20_819, id="a recent day"),
    ],
)
@pytest.mark.parametrize("random", [pytest.param(ZEROS, id="zeros"), pytest.param(ONES, id="ones")])
def test_creation_day_counts_from_1970_in_utc(born: datetime, day: int, random: bytes) -> None:
    assert ids.creation_day(ids.uuid7(born, random)) == day


# Cursors


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(ids.uuid7(BORN, ZEROS), id="zeros"),
        pytest.param(ids.uuid7(BORN, ONES), id="ones"),
        pytest.param(bytes(16), id="the lowest"),
        pytest.param(b"\xff" * 16, id="the highest"),
    ],
)
def test_cursor_round_trip(key: bytes) -> None:
    cursor = ids.write_cursor(key)
    assert cursor == f"cursor_{key.hex()}"
    assert ids.read_cursor(cursor) == key


_HEX = "01a2d11f02007129903ac1d45597fdf1"


def test_valid_cursor_is_parsed() -> None:
    assert ids.read_cursor(f"cursor_{_HEX}") == bytes.fromhex(_HEX)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("cursor_", id="prefix alone"),
        pytest.param(_HEX, id="no prefix"),
        pytest.param(f"clock_{_HEX}", id="another prefix"),
        pytest.param(f"cursor{_HEX}", id="no underscore"),
        pytest.param(f"Cursor_{_HEX}", id="uppercase prefix"),
        pytest.param(f"cursor_{_HEX.upper()}", id="upper-case digits"),
        pytest.param(f"cursor_{_HEX[:-1]}F", id="one upper-case digit"),
        pytest.param(f"cursor_{_HEX[:-1]}", id="a digit short"),
        pytest.param(f"cursor_{_HEX}0", id="a digit long"),
        pytest.param(f"cursor_{_HEX[:-2]}", id="a byte short"),
        pytest.param(f"cursor_{_HEX}00", id="a byte long"),
        pytest.param(f"cursor_{_HEX[:-1]}g", id="no digit of sixteen"),
        pytest.param(f"cursor_{_HEX[:-1]}০", id="a Bengali digit"),
        pytest.param(f"cursor_{_HEX[:-2]} 1", id="a space within"),
        pytest.param(ids.write("cursor", bytes.fromhex(_HEX)), id="with hyphens"),
        pytest.param(f" cursor_{_HEX}", id="space at the start"),
        pytest.param(f"cursor_{_HEX}\n", id="line break at the end"),
        pytest.param(f"cursor_{_HEX}\0", id="U+0000 at the end"),
        pytest.param("cursor_" + "0" * 1_000_000, id="a million digits"),
    ],
)
def test_invalid_cursor_has_no_key(text: str) -> None:
    assert ids.read_cursor(text) is None
