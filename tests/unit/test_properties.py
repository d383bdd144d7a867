"""Property tests of views, decoding and explanations.

A plain model predicts views. The fast path of decoding and `explain` must agree on every request.
"""

from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import product
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from msgspec import Raw

from tests.unit import model
from tests.unit.model import read_instant, read_seen, read_sent
from tests.unit.strategies import (
    CHARACTERS,
    MICROSECOND,
    NOWS,
    REQUESTS,
    Json,
    instants,
    schedules,
    written_instants,
)
from tickover.api import ids, timestamps
from tickover.api.clocks import ContributionEntry, GoalEntry, NewClock, Snapshot, TransactionEntry
from tickover.api.fields import Params
from tickover.api.limits import MAX_EMAIL
from tickover.api.timestamps import Instant
from tickover.server.rpc.decode import decode, explain, try_fast_decode
from tickover.server.schedule.clock import Clock, new_clock
from tickover.server.schedule.schedule import Schedule, decode_stored, encode_stored, fork_schedule, new_schedule
from tickover.server.schedule.view import view
from tickover.server.sign_in import email_addresses

many = settings(max_examples=20, deadline=None, derandomize=True)
fewer = settings(max_examples=10, deadline=None, derandomize=True)
every_kind = pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.__name__)

FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
DAY = timedelta(days=1)


# Views


class Story(NamedTuple):
    """A new clock, and the instants to advance it to."""

    written: bytes
    now: Instant
    clock: Clock
    params: NewClock
    schedule: Schedule
    stops: list[Instant]

    def seen_at(self, frozen_time: Instant) -> Json:
        return read_seen(view(frozen_time, self.schedule))


@st.composite
def stories(draw: DrawFn, stops: int = 1) -> Story:
    now = draw(st.sampled_from(NOWS))
    written = msgspec.json.encode(draw(schedules(now)))
    faults, params = decode(NewClock, written, now)
    assert params is not None, faults
    key = ids.uuid7(now, bytes(range(10)))
    clock = new_clock(key, params, now)
    # Encode and decode the schedule as a database does.
    schedule = decode_stored(encode_stored(new_schedule(clock, params)))
    around = {at + step for at in ats_in(read_sent(written)) for step in (-MICROSECOND, timedelta(0), MICROSECOND)}
    close = [instant for instant in sorted(around) if clock.start_time <= instant <= clock.max_time]
    stop = st.one_of(
        st.sampled_from([clock.start_time, clock.max_time, *close]), instants(clock.start_time, clock.max_time)
    )
    return Story(written, now, clock, params, schedule, sorted(draw(st.lists(stop, min_size=stops, max_size=stops))))


def ats_in(params: Json) -> Iterator[datetime]:
    lists = params.get("transactions", []), params.get("transfers", [])
    for items in [*lists, *(goal.get("contributions", []) for goal in params.get("goals", []))]:
        yield from (read_instant(item["at"]) for item in items)


@many
@given(stories(stops=3))
def test_view_equals_model(story: Story) -> None:
    params = read_sent(story.written)
    for frozen_time in (story.clock.start_time, *story.stops, story.clock.max_time):
        # The first view of a schedule is encoded as a whole. Further ones are joined from pieces.
        encoded = view(frozen_time, decode_stored(encode_stored(story.schedule)))
        assert [view(frozen_time, story.schedule) for _ in range(2)] == [encoded] * 2
        assert read_seen(encoded) == model.view(params, story.clock.key, story.now, frozen_time)
        read = msgspec.to_builtins(msgspec.json.decode(encoded, type=Snapshot), builtin_types=(Decimal,))
        assert {"openingBalances": {}, **read} == {"openingBalances": {}, **read_seen(encoded)}


@fewer
@given(stories(stops=3), st.binary(min_size=10, max_size=10))
def test_view_of_fork_differs_only_in_ids_and_expiry(story: Story, random: bytes) -> None:
    forked_at = story.stops[0]
    later = story.now + timedelta(days=3)
    original = story.clock
    fork = Clock(ids.uuid7(later, random), original.start_time, forked_at, original.max_time)
    schedule = fork_schedule(story.schedule, fork)
    # The same as a clock that is created with the same parameters on the later day.
    params = read_sent(story.written) | {"frozenTime": model.write_instant(original.start_time)}
    for frozen_time in (original.start_time, *story.stops, original.max_time):
        seen = read_seen(view(frozen_time, schedule))
        assert seen == model.view(params, fork.key, later, frozen_time)
        assert without_ids(seen) == without_ids(story.seen_at(frozen_time))


