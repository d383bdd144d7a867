"""Checks that every server must pass before it is timed.

`check` tests a server only from outside. It computes the expected responses in fractions from the requests. So all
measured servers do the same work.
"""

import http.client
import json
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from lab.bench import bodies
from lab.bench.bodies import Json

_TIMEOUT_SECONDS = 60
_WEEK = timedelta(days=7)
# The server shares this machine's clock, but may truncate a clock's creation time to milliseconds.
_TOLERANCE = timedelta(milliseconds=5)

_WRONG_FIELDS: tuple[tuple[str, Any], ...] = (
    ("amount", 0),
    ("amount", 1_000_000_000.01),
    ("amount", "5"),
    ("amount", True),
    ("at", "2027-02-01"),
    ("at", "2027-02-01 00:00:00Z"),
    ("at", "2027-02-01T00:00:00"),
    ("at", "2026-12-31T23:59:59Z"),
    ("at", "2037-01-01T00:00:00.000001Z"),
    ("name", ""),
    ("name", "x" * 121),
    ("currency", "eur"),
    ("currency", "EUR\n"),
    ("type", "GIFT"),
    ("category", "x" * 81),
    ("colour", "red"),
)


class Response(NamedTuple):
    status: int
    headers: dict[str, str]
    body: Json


class Server:
    """One connection to a server, with a token."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.netloc, timeout=_TIMEOUT_SECONDS)
        self._path = parts.path.rstrip("/").removesuffix("/rpc") + "/rpc"
        self._calls = 0

    def close(self) -> None:
        self._connection.close()

    def call(self, method: str, params: Json, token: str = "") -> Response:
        self._calls += 1
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._connection.request("POST", self._path, bodies.request(method, params, self._calls), headers)
        response = self._connection.getresponse()
        text = response.read()
        try:
            body = json.loads(text)
        except ValueError:
            raise AssertionError(
                f"{method} returned {response.status} with {text[:200]!r}, which is not JSON"
            ) from None
        _expect_equal(f"{method}: jsonrpc and id", (body.get("jsonrpc"), body.get("id")), ("2.0", self._calls))
        return Response(response.status, {name.lower(): value for name, value in response.getheaders()}, body)

    def result(self, method: str, params: Json, token: str = "") -> Any:
        response = self.call(method, params, token)
        assert response.status == 200, f"{method} returned {response.status}: {response.body}"
        assert "result" in response.body, f"{method} returned an error: {response.body}"
        return response.body["result"]

    def clock(self, method: str, params: Json, token: str) -> Json:
        clock: Json = self.result(method, params, token)["clock"]
        return clock

    def expect_error(self, why: str, expected: tuple[int, int, str], call: tuple[str, Json, str]) -> Response:
        """Expect an error with this status, code and reason."""
        response = self.call(*call)
        error = response.body.get("error") or {}
        seen = (response.status, error.get("code"), (error.get("data") or {}).get("reason"))
        _expect_equal(f"{call[0]} with {why}: status, code and reason", seen, expected)
        return response


def check(url: str, read_code: Callable[[str], str]) -> str:
    """Check the server at this URL, and return a valid token.

    `read_code` waits for an email to an address and returns its code. The first difference raises an AssertionError.
    """
    server = Server(url)
    try:
        token = _sign_in(server, read_code)
        for params in (bodies.typical(), bodies.largest(), bodies.with_transactions(50), bodies.edge_cases()):
            _check_life(server, token, params)
        _check_tokens(server, token)
        _check_fields(server, token)
        _check_rejected_advances(server, token, _sign_in(server, read_code))
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise AssertionError(f"a response has an unexpected form: {error!r}") from error
    finally:
        server.close()
    return token


# Sign-in


def _sign_in(server: Server, read_code: Callable[[str], str]) -> str:
    """Return a token for a new address. Try a wrong code, the right code, and the right code again."""
    email = f"check-{secrets.token_hex(8)}@example.com"
    params = {"email": email, "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}
    _expect_equal("sendLoginCodeEmail", server.result("sendLoginCodeEmail", params), {"message": "ok"})
    code = read_code(email)
    assert re.fullmatch("[0-9]{6}", code), f"The code in the email is {code!r}"
    too_soon = (429, -32005, "RESEND_TOO_SOON")
    response = server.expect_error("a second email immediately", too_soon, ("sendLoginCodeEmail", params, ""))
    wait = response.body["error"]["data"].get("retryAfterSeconds")
    assert wait in range(1, 61), f"The next email is possible after {wait} seconds"
    _expect_equal("Retry-After", response.headers.get("retry-after"), str(wait))

    def attempt(digits: str) -> tuple[str, Json, str]:
        params = {"email": email, "code": digits, "authenticationMethod": "EMAIL_CODE"}
        return "loginByEmailVerification", params, ""

    rejected = (200, -32020, "LOGIN_REFUSED")
    server.expect_error("a wrong code", rejected, attempt(f"{(int(code) + 1) % 1_000_000:06}"))
    login = server.result(*attempt(code))
    _expect_equal("the fields of a login", set(login), {"token", "userId"})
    assert len(login["token"]) >= 32, f"The token {login['token']!r} is too short"
    server.expect_error("a used code", rejected, attempt(code))
    return str(login["token"])


# Clocks


def _check_life(server: Server, token: str, params: Json) -> None:
    """Create a clock, advance it to the middle of its schedule, to the same time again, and to its end."""
    earliest = datetime.now(UTC)
    created = server.clock("createTestClock", params, token)
    _check_clock(created, params, params["frozenTime"])
    created_at = _instant(created["expiresAt"]) - _WEEK
    assert earliest - _TOLERANCE <= created_at <= datetime.now(UTC) + _TOLERANCE, f"expiresAt is {created['expiresAt']}"
    every_at = sorted(_instant(item["at"]) for item in _items(params))
    middle, end = every_at[len(every_at) // 2], _ten_years_after(_instant(params["frozenTime"]))
    for instant in (middle, middle, end):
        to = bodies.timestamp(instant)
        advanced = server.clock("advanceTestClock", bodies.advance(created["id"], to), token)
        _check_clock(advanced, params, to)
        _expect_equal("fields that an advance must not change", _constant_fields(advanced), _constant_fields(created))


def _check_clock(clock: Json, params: Json, frozen_time: str) -> None:
    """Check every field of the clock at this time."""
    now, start = _instant(frozen_time), _instant(params["frozenTime"])
    visible, pending = _split(params.get("transactions", []), now)
    _expect_equal("fields of the clock", set(clock), {
        "id", "status", "frozenTime", "maxTime", "expiresAt", "transactions", "pendingTransactions", "goals",
    })  # fmt: skip
    _expect_equal("status", clock["status"], "READY")
    _expect_equal("frozenTime", clock["frozenTime"], bodies.timestamp(now))
    _expect_equal("maxTime", clock["maxTime"], bodies.timestamp(_ten_years_after(start)))
    simulated = {"source": "SIMULATED_TEST_CLOCK"}
    _expect_equal_items("transactions", clock["transactions"], [entry | simulated for entry in visible])
    _expect_equal_items("pendingTransactions", clock["pendingTransactions"], [entry | simulated for entry in pending])
    goals = [_goal_at(goal, now) for goal in params.get("goals", [])]
    seen = [dict(goal) for goal in clock["goals"]]
    _expect_equal("number of goals", len(seen), len(goals))
    for goal, expected in zip(seen, goals, strict=True):
        for field in ("contributions", "upcomingContributions"):
            _expect_equal_items(f"{field} of {goal['name']}", goal.pop(field), expected.pop(field))
    _expect_equal_items("goals", seen, goals)
    _check_ids(clock)


def _goal_at(goal: Json, now: datetime) -> Json:
    posted, upcoming = _split(goal.get("contributions", []), now)
    target = _exact(goal["targetAmount"])
    current = _exact(goal.get("initialAmount", 0)) + sum(_exact(entry["amount"]) for entry in posted)
    hundredths = floor(current * 10_000 / target + Fraction(1, 2))
    if current < target:
        hundredths = min(hundredths, 9_999)
    return {
        "name": goal["name"],
        "targetAmount": goal["targetAmount"],
        "currentAmount": float(current),
        "remainingAmount": float(target - current),
        "progressPercent": hundredths / 100,
        "contributions": posted,
        "upcomingContributions": upcoming,
    }


def _split(entries: Sequence[Json], now: datetime) -> tuple[list[Json], list[Json]]:
    """Return past and future items, sorted by time and then by position, with timestamps in UTC."""
    ordered = sorted(entries, key=lambda entry: _instant(entry["at"]))
    normalized = [entry | {"at": bodies.timestamp(_instant(entry["at"]))} for entry in ordered]
    happened = sum(_instant(entry["at"]) <= now for entry in ordered)
    return normalized[:happened], normalized[happened:]


def _check_ids(clock: Json) -> None:
    ids = [clock["id"], *(item["id"] for item in _items_with_ids(clock))]
    assert all(isinstance(id, str) and id for id in ids), f"An ID is not a string: {ids}"
    _expect_equal("different ids", len(set(ids)), len(ids))


def _constant_fields(clock: Json) -> list[Any]:
    """Return the fields that an advance must not change, above all the IDs of items."""
    items = sorted((item["id"], item["at"], item["amount"]) for item in _items_with_ids(clock) if "at" in item)
    return [clock["id"], clock["expiresAt"], [goal["id"] for goal in clock["goals"]], items]


def _items(params: Json) -> Iterator[Json]:
    """Return all items with a time in the request."""
    yield from params.get("transactions", [])
    for goal in params.get("goals", []):
        yield from goal.get("contributions", [])


def _items_with_ids(clock: Json) -> Iterator[Json]:
    """Return all objects with an ID in the clock."""
    yield from clock["transactions"]
    yield from clock["pendingTransactions"]
    for goal in clock["goals"]:
        yield goal
        yield from goal["contributions"]
        yield from goal["upcomingContributions"]


# Errors


def _check_tokens(server: Server, token: str) -> None:
    for wrong in ("", token[:-1] + ("A" if token[-1] != "A" else "B"), token + "x", "nobody"):
        call = ("createTestClock", bodies.typical(), wrong)
        response = server.expect_error(f"the token {wrong!r}", (401, -32001, "UNAUTHENTICATED"), call)
        _expect_equal("WWW-Authenticate", response.headers.get("www-authenticate"), "Bearer")


def _check_fields(server: Server, token: str) -> None:
    def expect_error(why: str, params: Json) -> None:
        response = server.expect_error(why, (200, -32602, "INVALID_PARAMS"), ("createTestClock", params, token))
        assert response.body["error"]["data"].get("errors"), f"The response has no error about {why}"

    for field, value in _WRONG_FIELDS:
        params = bodies.typical()
        params["transactions"][3][field] = value
        expect_error(f"{field} {value!r}", params)
    typical, largest = bodies.typical(), bodies.largest()
    goal = typical["goals"][0]
    expect_error("an initialAmount over the target", typical | {"goals": [goal | {"initialAmount": 2400.01}]})
    expect_error("101 transactions", typical | {"transactions": [*largest["transactions"], typical["transactions"][0]]})
    expect_error("26 goals", typical | {"goals": [*largest["goals"], goal]})
    too_many = largest["goals"][0]["contributions"] + goal["contributions"][:1]
    expect_error("101 contributions", typical | {"goals": [goal | {"contributions": too_many}]})
    for years in (-11, 11):
        far = datetime.now(UTC) + timedelta(days=366 * years)
        expect_error(f"a clock {years} years away", {"frozenTime": bodies.timestamp(far)})
    server.expect_error("an unknown method", (200, -32601, "METHOD_NOT_FOUND"), ("createTestGlock", {}, token))


def _check_rejected_advances(server: Server, token: str, token_of_another: str) -> None:
    params = bodies.typical()
    id = server.clock("createTestClock", params, token)["id"]
    to = "2027-07-01T00:00:00Z"
    server.clock("advanceTestClock", bodies.advance(id, to), token)

    def expect_error(why: str, by: str, params: Json, code: int, reason: str) -> Json:
        response = server.expect_error(why, (200, code, reason), ("advanceTestClock", params, by))
        data: Json = response.body["error"]["data"]
        return data

    back = bodies.advance(id, "2027-06-30T23:59:59.999999Z")
    data = expect_error("a time before the current one", token, back, -32011, "TIME_BEFORE_CURRENT")
    _expect_equal("currentFrozenTime", data.get("currentFrozenTime"), to)
    beyond = bodies.advance(id, "2037-01-01T00:00:00.000001Z")
    data = expect_error("a time after maxTime", token, beyond, -32012, "TIME_AFTER_MAX")
    _expect_equal("maxTime", data.get("maxTime"), "2037-01-01T00:00:00Z")
    later = bodies.advance(id, "2027-08-01T00:00:00Z")
    expect_error("a clock of another owner", token_of_another, later, -32004, "CLOCK_NOT_FOUND")
    expect_error("an unknown ID", token, later | {"id": "clock_none"}, -32004, "CLOCK_NOT_FOUND")
    _check_clock(server.clock("advanceTestClock", bodies.advance(id, to), token), params, to)


# Comparisons


def _expect_equal(what: str, seen: object, expected: object) -> None:
    assert seen == expected, f"{what} is {seen!r}, expected {expected!r}"


def _expect_equal_items(what: str, seen: list[Json], expected: list[Json]) -> None:
    """Compare number, order and all fields except IDs."""
    _expect_equal(f"number of {what}", len(seen), len(expected))
    for number, (item, item_expected) in enumerate(zip(seen, expected, strict=True)):
        _expect_equal(f"{what}[{number}]", {name: value for name, value in item.items() if name != "id"}, item_expected)
        assert "id" in item, f"{what}[{number}] has no ID"


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _ten_years_after(instant: datetime) -> datetime:
    return instant.replace(year=instant.year + 10)


def _exact(amount: float) -> Fraction:
    """Return the number exactly as it was written."""
    return Fraction(Decimal(repr(amount)))
