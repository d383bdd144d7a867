"""Several faults at once, and the limits for hostile parameters."""

from typing import Any

import pytest
from msgspec import json

from tests.unit.invalid_params import CONTRIBUTION, GOAL, NOW, TRANSACTION, faults_of, of_transaction
from tickover.api.clocks import NewClock
from tickover.api.errors import Fault, Rejection
from tickover.api.explain import explain
from tickover.api.limits import MAX_BODY, MAX_FAULTS
from tickover.server.rpc.envelope import decode_params

# Several faults


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
    assert faults_of(NewClock, params) == [
        Fault("transactions[3].amount", "positive", "must be greater than 0", -5),
        Fault("goals[0].initialAmount", "max", "must not exceed targetAmount (1000)", 1001),
        Fault("transactions[4].at", "range", range_message, "2026-12-31T00:00:00Z"),
    ]


def test_documented_example_has_the_documented_faults() -> None:
    params = {
        "transactions": [TRANSACTION] * 3 + [TRANSACTION | {"amount": -5}],
        "goals": [GOAL | {"initialAmount": 1001}],
    }
    with pytest.raises(Rejection) as rejection:
        decode_params(NewClock, "createTestClock", json.encode(params), NOW)
    assert rejection.value.message == "2 fields of createTestClock are invalid."
    assert json.decode(json.encode(rejection.value.details)) == {
        "errors": [
            {
                "path": "transactions[3].amount",
                "rule": "positive",
                "message": "must be greater than 0",
                "got": -5,
            },
            {
                "path": "goals[0].initialAmount",
                "rule": "max",
                "message": "must not exceed targetAmount (1000)",
                "got": 1001,
            },
        ]
    }


@pytest.mark.parametrize(
    ("params", "paths"),
    [
        pytest.param({"goals": 7}, ["goals"], id="invalid goals"),
        pytest.param({"goals": [7]}, ["goals[0]"], id="invalid goal"),
        pytest.param({"goals": [GOAL | {"targetAmount": 0}]}, ["goals[0].targetAmount"], id="invalid target"),
        pytest.param({"goals": [GOAL | {"initialAmount": ""}]}, ["goals[0].initialAmount"], id="invalid amount"),
        pytest.param({"goals": [GOAL | {"contributions": 7}]}, ["goals[0].contributions"], id="invalid contributions"),
        pytest.param({"transactions": "none"}, ["transactions"], id="invalid transactions"),
        pytest.param({"transactions": [7]}, ["transactions[0]"], id="invalid transaction"),
        pytest.param({"transactions": [TRANSACTION | {"at": ""}]}, ["transactions[0].at"], id="invalid instant"),
        pytest.param(
            {"frozenTime": "", "transactions": [TRANSACTION | {"at": "1999-01-01T00:00:00Z"}]},
            ["frozenTime"],
            id="invalid start",
        ),
    ],
)
def test_invalid_field_is_not_compared_with_other_fields(params: Any, paths: list[str]) -> None:
    assert [fault.path for fault in faults_of(NewClock, params)] == paths


# Limits for hostile parameters


def test_long_string_is_truncated_to_200_characters() -> None:
    (whole,) = of_transaction(currency="a" * 200)
    (cut,) = of_transaction(currency="a" * 201)
    assert whole.got == "a" * 200
    assert cut.got == "a" * 199 + "…"


def test_long_unknown_name_is_truncated_and_gets_no_hint() -> None:
    hinted, silent, cut = faults_of(NewClock, {"x" * 40: 1, "x" * 41: 1, "x" * 201: 1})
    assert hinted.message == "is not a known parameter; available: frozenTime, transactions, goals, name, labels"
    assert (silent.path, silent.message) == ("x" * 41, "is not a known parameter")
    assert (cut.path, cut.message) == ("x" * 199 + "…", "is not a known parameter")


def test_only_first_twenty_unknown_names_get_a_hint() -> None:
    entry = {f"nam{number}": 1 for number in range(15)}
    found = faults_of(NewClock, {"goals": [entry] * 2})
    messages = [fault.message for fault in found if fault.rule == "unknown"]
    assert messages == ["is not a known parameter; did you mean name?"] * 20 + ["is not a known parameter"] * 10


@pytest.mark.parametrize(("given", "named"), [(99, 99), (100, 100), (101, 100)])
def test_at_most_a_hundred_unknown_names_per_object_are_listed(given: int, named: int) -> None:
    assert len(faults_of(NewClock, {f"n{number}": 1 for number in range(given)})) == named