def without_ids(seen: Json) -> Json:
    if isinstance(seen, dict):
        return {name: without_ids(part) for name, part in seen.items() if name not in ("id", "expiresAt")}
    return [without_ids(part) for part in seen] if isinstance(seen, list) else seen


# Instants and addresses


@many
@given(instants(FIRST, LAST))
def test_instant_round_trips(instant: Instant) -> None:
    assert timestamps.parse(timestamps.write(instant)) == instant
    assert timestamps.write(instant) == model.write_instant(instant)
    assert timestamps.from_micros(timestamps.to_micros(instant)) == instant


@many
@given(instants(FIRST + DAY, LAST - DAY), st.data())
def test_instant_is_parsed_from_every_form(instant: Instant, data: st.DataObject) -> None:
    assert timestamps.parse(data.draw(written_instants(st.just(instant)))) == instant


# Decoding and explaining


def assert_fast_decode_agrees_with_explain(kind: type[Params], written: bytes) -> None:
    params, (found, explained) = try_fast_decode(kind, written, NOWS[0]), explain(kind, written)
    between = [] if explained is None else list(explained.faults(NOWS[0]))
    if params is not None:
        assert found == []
        # Compare the repr, because 1 == 1.0 == True in Python.
        assert repr(explained) == repr(params)
        assert between == []
    # All faults can be encoded.
    assert len(msgspec.json.decode(msgspec.json.encode(found + between))) == len(found + between)


@every_kind
@fewer
@given(data=st.data())
def test_valid_request_has_no_faults(kind: type[Params], data: st.DataObject) -> None:
    written = msgspec.json.encode(data.draw(REQUESTS[kind]))
    assert_fast_decode_agrees_with_explain(kind, written)
    faults, params = decode(kind, written, NOWS[0])
    assert faults == []
    assert params is not None


LEAP_DAY = datetime(2028, 2, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize("start", [*(NOWS[0].replace(year=year) for year in (2017, 2018, 2036, 2037)), LEAP_DAY])
def test_fast_check_of_a_new_clock_agrees_with_its_faults(start: Instant) -> None:
    now, end = NOWS[0], timestamps.years_after(start)
    # A start ten calendar years from now is checked in full.
    needs_full_check = abs(start.year - now.year) == 10
    ats = [start - MICROSECOND, start, end, end + MICROSECOND]
    for first, second, currency, initial in product(ats, ats, ["EUR", "eur", "ÄÖÜ", "EU1"], [0, 2, 2.5]):
        transactions = [TransactionEntry(at, "Rent", 1, currency, "EXPENSE") for at in (start, first, start)]
        goals = [GoalEntry("Trip", 2, initial, [ContributionEntry(at, 1) for at in (start, second, start)])]
        params = NewClock(start, transactions, goals)
        assert params.passes_fast_checks(now) == (not needs_full_check and not list(params.faults(now))), params


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(CHARACTERS, max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(CHARACTERS, max_size=5), inner, max_size=3),
    max_leaves=5,
)
NUMBERS = [
    b"0", b"-0", b"0.0", b"-0.0", b"-1", b"-0.1", b"-5e-324", b"5e-324", b"1e-400", b"1e400", b"-1e400", b"1", b"1.0",
    b"999999999.9999999", b"1000000000", b"1e9", b"1000000000.0000001", b"1000000001", b"9223372036854775807",
    b"9223372036854775808", b"18446744073709551616", b"-9223372036854775809", b"9" * 25, b"9" * 400, b"0." + b"3" * 400,
]  # fmt: skip
TEXTS = [
    "", "\0", "a\0", "\n", "x" * 80, "x" * 81, "x" * 120, "x" * 121, "\U0001f6b2" * 120, "\U0001f6b2" * 121, "x" * 300,
    "EUR", "eur", "EU", "EURO", "EUR\n", "ÄÖÜ", "INCOME", "EXPENSE", "income", "SHORT_LIVED", "LONG_LIVED",
    "EMAIL_CODE", "LOGIN_CODE", "WEB_LOGIN_LINK", "012345", "12345", "123456\n", "১২৩৪৫৬", "1", "null",
    "ana@example.test", "ana@", "a@x.test,b@x.test", " ana@example.test", "a" * 255 + "@x.test",
    "2027-01-31T09:00:00Z", "2027-01-31t09:00:00z", "2027-01-31 09:00:00Z", "2027-01-31T09:00:00", "2027-01-31",
    "2027-01-31T09:00:00+0530", "2027-01-31T09:00:60Z", "2026-12-31T23:59:60Z", "2027-02-29T00:00:00Z",
    "2027-01-31T24:00:00Z", "2027-01-31T09:00:00+24:00", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59Z", "9999-12-31T23:59:60Z", "2017-01-01T00:00:00Z", "2037-01-01T12:00:00.123457Z",
]  # fmt: skip
NAMES = [
    "at", "name", "amount", "currency", "type", "category", "id", "frozenTime", "frozen_time", "frozentime", "goals",
    "transactions", "targetAmount", "initialAmount", "initalAmount", "contributions", "email", "code", "emailType",
    "loginCodeType", "authenticationMethod", "", "x" * 41, "x" * 201,
]  # fmt: skip
ALMOST = st.one_of(
    st.sampled_from(NUMBERS).map(Raw),
    st.sampled_from(TEXTS),
    st.sampled_from([None, True, False, [], {}, [[]], [{}], [None], {"at": 1}]).map(deepcopy),
    ANYTHING,
)
"""Values that are valid in some field, almost valid, or invalid everywhere."""


