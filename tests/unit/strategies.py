"""Hypothesis strategies for valid requests of every kind, in any JSON form."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from msgspec import Raw

from tickover.api import timestamps
from tickover.api.clocks import NewClock
from tickover.api.fields import Params
from tickover.server.operations.check_test_clock import CheckEntry
from tickover.server.operations.list_test_clock_events import EventsEntry
from tickover.server.operations.login_by_email_verification import VerificationEntry
from tickover.server.operations.send_login_code_email import SendEntry
from tickover.server.operations.update_test_clock import UpdateEntry

Json: TypeAlias = Any

NOWS = [datetime(2027, 1, 1, 12, 0, 0, 123_456, tzinfo=UTC), datetime(2028, 2, 29, tzinfo=UTC)]
MICROSECOND = timedelta(microseconds=1)


def instants(earliest: datetime, latest: datetime) -> SearchStrategy[datetime]:
    return st.datetimes(earliest.replace(tzinfo=None), latest.replace(tzinfo=None), timezones=st.just(UTC))


@st.composite
def written_instants(draw: DrawFn, instants: SearchStrategy[datetime]) -> str:
    """A timestamp in any RFC 3339 form."""
    offset = draw(st.sampled_from([0, 0, 0, 330, -480, 1439, -1439]))
    local = draw(instants).astimezone(timezone(timedelta(minutes=offset)))
    sign, (hours, minutes) = "-" if offset < 0 else "+", divmod(abs(offset), 60)
    fraction = f".{local.microsecond:06}" if local.microsecond else draw(st.sampled_from(["", ".0"]))
    more = draw(st.sampled_from(["", "0", "9", "999999"])) if len(fraction) == 7 else ""
    zone = f"{sign}{hours:02}:{minutes:02}" if offset else draw(st.sampled_from(["Z", "z", "+00:00", "-00:00"]))
    return f"{local.year:04}-{local:%m-%d}{draw(st.sampled_from('Tt'))}{local:%H:%M:%S}{fraction}{more}{zone}"


def written_amounts(lowest: int) -> SearchStrategy[Raw]:
    """Any amount. `lowest` is 0 or 1; with 1, amounts are positive, down to the smallest double."""
    thousandths = st.one_of(st.integers(lowest, 10_000), st.integers(lowest, 999_999_999_999))
    return st.one_of(
        st.integers(lowest, 1_000_000_000).map(lambda amount: Raw(b"%d" % amount)),
        thousandths.map(lambda count: Raw(f"{count // 1000}.{count % 1000:03}".encode())),
        st.floats(5e-324, 1e9).map(lambda amount: Raw(repr(amount).encode())),
        st.sampled_from([b"1", b"0.1", b"0.2", b"1e9", b"1.0E+9", b"1E-7", b"2.50e2", b"5e-324", b"1e-323"]).map(Raw),
    )


def parts_of(target: Raw) -> SearchStrategy[Raw]:
    """Amounts that don't exceed the target."""
    limit = float(bytes(target))
    part = written_amounts(0).map(lambda amount: amount if float(bytes(amount)) <= limit else target)
    return st.one_of(st.sampled_from([Raw(b"0"), Raw(b"-0.0"), target]), part)


def written_names(longest: int) -> SearchStrategy[str | Raw]:
    """A name, sometimes with all possible characters escaped."""
    characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
    short = st.text(characters, min_size=1, max_size=12)
    name = st.one_of(short, st.sampled_from(["x" * longest, "\U0001f6b2" * longest]))
    return st.one_of(name, name.map(lambda text: Raw(json.dumps(text).encode())))


def objects(required: dict[str, SearchStrategy[Json]], **optional: SearchStrategy[Json]) -> SearchStrategy[Json]:
    return st.fixed_dictionaries(required, optional=optional)


OPENINGS = st.dictionaries(
    st.text("ABCXYZ", min_size=3, max_size=3), written_amounts(0) | st.sampled_from([-(10**12), 1e12]), max_size=3
)


@st.composite
def schedules(draw: DrawFn, now: datetime) -> Json:
    """Parameters of createTestClock. Items share a few instants."""
    earliest, latest = timestamps.years_after(now, -10), timestamps.years_after(now, 10)
    start = draw(st.one_of(st.sampled_from([now, earliest, latest]), instants(earliest, latest)))
    end = timestamps.years_after(start)
    some = draw(st.lists(st.one_of(st.sampled_from([start, end]), instants(start, end)), min_size=1, max_size=4))
    at = written_instants(st.sampled_from(some))
    transaction = objects(
        {
            "at": at,
            "name": written_names(120),
            "amount": written_amounts(1),
            "currency": st.text("ABCXYZ", min_size=3, max_size=3),
            "type": st.sampled_from(["INCOME", "EXPENSE"]),
        },
        category=st.one_of(written_names(80), st.just("")),
    )
    contributions = st.lists(objects({"at": at, "amount": written_amounts(1)}), max_size=5)
    goal = objects({"name": written_names(120), "targetAmount": written_amounts(1)}, contributions=contributions)
    params = draw(objects({}, transactions=st.lists(transaction, max_size=6), goals=st.lists(goal, max_size=3)))
    for each in params.get("goals", ()):
        if draw(st.booleans()):
            each["initialAmount"] = draw(parts_of(each["targetAmount"]))
    if start != now or draw(st.booleans()):
        params["frozenTime"] = draw(written_instants(st.just(start)))
    for each in params.get("transactions", ()):
        if draw(st.booleans()):
            each["authorizedAt"] = draw(written_instants(st.just(start)))
            each.update(draw(objects({}, authorizedAmount=written_amounts(1), authorizedName=written_names(120))))
    extensions = draw(st.sampled_from(["none", "accounts", "opening balances"]))
    if extensions == "opening balances":
        params["openingBalances"] = draw(OPENINGS)
    if extensions == "accounts":
        _add_accounts(draw, params, at)
    return params


