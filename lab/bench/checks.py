"""Checks that another server does the same work as Tickover, before both are timed.

The tests hold Tickover to its rules. Another server follows them too if its responses to the same calls are the same.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from lab.bench import bodies
from lab.bench.bodies import Json
from lab.bench.calls import Caller
from lab.bench.sides import Side

_MIDDLE, _END = "2027-07-01T00:00:00Z", "2037-01-01T00:00:00Z"
_WRONG_FIELDS: tuple[tuple[str, Any], ...] = (
    ("amount", 0), ("amount", 1_000_000_000.01), ("amount", "5"), ("amount", True),
    ("at", "2027-02-01"), ("at", "2027-02-01 00:00:00Z"), ("at", "2027-02-01T00:00:00"),
    ("at", "2026-12-31T23:59:59Z"), ("at", "2037-01-01T00:00:00.000001Z"),
    ("name", ""), ("name", "x" * 121), ("currency", "eur"), ("currency", "EUR\n"), ("type", "GIFT"),
    ("category", "x" * 81), ("colour", "red"),
)  # fmt: skip


def check_same_responses(expected: Side, side: Side) -> None:
    """Make the same calls on both. The first difference raises an AssertionError."""
    for (what, one), (_, other) in zip(_responses(expected), _responses(side), strict=True):
        assert one == other, f"{what}: {side.name} returns {other!r}, and {expected.name} {one!r}"


def _responses(side: Side) -> Iterator[tuple[str, Any]]:
    """Yield responses, without what differs between two servers."""
    with closing(Caller(side.url)) as caller:
        token, other_token = side.tokens(2)
        for name, params in (
            ("typical", bodies.typical()),
            ("largest", bodies.largest()),
            ("50 transactions", bodies.with_transactions(50)),
        ):
            created = caller.call("createTestClock", params, token)
            yield f"create, {name}", _comparable(created)
            id = json.loads(created[1])["result"]["clock"]["id"]
            for to in (_MIDDLE, _MIDDLE, _END):
                response = caller.call("advanceTestClock", bodies.advance(id, to), token)
                yield f"advance to {to}, {name}", _comparable(response)
        for what, params in _invalid_params():
            yield what, _comparable(caller.call("createTestClock", params, token))
        yield "an unknown method", _comparable(caller.call("createTestGlock", {}, token))
        for wrong in ("", token + "x", "nobody"):
            yield "a wrong token", _comparable(caller.call("createTestClock", bodies.typical(), wrong))
        for what, by, moved in (
            ("back", token, bodies.advance(id, _MIDDLE)),
            ("beyond the end", token, bodies.advance(id, "2037-02-01T00:00:00Z")),
            ("a clock of another owner", other_token, bodies.advance(id, _END)),
            ("an unknown clock", token, bodies.advance("clock_none", _END)),
        ):
            yield what, _comparable(caller.call("advanceTestClock", moved, by))


def _invalid_params() -> Iterator[tuple[str, Json]]:
    for field, value in _WRONG_FIELDS:
        params = bodies.typical()
        params["transactions"][3][field] = value
        yield f"{field} {value!r}", params
    typical, largest = bodies.typical(), bodies.largest()
    goal = typical["goals"][0]
    yield "an initialAmount over the target", typical | {"goals": [goal | {"initialAmount": 2400.01}]}
    yield "101 transactions", typical | {"transactions": [*largest["transactions"], typical["transactions"][0]]}
    yield "26 goals", typical | {"goals": [*largest["goals"], goal]}
    too_many = largest["goals"][0]["contributions"] + goal["contributions"][:1]
    yield "101 contributions", typical | {"goals": [goal | {"contributions": too_many}]}
    for year in (2000, 2060):
        yield f"a clock in {year}", {"frozenTime": f"{year}-01-01T00:00:00Z"}


def _comparable(response: tuple[int, bytes]) -> Any:
    """Return the status, and the result without IDs or the code and the reason of the error."""
    status, content = response
    body = json.loads(content)
    if "error" in body:
        return status, body["error"]["code"], body["error"]["data"]["reason"]
    return status, _without_ids(body["result"])


def _without_ids(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_ids(member) for member in value]
    if isinstance(value, dict):
        return {name: _without_ids(member) for name, member in value.items() if name not in ("id", "expiresAt")}
    return value