def places_in(value: Json) -> list[tuple[Json, Any]]:
    """Return every place in a JSON value: its container, and its name or index."""
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    inner = [place for key in keys if isinstance(value[key], dict | list) for place in places_in(value[key])]
    return [(value, key) for key in keys] + inner


def exchange(draw: DrawFn, holder: Json, key: Any) -> None:
    holder[key] = draw(ALMOST)


def leave_out(draw: DrawFn, holder: Json, key: Any) -> None:
    del holder[key]


def add(draw: DrawFn, holder: Json, key: Any) -> None:
    if isinstance(holder, dict):
        holder[draw(st.one_of(st.sampled_from(NAMES), st.text(CHARACTERS, max_size=5)))] = draw(ALMOST)
    else:
        holder.insert(key, draw(ALMOST))


def rename(draw: DrawFn, holder: Json, key: Any) -> None:
    if isinstance(holder, dict):
        holder[draw(st.sampled_from(NAMES))] = holder.pop(key)


def repeat(draw: DrawFn, holder: Json, key: Any) -> None:
    """Repeat an item up to a limit, or one over it."""
    if isinstance(holder, list):
        holder.extend([holder[key]] * (draw(st.sampled_from([25, 26, 100, 101])) - len(holder)))


@st.composite
def changed_requests(draw: DrawFn, kind: type[Params]) -> bytes:
    """Valid parameters after one to three changes. Most are invalid then."""
    params = draw(REQUESTS[kind])
    for _ in range(draw(st.integers(1, 3))):
        places = places_in(params)
        if places:
            change = draw(st.sampled_from([exchange, exchange, leave_out, add, rename, repeat]))
            change(draw, *draw(st.sampled_from(places)))
        else:
            add(draw, params, None)
    return msgspec.json.encode(params)


@every_kind
@many
@given(data=st.data())
def test_fast_decode_agrees_with_explain_for_changed_requests(kind: type[Params], data: st.DataObject) -> None:
    assert_fast_decode_agrees_with_explain(kind, data.draw(changed_requests(kind)))


INVALID: Json = ["invalid"]


@every_kind
@fewer
@given(data=st.data())
def test_exactly_the_invalid_fields_are_listed(kind: type[Params], data: st.DataObject) -> None:
    params = data.draw(REQUESTS[kind].filter(bool))
    plain = [place for place in places_in(params) if not isinstance(place[0][place[1]], dict | list)]
    invalid = data.draw(st.lists(st.sampled_from(range(len(plain))), unique=True)) if plain else []
    for number in invalid:
        holder, key = plain[number]
        # An array is invalid in every plain field.
        holder[key] = INVALID
    found, read = explain(kind, msgspec.json.encode(params))
    assert sorted(fault.path for fault in found) == sorted(paths_of_invalid(params))
    assert {fault.rule for fault in found} <= {"type", "oneOf"}
    assert list(read.faults(NOWS[0])) == []


def paths_of_invalid(value: Json, path: str = "") -> Iterator[str]:
    """Yield the expected paths of faults."""
    if value == INVALID:
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from paths_of_invalid(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from paths_of_invalid(item, f"{path}[{index}]")


PLAIN_PIECES = ["a", "z9", "0", ".", "-", "--", "+", "_", "x" * 63, "x" * 64, "xn--a", "1.2", "com", "A", " "]
PLAIN_PART = st.lists(st.sampled_from(PLAIN_PIECES), min_size=1, max_size=6).map("".join)


@many
@given(PLAIN_PART, PLAIN_PART)
def test_plain_address_is_canonical(local: str, domain: str) -> None:
    for text in (f"{local}@{domain}", f"a@{domain}.com", f"{local}@x.test"):
        if email_addresses._PLAIN.fullmatch(text) and len(text) <= MAX_EMAIL:
            assert email_addresses._parse_any(text) == text
