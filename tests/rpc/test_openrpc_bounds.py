"""The published schemas and the server accept the same values around every bound."""

import math
from collections.abc import Iterator
from itertools import islice, product
from typing import Any, Final

import pytest

from tests.rpc.builders import contribution, goal, transaction
from tests.support.openrpc_document import method, resolve, validator
from tests.support.world import World
from tickover.server.rpc.openrpc import DESCRIBED_OPERATIONS

_AT: Final = "2027-03-01T00:00:00Z"
_EXPECTATIONS: Final = [
    {
        "balance": {"currency": "EUR", "atLeast": 0, "atMost": 1, "from": _AT, "until": _AT},
        "goalReached": {"goal": "Bicycle", "by": _AT},
        "total": {"type": "INCOME", "currency": "EUR", "category": "home", "per": "MONTH", "atLeast": 0, "atMost": 1},
        "posted": {"name": "Salary", "by": _AT, "count": 1},
    }
]
_TRANSACTION: Final = transaction(
    at=_AT,
    category="home",
    account="main",
    authorizedAt="2027-01-01T00:00:00Z",
    authorizedAmount=1,
    authorizedName="Hold",
)
_TRANSFER: Final = {"at": _AT, "name": "Save", "from": "main", "to": "savings", "amount": 1, "received": 1}
_GOAL: Final = goal(targetAmount=10**9, initialAmount=0, contributions=[contribution(at=_AT)])
_BANK: Final = {
    "faults": [{"kind": "RATE_LIMITED", "from": "2026-01-01T00:00:00Z", "until": "2037-01-01T00:00:00Z"}],
    "quirks": ["DOUBLES"],
    "callsPerDay": 4,
}
_NAMES: Final[dict[str, Any]] = {"name": "Summer", "labels": {"ci": "1"}}
_OPENING: Final[dict[str, Any]] = {"openingBalances": {"EUR": 1}}
_BEYOND_SCHEMAS: Final = {
    "existing", "scenario", "base64", "account", "currency", "category", "goal", "unique", "different", "authorizedAt",
    "members", "combination", "bound",
}  # fmt: skip
"""Rules about the clock, or about several fields, that a schema doesn't express."""
_IN_OTHERS: Final = {"openingBalances", "account", "scenario", "expectations", "frozenTime", "by"}
"""Parameters whose bounds are tested elsewhere in the same schemas. Some of them exclude others."""
GOOD: Final[dict[str, dict[str, Any]]] = {
    # In addition to the parameters of the first example. Combinations allow each to reach its bounds.
    "createTestClock": {
        "frozenTime": "2027-01-01T00:00:00Z",
        "transactions": [_TRANSACTION],
        "goals": [_GOAL],
        **_NAMES,
        "accounts": [{"key": "main", "name": "Main", "currency": "EUR", "type": "SAVINGS", "openingBalance": 1}],
        "transfers": [_TRANSFER],
    },
    "getTestClock": {"at": _AT, "details": True},
    "listTestClocks": {
        "limit": 20,
        "cursor": f"cursor_{'0' * 32}",
        "labels": {"ci": "1"},
        "name": "Summer",
        "details": True,
    },
    "forkTestClock": {"at": _AT, **_NAMES, **_OPENING},
    "amendTestClock": {
        "add": {
            "transactions": [_TRANSACTION],
            "transfers": [_TRANSFER],
            "goals": [_GOAL],
            "contributions": [contribution(at=_AT, goalId="goal_1")],
        },
        "cancel": ["txn_1"],
    },
    "updateTestClock": {**_NAMES, **_OPENING, "bankDefaults": {**_BANK, "consentDays": 90}},
    "listTestClockEvents": {
        "after": _AT,
        "until": _AT,
        **_OPENING,
        "limit": 20,
        "cursor": "cursor_8006650000000000_0000_00000000_0",
    },
    "getTestClockBalances": {"at": _AT, **_OPENING},
    "connectTestClock": {
        "institution": "Bank",
        **_BANK,
        "consentDays": 90,
        "webhook": "http://localhost/",
    },
    "updateTestClockConnection": {**_BANK, "webhook": "http://localhost/"},
    "listConnectionCalls": {"limit": 20},
    "logout": {"everywhere": True},
    "createAccessToken": {"name": "CI", "expiresInDays": 30, "readOnly": True},
    "reconcileTestClock": {
        "observed": {
            "transactions": [{"id": "txn_1", "at": "2027-01-03T08:00:00Z", "amount": -5, "name": "Tea"}],
            "balance": 5,
        },
        "at": "2027-01-03T08:00:00Z",
        "currency": "EUR",
        "toleranceDays": 2,
    },
    "checkTestClock": {"until": _AT, **_OPENING, "expectations": _EXPECTATIONS},
    "createTestClockFromScenario": {"text": "#", "start": _AT, **_NAMES},
    "exportTestClock": {"pending": False, **_OPENING},
}


