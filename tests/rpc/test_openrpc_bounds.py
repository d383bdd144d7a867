"""The published schemas and the server accept the same values around every bound."""

import math
from collections.abc import Iterator
from itertools import islice, product
from typing import Any, Final

import pytest

from tests.rpc.builders import contribution, goal, send, send_link, transaction
from tests.support.openrpc_document import method, resolve, validator
from tests.support.world import World
from tickover.server.rpc.openrpc import DESCRIBED_OPERATIONS

Case = tuple[Any, bool | None]
"""A value, and whether it is valid. None means that it depends on other fields."""

_AT: Final = "2027-03-01T00:00:00Z"
_CLOCK: Final = "clock_01a2d11f-0200-7129-903a-c1d45597fdf1"
_EXPECTATIONS: Final = [
    {
        "balance": {"currency": "EUR", "atLeast": 0, "atMost": 1, "from": _AT, "until": _AT},
        "goalReached": {"goal": "Bicycle", "by": _AT},
        "total": {
            "type": "INCOME",
            "currency": "EUR",
            "category": "home",
            "per": "MONTH",
            "atLeast": 0,
            "atMost": 1,
        },
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
_BEYOND_SCHEMAS: Final = {
    "existing", "scenario", "base64", "account", "currency", "category", "goal", "unique", "different", "authorizedAt",
}  # fmt: skip
"""Rules about the clock, or about several fields, that a schema doesn't express."""
_IN_OTHERS: Final = {"openingBalances", "account", "scenario"}
"""Parameters that exclude others. Their bounds are tested elsewhere in the same schemas."""
GOOD: Final[dict[str, dict[str, Any]]] = {
    # In addition to the parameters of the first example. Combinations allow each to reach its bounds.
    "createTestClock": {
        "frozenTime": "2027-01-01T00:00:00Z",
        "transactions": [_TRANSACTION],
        "goals": [goal(targetAmount=10**9, initialAmount=0, contributions=[contribution(at=_AT)])],
        "name": "Summer",
        "labels": {"ci": "1"},
        "accounts": [{"key": "main", "name": "Main", "currency": "EUR", "type": "SAVINGS", "openingBalance": 1}],
        "transfers": [_TRANSFER],
        "expectations": _EXPECTATIONS,
    },
    "sendLoginCodeEmail": send(),
    "loginByEmailVerification": {"email": "ana@x.test", "code": "012345", "authenticationMethod": "EMAIL_CODE"},
    "getTestClock": {"id": _CLOCK, "at": _AT, "details": True},
    "listTestClocks": {"limit": 20, "cursor": f"cursor_{'0' * 32}", "labels": {"ci": "1"}, "details": True},
    "forkTestClock": {
        "id": _CLOCK,
        "at": _AT,
        "name": "Summer",
        "labels": {"ci": "1"},
        "openingBalances": {"EUR": 1},
        "expectations": _EXPECTATIONS,
    },
    "amendTestClock": {
        "id": _CLOCK,
        "add": {
            "transactions": [_TRANSACTION],
            "transfers": [_TRANSFER],
            "goals": [goal(targetAmount=10**9, initialAmount=0, contributions=[contribution(at=_AT)])],
            "contributions": [contribution(at=_AT, goalId="goal_1")],
        },
        "cancel": ["txn_1"],
    },
    "updateTestClock": {
        "id": _CLOCK,
        "name": "Summer",
        "labels": {"ci": "1"},
        "openingBalances": {"EUR": 1},
        "expectations": _EXPECTATIONS,
    },
    "listTestClockEvents": {
        "id": _CLOCK,
        "after": _AT,
        "until": _AT,
        "openingBalances": {"EUR": 1},
        "limit": 20,
        "cursor": "cursor_8006650000000000_0000_00000000_0",
    },
    "getTestClockBalances": {"id": _CLOCK, "at": _AT, "openingBalances": {"EUR": 1}},
    "connectTestClock": {
        "id": _CLOCK,
        "protocol": "PLAID",
        "institution": "Bank",
        "faults": [{"kind": "RATE_LIMITED", "from": "2026-01-01T00:00:00Z", "until": "2037-01-01T00:00:00Z"}],
    },
    "createAccessToken": {"name": "CI", "expiresInDays": 30, "readOnly": True},
    "listAccessTokens": {},
    "revokeAccessToken": {"id": "token_01a2d11f-0200-7129-903a-c1d45597fdf1"},
    "reconcileTestClock": {
        "observed": {
            "transactions": [{"id": "txn_1", "at": "2027-01-03T08:00:00Z", "amount": -5, "name": "Tea"}],
            "balance": 5,
        },
        "at": "2027-01-03T08:00:00Z",
        "currency": "EUR",
        "toleranceDays": 2,
    },
    "checkTestClock": {
        "id": _CLOCK,
        "until": _AT,
        "openingBalances": {"EUR": 1},
        "expectations": _EXPECTATIONS,
    },
    "expandScenario": {"text": "#", "start": _AT},
    "createTestClockFromScenario": {"text": "#", "start": _AT, "name": "Summer", "labels": {"ci": "1"}},
    "exportTestClock": {"id": _CLOCK, "format": "csv", "pending": False, "openingBalances": {"EUR": 1}},
}


def _good(name: str) -> dict[str, Any]:
    """Return valid values of all parameters."""
    return {**DESCRIBED_OPERATIONS[name].examples[0].params, **GOOD.get(name, {})}


_NEVER_GOOD: Final[dict[str, tuple[Any, ...]]] = {
    # U+0000 is invalid in every text.
    "string": (None, True, 7, [], {}, "a\0b"),
    "number": (None, True, "7", [], {}),
    "integer": (None, True, "7", [], {}, 1.5),
    "array": (None, True, 7, "[]", {}),
    "object": (None, True, 7, "{}", []),
}
_OF_FORMATS: Final = {
    "date-time": {
        True: (
            "2027-02-01T00:00:00Z",
            "2027-02-01t00:00:00z",
            "2027-02-01T00:00:00.5Z",
            "2027-02-01T00:00:00.123456789+00:00",
            "2027-02-28T23:59:59-00:00",
            "2027-02-01T23:59:59+23:59",
        ),
        False: (
            "",
            "now",
            "2027-02-01",
            "2027-02-01 00:00:00Z",
            "2027-02-01T00:00:00",
            "2027-02-01T00:00Z",
            "2027-02-01T24:00:00Z",
            "2027-02-01T00:60:00Z",
            "2027-02-29T00:00:00Z",
            "2027-13-01T00:00:00Z",
            "2027-02-01T00:00:00+0100",
            "2027-02-01T00:00:00+24:00",
            "2027-02-01T00:00:00.Z",
            "2027-02-01T00:00:00Z\n",
            "２０２７-02-01T00:00:00Z",
        ),
    },
    "email": {
        True: ("ana@x.test", "Ana.B+c@EXAMPLE.test", "ü@example.test", "a@localhost"),
        False: ("", "ana", "ana@", "@x.test", "a b@x.test", "ana@x.test,bo@x.test", "ana@x.test ", "ana@x..test"),
    },
}
_OF_PATTERNS: Final = {
    r"^[^\u0000]*$": {True: (), False: ("\0",)},
    "^[A-Z]{3}$": {True: ("AAA", "ZZZ"), False: ("eur", "EU", "EURO", "EU1", "EUR\n", "ÄÖÜ", "@AB", "[AB", "EU\0")},
    r"^[A-Za-z0-9._/-]+(?!\n)$": {True: ("A-Za-z0-9._/-", "."), False: ("", "a b", "a\n", "é", "a:b", '"', "a\0")},
    r"^[a-z0-9][a-z0-9-]*(?!\n)$": {True: ("main", "0-"), False: ("", "-a", "A", "a_b", "a\n", "é")},
    "^[0-9]{6}$": {
        True: ("000000", "999999"),
        False: ("12345", "1234567", "12345a", "12345\n", "１２３４５６", "/12345"),
    },
}


def address_of(length: int) -> str:
    """Return an address that is valid except perhaps for its length."""
    end = "@" + ".".join(["d" * 61] * 3) + ".test"
    return "a" * (length - len(end)) + end


def texts(schema: Any, good: str) -> Iterator[Case]:
    yield from ((value, False) for value in _NEVER_GOOD["string"])
    # Cursors are opaque.
    if not good.startswith("cursor_"):
        yield from ((value, None) for value in ("", "x", "eur", "1", "12345a", "x" * 1000))
    if "enum" in schema:
        yield from ((value, None) for value in schema["enum"])
        yield from ((value, False) for value in ("", "OTHER", schema["enum"][0].swapcase(), schema["enum"][0] + " "))
    for known, key in ((_OF_FORMATS, schema.get("format")), (_OF_PATTERNS, schema.get("pattern"))):
        if key is not None:
            yield from ((value, good) for good, values in known[key].items() for value in values)
    if schema.get("format") == "email":
        yield from [(address_of(schema["maxLength"]), True), (address_of(schema["maxLength"] + 1), False)]
    elif schema.get("minLength") != schema.get("maxLength"):
        yield from lengths(schema)


def lengths(schema: Any) -> Iterator[Case]:
    # A pattern for names allows only some characters.
    # A body has at most a million bytes.
    is_plain = schema.get("pattern", "").endswith(r"(?!\n)$") or schema["maxLength"] > 200_000
    for character in ("x",) if is_plain else ("x", "𝄞", " ", "\n"):
        if "minLength" in schema:
            yield character * schema["minLength"], True
            yield character * (schema["minLength"] - 1), False
        yield character * schema["maxLength"], True
        yield character * (schema["maxLength"] + 1), False


def numbers(schema: Any) -> Iterator[Case]:
    yield from ((value, False) for value in _NEVER_GOOD[schema["type"]])
    most = schema["maximum"]
    yield from [(most, True), (most + 1, False), (float(most), True), (math.nextafter(most, math.inf), False)]
    yield from [(1e300, False), (10**30, False), (-1e300, False)]
    if "exclusiveMinimum" in schema:
        least = schema["exclusiveMinimum"]
        yield from [(least, False), (float(least), False), (-0.0, False)]
        yield from [(least + 0.01, True), (math.nextafter(least, math.inf), True)]
    else:
        least = schema["minimum"]
        yield from [(least, True), (float(least), True), (least - 1, False), (math.nextafter(least, -math.inf), False)]


def arrays(schema: Any, good: list[Any]) -> Iterator[Case]:
    yield from ((value, False) for value in _NEVER_GOOD["array"])
    [entry] = one_alternative(schema, good)
    yield from [([], "minItems" not in schema), ([entry] * schema["maxItems"], True)]
    yield [entry] * (schema["maxItems"] + 1), False
    yield from (([value], is_good) for value, is_good in cases(schema["items"], good[0]))


def mappings(schema: Any, good: dict[str, Any]) -> Iterator[Case]:
    """Yield objects with any names."""
    yield from ((value, False) for value in _NEVER_GOOD["object"])
    names = ["".join(code) for code in islice(product("ABCDEFGHIJ", repeat=3), schema["maxProperties"] + 1)]
    value = next(iter(good.values()))
    yield from [({}, True), (dict.fromkeys(names[:-1], value), True), (dict.fromkeys(names, value), False)]
    for name, is_good in texts(schema["propertyNames"], next(iter(good))):
        if isinstance(name, str):
            yield {name: value}, is_good
    yield from (({names[0]: value}, is_good) for value, is_good in cases(schema["additionalProperties"], value))


def alternatives(schema: Any, good: dict[str, Any]) -> Iterator[Case]:
    """Yield objects that must have exactly one of their members."""
    yield from ((value, False) for value in _NEVER_GOOD["object"])
    yield from [({}, False), (good, False), ({"unheardOf": 1}, False)]
    for name, member in schema["properties"].items():
        yield from (({name: value}, is_good) for value, is_good in cases(member, good[name]))


def one_alternative(part: Any, good: Any) -> Any:
    """Return a valid value: with one member in each object that has several here and must have exactly one."""
    schema = resolve(part)
    if schema.get("anyOf", [{}])[-1] == {"type": "null"}:
        return one_alternative(schema["anyOf"][0], good)
    if isinstance(good, list):
        return [one_alternative(schema["items"], entry) for entry in good]
    if schema.get("maxProperties") == 1:
        return dict(islice(good.items(), 1))
    return good


def objects(schema: Any, good: dict[str, Any]) -> Iterator[Case]:
    if schema.get("maxProperties") == 1:
        yield from alternatives(schema, good)
        return
    whole, good = good, {name: one_alternative(schema["properties"][name], value) for name, value in good.items()}
    yield from ((value, False) for value in _NEVER_GOOD["object"])
    yield good, True
    yield {**good, "unheardOf": 1}, False
    assert set(schema["properties"]) - set(good) <= _IN_OTHERS, "every parameter has to be there to be changed"
    for name in good:
        without = {key: value for key, value in good.items() if key != name}
        yield without, None if "oneOf" in schema else name not in schema.get("required", ())
        changed = cases(schema["properties"][name], whole[name])
        yield from (({**good, name: value}, is_good) for value, is_good in changed)


def cases(part: Any, good: Any) -> Iterator[Case]:
    """Yield values just inside and just outside of every bound of the schema."""
    schema = resolve(part)
    if schema.get("anyOf", [{}])[-1] == {"type": "null"}:
        yield None, True
        yield from (case for case in cases(schema["anyOf"][0], good) if case[0] is not None)
        return
    match schema["type"]:
        case "object" if "propertyNames" in schema:
            yield from mappings(schema, good)
        case "object":
            yield from objects(schema, good)
        case "array":
            yield from arrays(schema, good)
        case "string":
            yield from texts(schema, good)
        case "boolean":
            yield from [(True, True), (False, True), (None, False), (0, False), ("true", False), ([], False)]
        case _:
            yield from numbers(schema)


def faults_of(response: Any) -> list[Any]:
    """Return the invalid fields of an error, or none."""
    faults: list[Any] = response.get("error", {}).get("data", {}).get("errors", [])
    return faults


def is_beyond_schemas(fault: Any) -> bool:
    return fault["rule"] in _BEYOND_SCHEMAS or (fault["rule"] == "range" and fault["path"].endswith("authorizedAt"))


@pytest.mark.parametrize("name", DESCRIBED_OPERATIONS)
async def test_schema_and_server_reject_the_same_values(world: World, name: str) -> None:
    takes = validator(method(name)["x-params"]).is_valid
    token = await world.sign_in()
    disagreements, count = [], 0
    for params, is_good in cases(method(name)["x-params"], _good(name)):
        # Other types are rejected before the method is known.
        if not isinstance(params, dict):
            continue
        if name == "logout":
            world.pass_time(minutes=1)
            token = await world.sign_in()
        count += 1
        response = (await world.call(name, params, token)).json
        by_server = all(map(is_beyond_schemas, faults_of(response)))
        by_schema = takes(params)
        if by_server is not by_schema or (is_good is not None and by_schema is not is_good):
            disagreements.append((params, {"server": by_server, "schema": by_schema, "expected": is_good}))
    assert disagreements == []
    assert count >= 2


@pytest.mark.parametrize(
    "params", [send(), send_link(), send_link(emailType="LOGIN_CODE"), send(emailType="WEB_LOGIN_LINK")]
)
async def test_schema_contains_the_valid_type_pairs(world: World, params: dict[str, Any]) -> None:
    response = (await world.call("sendLoginCodeEmail", params)).json
    schema = method("sendLoginCodeEmail")["x-params"]
    assert validator(schema).is_valid(params) == ("result" in response) == (params in (send(), send_link()))