def ninety_thousand_unknown_names() -> bytes:
    return json.encode({f"n{number}": 0 for number in range(90_000)})


def unknown_names_in_every_entry() -> bytes:
    return json.encode({"transactions": [{f"n{number}": 0 for number in range(900)}] * 100})


def half_a_million_entries() -> bytes:
    return b'{"transactions":[' + b"0," * 500_000 + b"0]}"


def half_a_million_contributions() -> bytes:
    entries = b"[" + b"0," * 20_000 + b"0]"
    return b'{"goals":[' + b",".join([b'{"contributions":%b}' % entries] * 25) + b"]}"


def a_number_of_a_million_digits() -> bytes:
    return b'{"goals":[{"name":"a","targetAmount":' + b"9" * 1_000_000 + b"}]}"


def ten_numbers_of_a_hundred_thousand_digits() -> bytes:
    goal = b'{"name":"a","targetAmount":' + b"9" * 100_000 + b"}"
    return b'{"goals":[' + b",".join([goal] * 10) + b"]}"


def a_negative_number_of_a_million_digits() -> bytes:
    return b'{"frozenTime":-' + b"9" * 1_000_000 + b"}"


def a_timestamp_of_a_megabyte() -> bytes:
    return b'{"frozenTime":"2027-01-31T09:00:00.' + b"9" * 1_000_000 + b'"}'


def a_name_of_a_megabyte() -> bytes:
    return b'{"goals":[{"targetAmount":1,"name":"' + b"a" * 1_000_000 + b'"}]}'


def an_unknown_name_of_a_megabyte() -> bytes:
    return b'{"' + b"a" * 1_000_000 + b'":0}'


def the_most_faults_within_the_counts() -> bytes:
    transaction = dict.fromkeys(TRANSACTION | {"category": 0}, True)
    goal = dict.fromkeys(GOAL, True) | {"contributions": [dict.fromkeys(CONTRIBUTION, True)] * 100}
    return json.encode({"frozenTime": True, "transactions": [transaction] * 100, "goals": [goal] * 25})


HOSTILE = [
    pytest.param(ninety_thousand_unknown_names, 100, id="ninety thousand unknown names"),
    pytest.param(unknown_names_in_every_entry, MAX_FAULTS, id="unknown names in every entry"),
    pytest.param(half_a_million_entries, 1 + 100, id="half a million entries"),
    pytest.param(half_a_million_contributions, 25 * (2 + 1 + 100), id="half a million contributions"),
    pytest.param(a_number_of_a_million_digits, 1, id="a number of a million digits"),
    pytest.param(ten_numbers_of_a_hundred_thousand_digits, 10, id="ten numbers of a hundred thousand digits"),
    pytest.param(a_negative_number_of_a_million_digits, 1, id="a negative number of a million digits"),
    pytest.param(a_timestamp_of_a_megabyte, 1, id="a timestamp of a megabyte"),
    pytest.param(a_name_of_a_megabyte, 1, id="a name of a megabyte"),
    pytest.param(an_unknown_name_of_a_megabyte, 1, id="an unknown name of a megabyte"),
    pytest.param(
        the_most_faults_within_the_counts, 1 + 100 * 6 + 25 * (3 + 200), id="the most faults within the counts"
    ),
]


@pytest.mark.parametrize(("write", "count"), HOSTILE)
def test_number_of_faults_is_limited(write: Any, count: int) -> None:
    written = write()
    assert len(written) <= MAX_BODY
    found, _ = explain(NewClock, written)
    assert len(found) == count <= MAX_FAULTS
    assert len(json.encode(found)) < 2 * MAX_BODY
    assert max(len(json.encode(fault)) for fault in found) < 1000


def test_number_of_faults_is_limited_with_combination_faults() -> None:
    early = CONTRIBUTION | {"at": "1999-01-01T00:00:00Z"}
    goals = [GOAL | {"initialAmount": 1001, "contributions": [early] * 100}] * 25
    unknown = {f"n{number}": 0 for number in range(MAX_FAULTS)}
    with pytest.raises(Rejection) as rejection:
        decode_params(NewClock, "createTestClock", json.encode({"goals": goals} | unknown), NOW)
    assert len(rejection.value.details["errors"]) <= MAX_FAULTS


def test_value_of_unknown_name_is_ignored() -> None:
    found = faults_of(NewClock, b'{"x":' + b"[" * 200 + b"]" * 200 + b"}")
    assert [(fault.path, fault.rule) for fault in found] == [("x", "unknown")]