def _good(name: str) -> dict[str, Any]:
    """Return valid values of all parameters."""
    return {**next(iter(DESCRIBED_OPERATIONS[name].examples.values())), **GOOD.get(name, {})}


_OTHER_TYPES: Final[tuple[Any, ...]] = (None, True, 7, 1.5, [], {})
_TIMESTAMPS: Final = (
    "2027-02-01t00:00:00z", "2027-02-01T00:00:00.5Z", "2027-02-01T00:00:00.123456789+00:00",
    "2027-02-28T23:59:59-00:00", "2027-02-01T23:59:59+23:59", "now", "2027-02-01", "2027-02-01 00:00:00Z",
    "2027-02-01T00:00:00", "2027-02-01T00:00Z", "2027-02-01T24:00:00Z", "2027-02-01T00:60:00Z",
    "2027-02-29T00:00:00Z", "2027-13-01T00:00:00Z", "2027-02-01T00:00:00+0100", "2027-02-01T00:00:00+24:00",
    "2027-02-01T00:00:00.Z", "2027-02-01T00:00:00Z\n", "２０２７-02-01T00:00:00Z",
)  # fmt: skip
_TEXTS: Final = {
    "date-time": ("2027-02-01T00:00:00.5Z", "2027-02-01"),
    "email": (
        "Ana.B+c@EXAMPLE.test", "ü@example.test", "a@localhost", "ana", "ana@", "@x.test", "a b@x.test",
        "ana@x.test,bo@x.test", "ana@x.test ", "ana@x..test",
    ),
    "^[A-Z]{3}$": ("AAA", "ZZZ", "eur", "EU", "EURO", "EU1", "EUR\n", "ÄÖÜ", "@AB", "[AB", "EU\0"),
    r"^[A-Za-z0-9._/-]+(?!\n)$": ("A-Za-z0-9._/-", ".", "a b", "a\n", "é", "a:b", '"', "a\0"),
    r"^[a-z0-9][a-z0-9-]*(?!\n)$": ("main", "0-", "-a", "A", "a_b", "a\n", "é"),
    "^[0-9]{6}$": ("000000", "999999", "12345", "1234567", "12345a", "12345\n", "１２３４５６", "/12345"),
}  # fmt: skip
"""Texts that are valid or invalid, by format or pattern."""


def address_of(length: int) -> str:
    """Return an address that is valid except perhaps for its length."""
    end = "@" + ".".join(["d" * 61] * 3) + ".test"
    return "a" * (length - len(end)) + end


def texts(schema: Any, good: str) -> Iterator[Any]:
    if good.startswith("cursor_"):
        return  # Cursors are opaque.
    yield from ("", "x", "a\0b", "x" * 1000)
    yield from _TEXTS.get(schema.get("format") or schema.get("pattern", ""), ())
    for name in schema.get("enum", ()):
        yield from (name, name.swapcase(), f"{name} ")
    if schema.get("format") == "email":
        yield from map(address_of, (schema["maxLength"], schema["maxLength"] + 1))
    elif "maxLength" in schema:
        least, most = schema.get("minLength", 0), schema["maxLength"]
        # A body has at most a million bytes.
        for character in ("x",) if most > 200_000 else ("x", "𝄞", "\n"):
            yield from (character * length for length in (max(0, least - 1), least, most, most + 1))


def numbers(schema: Any) -> Iterator[Any]:
    yield from ("7", 1e300, 10**30, -1e300, -0.0)
    for bound in (schema["maximum"], schema.get("minimum", schema.get("exclusiveMinimum"))):
        yield from (bound, float(bound))
        yield from (math.nextafter(bound, -math.inf), math.nextafter(bound, math.inf))


