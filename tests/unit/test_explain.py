"""Faults of invalid parameters: rules, messages and paths, several faults at once, and limits for hostile ones."""

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import UNSET, Raw, json

from tickover.api.clocks import NewClock
from tickover.api.errors import Fault
from tickover.api.fields import Params
from tickover.api.limits import MAX_BODY, MAX_FAULTS
from tickover.server.operations.login_by_email_verification import VerificationEntry
from tickover.server.operations.send_login_code_email import SendEntry
from tickover.server.rpc.decode import explain

NOW = datetime(2027, 1, 1, 12, tzinfo=UTC)
EXPECTED_TIME = "must be an RFC 3339 timestamp with an offset, such as 2027-01-31T09:00:00Z"
EXPECTED_TEXT = "must be text without U+0000 and lone surrogates"

SEND = {"email": "ana@example.test", "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}
VERIFICATION = {"email": "ana@example.test", "code": "012345", "authenticationMethod": "EMAIL_CODE"}
TRANSACTION = {"at": "2027-01-31T09:00:00Z", "name": "Rent", "amount": 900, "currency": "EUR", "type": "EXPENSE"}
CONTRIBUTION = {"at": "2027-01-31T09:00:00Z", "amount": 50}
GOAL = {"name": "Bike", "targetAmount": 1000, "initialAmount": 100, "contributions": [CONTRIBUTION]}

KEY_IS_A_HEADER = "is not a known parameter; send it as the HTTP header Idempotency-Key"
OF_A_CLOCK = f"available: {', '.join(NewClock.__struct_encode_fields__)}"


def faults_of(kind: type[Params], params: Any) -> list[Fault]:
    """Return all faults of these parameters."""
    found, read = explain(kind, params if isinstance(params, bytes) else json.encode(params))
    return [*found, *(read.faults(NOW) if read is not None else ())]


@pytest.mark.parametrize(
    ("params", "path", "rule", "message", "got"),
    [
        (["a"], "params", "type", "must be an object; send parameters by name, not by position", UNSET),
        ("text", "params", "type", "must be an object", "text"),
        ({"transactions": [7]}, "transactions[0]", "type", "must be an object", 7),
        ({"transactions": {}}, "transactions", "type", "must be an array", UNSET),
        ({"transactions": [TRANSACTION] * 101}, "transactions", "count", "must have at most 100 entries", 101),
        ({"transactions": None}, "transactions", "null", "must not be null; omit it", None),
        ({"goals": [{"targetAmount": 1}]}, "goals[0].name", "required", "is required", UNSET),
        # The value of an unknown name may be a secret.
        ({"frozen_time": 1}, "frozen_time", "unknown", "is not a known parameter; did you mean frozenTime?", UNSET),
        ({"idempotencyKey": "1"}, "idempotencyKey", "unknown", KEY_IS_A_HEADER, UNSET),
        ({"x" * 40: ""}, "x" * 40, "unknown", f"is not a known parameter; {OF_A_CLOCK}", UNSET),
        # A longer name gets no hint, because the search for it takes long.
        ({"x" * 41: ""}, "x" * 41, "unknown", "is not a known parameter", UNSET),
        ({"x" * 201: ""}, "x" * 199 + "…", "unknown", "is not a known parameter", UNSET),
    ],
)
def test_fault_of_an_object_or_array(params: Any, path: str, rule: str, message: str, got: Any) -> None:
    assert faults_of(NewClock, params) == [Fault(path, rule, message, got)]


@pytest.mark.parametrize(
    ("field", "value", "rule", "message"),
    [
        ("name", "", "minLength", "must have at least 1 character"),
        ("name", "a" * 121, "maxLength", "must have at most 120 characters"),
        ("name", "\n\0\n", "format", EXPECTED_TEXT),
        ("name", None, "type", "must be a string"),
        ("currency", "EUr", "format", "must be three uppercase letters"),
        ("type", "income", "oneOf", "must be EXPENSE or INCOME"),
        ("at", "2027-01-31", "format", EXPECTED_TIME),
        ("at", 1_801_386_000, "type", EXPECTED_TIME),
        ("amount", True, "type", "must be a number"),
        ("amount", -5e-324, "positive", "must be greater than 0"),
        ("amount", 1000000000.0000001, "max", "must be at most 1000000000"),
        ("category", None, "null", "must not be null; omit it"),
    ],
)
def test_fault_of_a_field(field: str, value: Any, rule: str, message: str) -> None:
    """tests/rpc/test_openrpc_bounds.py tries values around every bound of every field."""
    params = {"transactions": [TRANSACTION | {field: value}]}
    assert faults_of(NewClock, params) == [Fault(f"transactions[0].{field}", rule, message, value)]


@pytest.mark.parametrize(
    ("number", "rule", "got"),
    [("1e-400", "positive", 0.0), ("-1e400", "positive", UNSET), ("1e400", "max", UNSET)],
)
def test_amount_beyond_any_double_is_omitted_from_its_fault(number: str, rule: str, got: Any) -> None:
    [fault] = faults_of(NewClock, {"goals": [GOAL | {"targetAmount": Raw(number.encode())}]})
    assert (fault.path, fault.rule, fault.got) == ("goals[0].targetAmount", rule, got)


@pytest.mark.parametrize(
    ("changes", "rule", "message"),
    [
        ({"loginCodeType": "LONG_LIVED"}, "combination", "must be SHORT_LIVED when emailType is LOGIN_CODE"),
        ({"emailType": None}, "oneOf", "must be LOGIN_CODE or WEB_LOGIN_LINK"),
    ],
)
def test_fault_of_a_type_of_email(changes: dict[str, Any], rule: str, message: str) -> None:
    [(field, got)] = changes.items()
    assert faults_of(SendEntry, SEND | changes) == [Fault(field, rule, message, got)]


# Secrets


@pytest.mark.parametrize("code", ["12345", "1234567", "123456\n", " 123456", "12345a", "১২৩৪৫৬", "１２３４５６"])
def test_other_codes_are_invalid_and_never_in_the_fault(code: str) -> None:
    assert faults_of(VerificationEntry, VERIFICATION | {"code": code}) == [Fault("code", "format", "must be 6 digits")]


# Several faults, and limits


def test_all_faults_are_listed() -> None:
    params = {
        "frozenTime": "tomorrow",
        "transactions": [
            {"at": "2027-01-31", "name": "", "amount": -5, "currency": "euro", "type": "GIFT", "note": ""}
        ],
        "goals": [{"targetAmount": "many", "contributions": [{"at": 7, "amount": None}, 3]}, None],
        "colour": "blue",
    }
    assert [(fault.path, fault.rule) for fault in faults_of(NewClock, params)] == [
        ("colour", "unknown"),
        ("frozenTime", "format"),
        ("transactions[0].note", "unknown"),
        ("transactions[0].at", "format"),
        ("transactions[0].name", "minLength"),
        ("transactions[0].amount", "positive"),
        ("transactions[0].currency", "format"),
        ("transactions[0].type", "oneOf"),
        ("goals[0].name", "required"),
        ("goals[0].targetAmount", "type"),
        ("goals[0].contributions[0].at", "type"),
        ("goals[0].contributions[0].amount", "type"),
        ("goals[0].contributions[1]", "type"),
        ("goals[1]", "type"),
    ]


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"goals": [GOAL | {"targetAmount": 0}]}, "goals[0].targetAmount"),
        ({"goals": [GOAL | {"initialAmount": ""}]}, "goals[0].initialAmount"),
        ({"frozenTime": "", "transactions": [TRANSACTION | {"at": "1999-01-01T00:00:00Z"}]}, "frozenTime"),
    ],
)
def test_invalid_field_is_not_compared_with_other_fields(params: Any, path: str) -> None:
    assert [fault.path for fault in faults_of(NewClock, params)] == [path]


