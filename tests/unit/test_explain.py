"""Faults of invalid parameters: rules, messages and paths, several faults at once, and limits for hostile ones."""

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import UNSET, Raw, json

from tickover.api.clocks import NewClock
from tickover.api.errors import Fault, Rejection
from tickover.api.explain import explain
from tickover.api.fields import Params
from tickover.api.limits import MAX_BODY, MAX_FAULTS
from tickover.server.operations.delete_test_clock import DeleteEntry
from tickover.server.operations.get_test_clock import GetEntry
from tickover.server.operations.login_by_email_verification import VerificationEntry
from tickover.server.operations.send_login_code_email import SendEntry
from tickover.server.rpc.envelope import decode_params

NOW = datetime(2027, 1, 1, 12, tzinfo=UTC)
EXPECTED_TIME = "must be an RFC 3339 timestamp with an offset, such as 2027-01-31T09:00:00Z"
EXPECTED_ADDRESS = "must be one email address, such as ana@example.com"
EXPECTED_TEXT = "must be text without U+0000 and lone surrogates"

SEND = {"email": "ana@example.test", "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}
VERIFICATION = {"email": "ana@example.test", "code": "012345", "authenticationMethod": "EMAIL_CODE"}
GET = {"id": "clock_x", "at": "2027-01-31T09:00:00Z"}
TRANSACTION = {"at": "2027-01-31T09:00:00Z", "name": "Rent", "amount": 900, "currency": "EUR", "type": "EXPENSE"}
CONTRIBUTION = {"at": "2027-01-31T09:00:00Z", "amount": 50}
GOAL = {"name": "Bike", "targetAmount": 1000, "initialAmount": 100, "contributions": [CONTRIBUTION]}

OF_A_TRANSACTION = (
    "available: at, name, amount, currency, type, category, account, authorizedAt, authorizedAmount, authorizedName"
)


def faults_of(kind: type[Params], params: Any) -> list[Fault]:
    """Return all faults of these parameters."""
    found, read = explain(kind, params if isinstance(params, bytes) else json.encode(params))
    return [*found, *(read.faults(NOW) if read is not None else ())]


def of_transaction(**fields: Any) -> list[Fault]:
    return faults_of(NewClock, {"transactions": [TRANSACTION | fields]})


def of_goal(**fields: Any) -> list[Fault]:
    return faults_of(NewClock, {"goals": [GOAL | fields]})


# Objects and arrays


@pytest.mark.parametrize(
    ("params", "path", "message", "got"),
    [
        (["a"], "params", "must be an object; send parameters by name, not by position", UNSET),
        ("text", "params", "must be an object", "text"),
        (None, "params", "must be an object", None),
        ({"transactions": [7]}, "transactions[0]", "must be an object", 7),
        ({"transactions": {}}, "transactions", "must be an array", UNSET),
    ],
)
def test_objects_and_arrays_have_their_type(params: Any, path: str, message: str, got: Any) -> None:
    assert faults_of(NewClock, params) == [Fault(path, "type", message, got)]


def test_faults_of_items_within_the_limit_are_listed_too() -> None:
    params = {"transactions": [TRANSACTION] * 99 + [TRANSACTION | {"amount": 0}] * 3}
    assert faults_of(NewClock, params) == [
        Fault("transactions", "count", "must have at most 100 entries", 102),
        Fault("transactions[99].amount", "positive", "must be greater than 0", 0),
    ]


# Names


@pytest.mark.parametrize(
    ("kind", "params", "paths"),
    [
        (NewClock, {}, []),
        (NewClock, {"transactions": [{}]}, [f"transactions[0].{name}" for name in TRANSACTION]),
        (NewClock, {"goals": [{}]}, ["goals[0].name", "goals[0].targetAmount"]),
        (
            NewClock,
            {"goals": [GOAL | {"contributions": [{}]}]},
            ["goals[0].contributions[0].at", "goals[0].contributions[0].amount"],
        ),
        (DeleteEntry, {}, ["id"]),
        (SendEntry, {}, ["email", "loginCodeType", "emailType"]),
        (VerificationEntry, {}, ["email", "code", "authenticationMethod"]),
    ],
)
def test_missing_fields_are_faults(kind: type[Params], params: Any, paths: list[str]) -> None:
    assert faults_of(kind, params) == [Fault(path, "required", "is required") for path in paths]


@pytest.mark.parametrize(
    ("kind", "params", "path"),
    [
        (NewClock, {"frozenTime": None}, "frozenTime"),
        (NewClock, {"transactions": None}, "transactions"),
        (NewClock, {"transactions": [TRANSACTION | {"category": None}]}, "transactions[0].category"),
        (NewClock, {"goals": [GOAL | {"contributions": None}]}, "goals[0].contributions"),
    ],
)
def test_null_for_optional_parameter_gets_a_hint(kind: type[Params], params: Any, path: str) -> None:
    assert faults_of(kind, params) == [Fault(path, "null", "must not be null; omit it", None)]


@pytest.mark.parametrize(
    ("params", "path", "hint"),
    [
        ({"frozen_time": 1}, "frozen_time", "did you mean frozenTime?"),
        ({"goals": [GOAL | {"initalAmount": 5}]}, "goals[0].initalAmount", "did you mean initialAmount?"),
        ({"transactions": [TRANSACTION | {"when": ""}]}, "transactions[0].when", OF_A_TRANSACTION),
    ],
)
def test_unknown_name_gets_a_suggestion_and_its_value_is_omitted(params: Any, path: str, hint: str) -> None:
    assert faults_of(NewClock, params) == [Fault(path, "unknown", f"is not a known parameter; {hint}")]


# Text

TOO_LONG = "must have at most 120 characters"


@pytest.mark.parametrize(
    ("name", "rule", "message"),
    [
        pytest.param("\U0001f6b2" * 120, None, None, id="120 characters beyond the basic plane"),
        pytest.param("a\n", None, None, id="line break at the end"),
        pytest.param("", "minLength", "must have at least 1 character", id="empty"),
        pytest.param("a" * 121, "maxLength", TOO_LONG, id="121 characters"),
        pytest.param("\n\0\n", "format", EXPECTED_TEXT, id="U+0000 among line breaks"),
        pytest.param(7, "type", "must be a string", id="number"),
        pytest.param(None, "type", "must be a string", id="null"),
    ],
)
def test_name_has_1_to_120_characters(name: Any, rule: str | None, message: str | None) -> None:
    for path, found in [("transactions[0].name", of_transaction(name=name)), ("goals[0].name", of_goal(name=name))]:
        assert found == ([Fault(path, rule, message, name)] if rule and message else [])


@pytest.mark.parametrize(
    ("kind", "changes", "rule", "message"),
    [
        (NewClock, {"currency": "EUr"}, "format", "must be three uppercase letters"),
        (NewClock, {"category": "a" * 81}, "maxLength", "must have at most 80 characters"),
        (NewClock, {"type": "income"}, "oneOf", "must be EXPENSE or INCOME"),
        (NewClock, {"at": "2027-01-31"}, "format", EXPECTED_TIME),
        (NewClock, {"at": 1_801_386_000}, "type", EXPECTED_TIME),
        (SendEntry, {"emailType": None}, "oneOf", "must be LOGIN_CODE or WEB_LOGIN_LINK"),
        (SendEntry, {"loginCodeType": "LONG_LIVED"}, "combination", "must be SHORT_LIVED when emailType is LOGIN_CODE"),
        (SendEntry, {"emailType": "WEB_LOGIN_LINK", "loginCodeType": "SHORT_LIVED"}, "combination",
         "must be LONG_LIVED when emailType is WEB_LOGIN_LINK"),
        (VerificationEntry, {"authenticationMethod": ""}, "oneOf", "must be EMAIL_CODE"),
        (VerificationEntry, {"email": "a@x.test,b@x.test"}, "format", EXPECTED_ADDRESS),
        (VerificationEntry, {"email": None}, "type", "must be a string"),
        (GetEntry, {"id": 7}, "type", "must be a string"),
        (GetEntry, {"id": "clock_x\0"}, "format", EXPECTED_TEXT),
    ],
)  # fmt: skip
def test_message_says_what_is_valid(kind: type[Params], changes: dict[str, Any], rule: str, message: str) -> None:
    """tests/rpc/test_openrpc_bounds.py tries values around every bound."""
    if kind is NewClock:
        params, place = {"transactions": [TRANSACTION | changes]}, "transactions[0]."
    else:
        params, place = {SendEntry: SEND, VerificationEntry: VERIFICATION, GetEntry: GET}[kind] | changes, ""
    name, got = list(changes.items())[-1]
    assert faults_of(kind, params) == [Fault(f"{place}{name}", rule, message, got)]


# Numbers

TOO_LARGE = ("max", "must be at most 1000000000")
TOO_SMALL = ("positive", "must be greater than 0")
NOT_A_NUMBER = ("type", "must be a number")


@pytest.mark.parametrize(
    ("number", "wrong", "got"),
    [
        pytest.param("0", TOO_SMALL, 0, id="zero"),
        pytest.param("1e-400", TOO_SMALL, 0.0, id="too small for a double"),
        pytest.param("-5e-324", TOO_SMALL, -5e-324, id="just below zero"),
        pytest.param("-1e400", TOO_SMALL, UNSET, id="below any double"),
        pytest.param("1000000000.0000001", TOO_LARGE, 1000000000.0000001, id="just too many"),
        pytest.param("1e400", TOO_LARGE, UNSET, id="above any double"),
        pytest.param("true", NOT_A_NUMBER, True, id="true"),
        pytest.param("null", NOT_A_NUMBER, None, id="null"),
    ],
)
def test_other_amounts_are_invalid(number: str, wrong: tuple[str, str], got: Any) -> None:
    amount = Raw(number.encode())
    for path, found in [
        ("transactions[0].amount", of_transaction(amount=amount)),
        ("goals[0].targetAmount", of_goal(targetAmount=amount)),
        ("goals[0].contributions[0].amount", of_goal(contributions=[CONTRIBUTION | {"amount": amount}])),
    ]:
        assert found == [Fault(path, *wrong, got)]


@pytest.mark.parametrize(
    ("number", "wrong"),
    [
        ("-0.0", None),
        ("-5e-324", ("min", "must be at least 0", -5e-324)),
        ("1001", ("max", "must not exceed targetAmount (1000)", 1001)),
    ],
)
def test_initial_amount_is_at_least_0_and_at_most_the_target(number: str, wrong: tuple[str, str, Any] | None) -> None:
    found = of_goal(initialAmount=Raw(number.encode()))
    assert found == ([Fault("goals[0].initialAmount", *wrong)] if wrong else [])


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


def test_field_faults_and_combination_faults_are_listed_together() -> None:
    params = {
        "transactions": [
            *[TRANSACTION] * 3,
            TRANSACTION | {"amount": -5},
            TRANSACTION | {"at": "2026-12-31T00:00:00Z"},
        ],
        "goals": [GOAL | {"initialAmount": 1001}],
    }
    range_message = "must be between frozenTime and maxTime (2027-01-01T12:00:00Z to 2037-01-01T12:00:00Z)"
    with pytest.raises(Rejection) as rejection:
        decode_params(NewClock, "createTestClock", json.encode(params), NOW)
    assert rejection.value.message == "3 fields of createTestClock are invalid."
    assert rejection.value.details["errors"] == [
        Fault("transactions[3].amount", "positive", "must be greater than 0", -5),
        Fault("goals[0].initialAmount", "max", "must not exceed targetAmount (1000)", 1001),
        Fault("transactions[4].at", "range", range_message, "2026-12-31T00:00:00Z"),
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


def test_long_unknown_name_is_truncated_and_gets_no_hint() -> None:
    hinted, silent, cut = faults_of(NewClock, {"x" * 40: 1, "x" * 41: 1, "x" * 201: 1})
    assert hinted.message.startswith("is not a known parameter; available: frozenTime, transactions, goals, ")
    assert (silent.path, silent.message) == ("x" * 41, "is not a known parameter")
    assert (cut.path, cut.message) == ("x" * 199 + "…", "is not a known parameter")


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
