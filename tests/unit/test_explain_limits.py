"""Several faults at once, and the limits for hostile parameters."""

from typing import Any

import pytest
from msgspec import json

from tests.unit.test_explain import GOAL, NOW, TRANSACTION, faults_of
from tickover.api.clocks import NewClock
from tickover.api.errors import Fault, Rejection
from tickover.api.explain import explain
from tickover.api.limits import MAX_BODY, MAX_FAULTS
from tickover.server.rpc.envelope import decode_params


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