def arrays(schema: Any, good: list[Any]) -> Iterator[Any]:
    [entry] = one_alternative(schema, good)
    yield from ([entry] * schema["maxItems"], [entry] * (schema["maxItems"] + 1))
    yield from ([value] for value in values(schema["items"], good[0]))


def mappings(schema: Any, good: dict[str, Any]) -> Iterator[Any]:
    """Yield objects with any names."""
    names = ["".join(code) for code in islice(product("ABCDEFGHIJ", repeat=3), schema["maxProperties"] + 1)]
    [(good_name, value)] = good.items()
    yield from (dict.fromkeys(names[:-1], value), dict.fromkeys(names, value))
    yield from ({name: value} for name in texts(schema["propertyNames"], good_name))
    yield from ({good_name: each} for each in values(schema["additionalProperties"], value))


def one_alternative(part: Any, good: Any) -> Any:
    """Return a valid value: with one member in each object that has several here and must have exactly one."""
    schema = without_null(part)
    if isinstance(good, list):
        return [one_alternative(schema["items"], entry) for entry in good]
    if schema.get("maxProperties") == 1:
        return dict(islice(good.items(), 1))
    return good


def objects(schema: Any, good: dict[str, Any]) -> Iterator[Any]:
    assert set(schema["properties"]) - set(good) <= _IN_OTHERS, "every parameter has to be there to be changed"
    has_one = schema.get("maxProperties") == 1
    alternatives = {name: one_alternative(schema["properties"][name], value) for name, value in good.items()}
    others = {} if has_one else alternatives
    yield from (good, others, {**others, "unheardOf": 1})
    for name, value in good.items():
        yield {other: others[other] for other in others if other != name}
        yield from ({**others, name: each} for each in values(schema["properties"][name], value))


def without_null(part: Any) -> Any:
    schema = resolve(part)
    return resolve(schema["anyOf"][0]) if schema.get("anyOf", [{}])[-1] == {"type": "null"} else schema


def values(part: Any, good: Any) -> Iterator[Any]:
    """Yield values just inside and just outside of every bound of the schema."""
    yield from _OTHER_TYPES
    schema = without_null(part)
    match schema["type"]:
        case "object" if "propertyNames" in schema:
            yield from mappings(schema, good)
        case "object":
            yield from objects(schema, good)
        case "array":
            yield from arrays(schema, good)
        case "string":
            yield from texts(schema, good)
        case "number" | "integer":
            yield from numbers(schema)


def faults_of(response: Any) -> list[Any]:
    """Return the invalid fields of an error, or none."""
    faults: list[Any] = response.get("error", {}).get("data", {}).get("errors", [])
    return faults


def is_beyond_schemas(fault: Any) -> bool:
    is_comparison = fault["rule"] == "range" and fault["path"].endswith(("authorizedAt", "atMost"))
    depends = fault["rule"] == "required" and fault["path"] in {"currency", "dayFirst", "frozenTime"}
    is_choice = fault["message"].startswith(("must have e", "must be there", "add or cancel"))
    # The operator lists hosts of webhooks.
    is_url = fault["path"] == "webhook" and fault["rule"] == "format"
    return is_comparison or depends or is_choice or is_url or fault["rule"] in _BEYOND_SCHEMAS


@pytest.mark.parametrize("name", DESCRIBED_OPERATIONS)
async def test_schema_and_server_reject_the_same_values(world: World, name: str) -> None:
    takes = validator(method(name)["x-params"]).is_valid
    token = await world.sign_in()
    disagreements, verdicts = [], set()
    for params in values(method(name)["x-params"], _good(name)):
        # Other types are rejected before the method is known.
        if not isinstance(params, dict):
            continue
        if name in {"logout", "deleteCurrentUser"}:
            world.pass_time(minutes=1)
            token = await world.sign_in()
        response = (await world.call(name, params, token)).json
        by_server, by_schema = all(map(is_beyond_schemas, faults_of(response))), takes(params)
        verdicts.add(by_schema)
        if by_server is not by_schema:
            disagreements.append((params, {"server": by_server, "schema": by_schema}))
    assert disagreements == []
    assert verdicts == {True, False}


async def test_schema_and_server_accept_the_same_timestamps(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime="2027-01-01T00:00:00Z")
    takes = validator(method("getTestClock")["x-params"]).is_valid
    for at in _TIMESTAMPS:
        params = {"id": clock["id"], "at": at}
        assert ("result" in (await world.call("getTestClock", params, token)).json) == takes(params), at