def _add_accounts(draw: DrawFn, params: Json, at: SearchStrategy[Json]) -> None:
    """Add two accounts for the currency of each transaction, and transfers between them."""
    currencies = ["EUR", "USD", *2 * sorted({each["currency"] for each in params.get("transactions", ())}), "EUR"]
    params["accounts"] = [
        {"key": f"a-{index}", "name": draw(written_names(120)), "currency": currency}
        | draw(objects({}, type=st.sampled_from(["CASH", "LOAN"]), openingBalance=written_amounts(0)))
        for index, currency in enumerate(currencies)
    ]
    keys = st.sampled_from(range(len(currencies)))
    for each in params.get("transactions", ()):
        if draw(st.booleans()):
            each["account"] = f"a-{len(currencies) - 1 - currencies[::-1].index(each['currency'])}"
    params["transfers"] = []
    for source, target in draw(st.lists(st.tuples(keys, keys), max_size=4)):
        if source != target:
            transfer = {"at": draw(at), "name": draw(written_names(120)), "amount": draw(written_amounts(1))}
            if currencies[source] != currencies[target]:
                transfer["received"] = draw(written_amounts(1))
            params["transfers"].append({"from": f"a-{source}", "to": f"a-{target}", **transfer})


ADDRESSES = st.sampled_from(["ana@example.test", "Ána@Bücher.test", '"a b"@localhost', "a@localhost"])
TYPES = st.sampled_from([("SHORT_LIVED", "LOGIN_CODE"), ("LONG_LIVED", "WEB_LOGIN_LINK")])
CODES = st.from_regex("[0-9]{6}", fullmatch=True)
CHARACTERS = st.characters(exclude_categories=["Cs"])
"""The default of `st.text`, which Hypothesis finds by encoding every character, once in every new clone."""
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=50)

INSTANTS = written_instants(st.sampled_from(NOWS))
LIMITS = st.integers(1, 100).flatmap(lambda limit: st.sampled_from([limit, float(limit), Raw(b"%de0" % limit)]))

EXPECTATIONS = st.one_of(
    objects({"currency": st.just("EUR"), "atLeast": written_amounts(0)}, **{"from": INSTANTS, "until": INSTANTS}).map(
        lambda balance: {"balance": balance}
    ),
    objects({"goal": written_names(120), "by": INSTANTS}).map(lambda reached: {"goalReached": reached}),
    objects(
        {
            "type": st.just("INCOME"),
            "currency": st.just("EUR"),
            "per": st.sampled_from(["DAY", "ALL"]),
            "atMost": written_amounts(0),
        },
        category=written_names(80),
    ).map(lambda total: {"total": total}),
    objects({"name": written_names(120), "by": INSTANTS}, count=LIMITS).map(lambda posted: {"posted": posted}),
)
LABELS = st.dictionaries(st.text("aZ09._-/", min_size=1, max_size=64), written_names(200) | st.just(""), max_size=3)
EVENT_CURSORS = st.just("cursor_8005b3c1f0d5a000_0001_0000000f_1")

REQUESTS: dict[type[Params], SearchStrategy[Json]] = {
    NewClock: schedules(NOWS[0]),
    UpdateEntry: objects({"id": TEXTS}, name=st.none() | written_names(200), labels=st.none() | LABELS),
    EventsEntry: objects(
        {"id": TEXTS}, after=INSTANTS, until=INSTANTS, openingBalances=OPENINGS, limit=LIMITS, cursor=EVENT_CURSORS
    ),
    CheckEntry: objects(
        {"id": TEXTS, "expectations": st.lists(EXPECTATIONS, min_size=1, max_size=4)},
        until=INSTANTS,
        openingBalances=OPENINGS,
    ),
    SendEntry: st.builds(
        lambda email, types: {"email": email, "loginCodeType": types[0], "emailType": types[1]}, ADDRESSES, TYPES
    ),
    VerificationEntry: objects({"email": ADDRESSES, "code": CODES, "authenticationMethod": st.just("EMAIL_CODE")}),
}
"""Valid parameters of operations at NOWS[0], with types of every form."""