def test_only_first_twenty_unknown_names_get_a_hint() -> None:
    entry = {f"nam{number}": 1 for number in range(15)}
    found = faults_of(NewClock, {"goals": [entry] * 2})
    messages = [fault.message for fault in found if fault.rule == "unknown"]
    assert messages == ["is not a known parameter; did you mean name?"] * 20 + ["is not a known parameter"] * 10


def _array_of(item: bytes, count: int) -> bytes:
    return b"[" + b",".join([item] * count) + b"]"


HOSTILE = {
    "ninety thousand unknown names": ({f"n{number}": 0 for number in range(90_000)}, 100),
    "unknown names in every entry": ({"transactions": [{f"n{number}": 0 for number in range(900)}] * 100}, MAX_FAULTS),
    "half a million entries": (b'{"transactions":%b}' % _array_of(b"0", 500_000), 1 + 100),
    "half a million contributions": (
        b'{"goals":%b}' % _array_of(b'{"contributions":%b}' % _array_of(b"0", 20_000), 25), 25 * (2 + 1 + 100)
    ),
    "numbers of a hundred thousand digits": (
        b'{"goals":%b}' % _array_of(b'{"name":"a","targetAmount":' + b"9" * 100_000 + b"}", 10), 10
    ),
    "a negative number of a million digits": (b'{"frozenTime":-' + b"9" * 1_000_000 + b"}", 1),
    "a timestamp of a megabyte": (b'{"frozenTime":"2027-01-31T09:00:00.' + b"9" * 1_000_000 + b'"}', 1),
    "an unknown name of a megabyte": (b'{"' + b"a" * 1_000_000 + b'":0}', 1),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_number_of_faults_is_limited(name: str) -> None:
    params, count = HOSTILE[name]
    written = params if isinstance(params, bytes) else json.encode(params)
    assert len(written) <= MAX_BODY
    found, _ = explain(NewClock, written)
    assert len(found) == count <= MAX_FAULTS
    assert len(json.encode(found)) < 2 * MAX_BODY
    assert max(len(json.encode(fault)) for fault in found) < 1000
