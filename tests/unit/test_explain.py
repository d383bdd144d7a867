"""Faults of invalid parameters: rules, messages and paths."""

from typing import Any

import pytest
from msgspec import UNSET, Raw, json

from tests.unit.invalid_params import (
    ADVANCE,
    CONTRIBUTION,
    DELETE,
    EXPECTED_ADDRESS,
    EXPECTED_TEXT,
    EXPECTED_TIME,
    GET,
    GOAL,
    NO_TEXT,
    NOW,
    OF_ONE_CLOCK,
    SCHEDULE,
    SEND,
    TRANSACTION,
    VERIFICATION,
    faults_of,
    of_goal,
    of_transaction,
    without,
)
from tickover.api.clocks import NewClock
from tickover.api.errors import Fault
from tickover.api.explain import explain
from tickover.api.fields import Params
from tickover.server.operations.advance_test_clock import AdvanceEntry
from tickover.server.operations.delete_test_clock import DeleteEntry
from tickover.server.operations.fork_test_clock import ForkEntry
from tickover.server.operations.get_test_clock import GetEntry
from tickover.server.operations.login_by_email_verification import VerificationEntry
from tickover.server.operations.send_login_code_email import SendEntry
from tickover.server.rpc.envelope import decode_params


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        pytest.param(NewClock, {}, id="nothing"),
        pytest.param(NewClock, SCHEDULE, id="createTestClock"),
        pytest.param(AdvanceEntry, ADVANCE, id="advanceTestClock"),
        pytest.param(GetEntry, GET, id="getTestClock"),
        pytest.param(GetEntry, {"id": ""}, id="getTestClock without an instant"),
        pytest.param(ForkEntry, GET, id="forkTestClock"),
        pytest.param(ForkEntry, {"id": ""}, id="forkTestClock without an instant"),
        pytest.param(DeleteEntry, DELETE, id="deleteTestClock"),
        pytest.param(SendEntry, SEND, id="sendLoginCodeEmail"),
        pytest.param(VerificationEntry, VERIFICATION, id="loginByEmailVerification"),
    ],
)
def test_valid_parameters_have_no_faults(kind: type[Params], params: Any) -> None:
    found, read = explain(kind, json.encode(params))
    assert found == []
    assert read == decode_params(kind, "method", json.encode(params), NOW)


# Objects and arrays


@pytest.mark.parametrize(
    "kind",
    [
        NewClock,
        AdvanceEntry,
        GetEntry,
        DeleteEntry,
        ForkEntry,
        SendEntry,
        VerificationEntry,
    ],
)
def test_parameters_by_position_get_a_hint(kind: type[Params]) -> None:
    message = "must be an object; send parameters by name, not by position"
    assert faults_of(kind, ["a", "b"]) == [Fault("params", "type", message)]


@pytest.mark.parametrize("value", ["text", 7, True, None])
def test_parameters_must_be_an_object(value: Any) -> None:
    assert faults_of(NewClock, value) == [Fault("params", "type", "must be an object", value)]


@pytest.mark.parametrize(
    ("item", "got"),
    [
        pytest.param(7, 7, id="number"),
        pytest.param("Rent", "Rent", id="string"),
        pytest.param(None, None, id="null"),
        pytest.param(True, True, id="true"),
        pytest.param([TRANSACTION], UNSET, id="array"),
    ],
)
@pytest.mark.parametrize("name", ["transactions", "goals"])
def test_item_must_be_an_object(name: str, item: Any, got: Any) -> None:
    assert faults_of(NewClock, {name: [item]}) == [Fault(f"{name}[0]", "type", "must be an object", got)]


@pytest.mark.parametrize(("value", "got"), [({}, UNSET), ("", ""), (0, 0), (False, False)])
@pytest.mark.parametrize("name", ["transactions", "goals"])
def test_list_must_be_an_array(name: str, value: Any, got: Any) -> None:
    assert faults_of(NewClock, {name: value}) == [Fault(name, "type", "must be an array", got)]


@pytest.mark.parametrize(
    ("params", "path", "limit"),
    [
        pytest.param(lambda count: {"transactions": [TRANSACTION] * count}, "transactions", 100, id="transactions"),
        pytest.param(lambda count: {"goals": [GOAL] * count}, "goals", 25, id="goals"),
        pytest.param(
            lambda count: {"goals": [GOAL, GOAL | {"contributions": [CONTRIBUTION] * count}]},
            "goals[1].contributions",
            100,
            id="contributions",
        ),
    ],
)
def test_number_of_items_is_limited(params: Any, path: str, limit: int) -> None:
    assert faults_of(NewClock, params(0)) == []
    assert faults_of(NewClock, params(limit)) == []
    message = f"must have at most {limit} entries"
    assert faults_of(NewClock, params(limit + 1)) == [Fault(path, "count", message, limit + 1)]


def test_faults_of_items_within_the_limit_are_listed_too() -> None:
    params = {"transactions": [TRANSACTION] * 99 + [TRANSACTION | {"amount": 0}] * 3}
    assert [(fault.path, fault.rule) for fault in faults_of(NewClock, params)] == [
        ("transactions", "count"),
        ("transactions[99].amount", "positive"),
    ]


# Names


@pytest.mark.parametrize(
    ("kind", "params", "names"),
    [
        pytest.param(AdvanceEntry, ADVANCE, ["id", "frozenTime"], id="advanceTestClock"),
        pytest.param(GetEntry, GET, ["id"], id="getTestClock"),
        pytest.param(ForkEntry, GET, ["id"], id="forkTestClock"),
        pytest.param(DeleteEntry, DELETE, ["id"], id="deleteTestClock"),
        pytest.param(SendEntry, SEND, ["email", "loginCodeType", "emailType"], id="sendLoginCodeEmail"),
        pytest.param(
            VerificationEntry,
            VERIFICATION,
            ["email", "code", "authenticationMethod"],
            id="loginByEmailVerification",
        ),
    ],
)
def test_missing_parameter_is_a_fault(kind: type[Params], params: dict[str, Any], names: list[str]) -> None:
    for name in names:
        assert faults_of(kind, without(params, name)) == [Fault(name, "required", "is required")]
    assert faults_of(kind, {}) == [Fault(name, "required", "is required") for name in names]


@pytest.mark.parametrize("name", ["at", "name", "amount", "currency", "type"])
def test_missing_transaction_field_is_a_fault(name: str) -> None:
    found = faults_of(NewClock, {"transactions": [TRANSACTION, without(TRANSACTION, name)]})
    assert found == [Fault(f"transactions[1].{name}", "required", "is required")]


@pytest.mark.parametrize("name", ["name", "targetAmount"])
def test_missing_goal_field_is_a_fault(name: str) -> None:
    found = faults_of(NewClock, {"goals": [without(GOAL, name)]})
    assert found == [Fault(f"goals[0].{name}", "required", "is required")]


@pytest.mark.parametrize("name", ["at", "amount"])
def test_missing_contribution_field_is_a_fault(name: str) -> None:
    found = of_goal(contributions=[without(CONTRIBUTION, name)])
    assert found == [Fault(f"goals[0].contributions[0].{name}", "required", "is required")]


@pytest.mark.parametrize("name", ["initialAmount", "contributions"])
def test_optional_goal_field_can_be_omitted(name: str) -> None:
    assert faults_of(NewClock, {"goals": [without(GOAL, name)]}) == []


@pytest.mark.parametrize(
    ("params", "path"),
    [
        pytest.param({"frozenTime": None}, "frozenTime", id="frozenTime"),
        pytest.param({"transactions": None}, "transactions", id="transactions"),
        pytest.param({"goals": None}, "goals", id="goals"),
        pytest.param({"transactions": [TRANSACTION | {"category": None}]}, "transactions[0].category", id="category"),
        pytest.param({"goals": [GOAL | {"initialAmount": None}]}, "goals[0].initialAmount", id="initialAmount"),
        pytest.param({"goals": [GOAL | {"contributions": None}]}, "goals[0].contributions", id="contributions"),
    ],
)
def test_null_for_optional_parameter_gets_a_hint(params: Any, path: str) -> None:
    assert faults_of(NewClock, params) == [Fault(path, "null", "must not be null; omit it", None)]


@pytest.mark.parametrize("kind", [GetEntry, ForkEntry])
def test_null_for_optional_instant_gets_a_hint(kind: type[Params]) -> None:
    assert faults_of(kind, GET | {"at": None}) == [Fault("at", "null", "must not be null; omit it", None)]


@pytest.mark.parametrize(
    ("fields", "rule", "message"),
    [
        pytest.param({"at": None}, "type", EXPECTED_TIME, id="at"),
        pytest.param({"name": None}, "type", NO_TEXT, id="name"),
        pytest.param({"amount": None}, "type", "must be a number", id="amount"),
        pytest.param({"currency": None}, "type", "must be a string of three uppercase letters", id="currency"),
        pytest.param({"type": None}, "oneOf", "must be EXPENSE or INCOME", id="type"),
    ],
)
def test_null_for_required_parameter_is_a_type_fault(fields: dict[str, None], rule: str, message: str) -> None:
    assert of_transaction(**fields) == [Fault(f"transactions[0].{next(iter(fields))}", rule, message, None)]


@pytest.mark.parametrize(
    ("params", "path", "hint"),
    [
        pytest.param({"frozentime": 1}, "frozentime", "did you mean frozenTime?", id="case"),
        pytest.param({"frozen_time": 1}, "frozen_time", "did you mean frozenTime?", id="underscore"),
        pytest.param({"goal": []}, "goal", "did you mean goals?", id="singular"),
        pytest.param(
            {"goals": [GOAL | {"initalAmount": 5}]},
            "goals[0].initalAmount",
            "did you mean initialAmount?",
            id="misspelt",
        ),
        pytest.param(
            {"transactions": [TRANSACTION | {"when": ""}]},
            "transactions[0].when",
            "available: at, name, amount, currency, type, category",
            id="far from all",
        ),
        pytest.param({"": 1}, "", "available: frozenTime, transactions, goals, name, labels", id="empty"),
        pytest.param(
            {"zeit\0": 1}, "zeit\0", "available: frozenTime, transactions, goals, name, labels", id="with U+0000"
        ),
    ],
)
def test_unknown_name_gets_a_suggestion(params: Any, path: str, hint: str) -> None:
    assert faults_of(NewClock, params) == [Fault(path, "unknown", f"is not a known parameter; {hint}")]


def test_fault_of_unknown_name_omits_the_value() -> None:
    (fault,) = faults_of(VerificationEntry, VERIFICATION | {"pin": "012345"})
    assert fault.got is UNSET


def test_name_from_another_object_is_unknown() -> None:
    found = faults_of(NewClock, {"amount": 1, "goals": [GOAL | {"currency": "EUR"}]})
    assert [(fault.path, fault.rule) for fault in found] == [("amount", "unknown"), ("goals[0].currency", "unknown")]


# Text


@pytest.mark.parametrize(
    ("name", "rule", "message"),
    [
        pytest.param("a", None, None, id="1 character"),
        pytest.param("a" * 120, None, None, id="120 characters"),
        pytest.param("\U0001f6b2" * 120, None, None, id="120 characters beyond the basic plane"),
        pytest.param(" ", None, None, id="a space"),
        pytest.param("a\n", None, None, id="line break at the end"),
        pytest.param("", "minLength", "must have at least 1 character", id="empty"),
        pytest.param("a" * 121, "maxLength", "must have at most 120 characters", id="121 characters"),
        pytest.param("a" * 120 + "\n", "maxLength", "must have at most 120 characters", id="120 and a line break"),
        pytest.param("e\u0301" * 61, "maxLength", "must have at most 120 characters", id="122 code points"),
        pytest.param("\0", "format", EXPECTED_TEXT, id="U+0000"),
        pytest.param("Rent\0", "format", EXPECTED_TEXT, id="U+0000 at the end"),
        pytest.param("\n\0\n", "format", EXPECTED_TEXT, id="U+0000 among line breaks"),
        pytest.param(7, "type", NO_TEXT, id="number"),
        pytest.param(True, "type", NO_TEXT, id="true"),
    ],
)
def test_name_has_1_to_120_characters(name: Any, rule: str | None, message: str | None) -> None:
    for path, found in [
        ("transactions[0].name", of_transaction(name=name)),
        ("goals[0].name", of_goal(name=name)),
    ]:
        assert found == ([Fault(path, rule, message, name)] if rule and message else [])


@pytest.mark.parametrize(
    ("category", "rule", "message"),
    [
        pytest.param("", None, None, id="empty"),
        pytest.param("a" * 80, None, None, id="80 characters"),
        pytest.param("a" * 81, "maxLength", "must have at most 80 characters", id="81 characters"),
        pytest.param("\0", "format", EXPECTED_TEXT, id="U+0000"),
        pytest.param(7, "type", NO_TEXT, id="number"),
    ],
)
def test_category_has_at_most_80_characters(category: Any, rule: str | None, message: str | None) -> None:
    found = of_transaction(category=category)
    assert found == ([Fault("transactions[0].category", rule, message, category)] if rule and message else [])


@pytest.mark.parametrize("currency", ["EUR", "AAA", "ZZZ", "XXX"])
def test_three_uppercase_letters_are_a_valid_currency(currency: str) -> None:
    assert of_transaction(currency=currency) == []


@pytest.mark.parametrize(
    "currency",
    ["", "E", "EU", "EURO", "eur", "EUr", "EU1", "EU\n", "EUR\n", "\nEUR", " EUR", "ÄÖÜ", "ＥＵＲ", "ΕUR", "EU\0", "$"],
)
def test_other_currencies_are_invalid(currency: str) -> None:
    message = "must be three uppercase letters"
    assert of_transaction(currency=currency) == [Fault("transactions[0].currency", "format", message, currency)]


@pytest.mark.parametrize("type", ["INCOME", "EXPENSE"])
def test_income_and_expense_are_valid_types(type: str) -> None:
    assert of_transaction(type=type) == []


@pytest.mark.parametrize(
    ("type", "got"),
    [
        ("", ""),
        ("income", "income"),
        ("INCOME ", "INCOME "),
        ("TRANSFER", "TRANSFER"),
        (1, 1),
        (True, True),
        (["INCOME"], UNSET),
        ({"INCOME": 1}, UNSET),
    ],
)
def test_other_types_are_invalid(type: Any, got: Any) -> None:
    assert of_transaction(type=type) == [Fault("transactions[0].type", "oneOf", "must be EXPENSE or INCOME", got)]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("loginCodeType", "short_lived", "must be LONG_LIVED or SHORT_LIVED"),
        ("loginCodeType", "LOGIN_CODE", "must be LONG_LIVED or SHORT_LIVED"),
        ("emailType", "LONG_LIVED", "must be LOGIN_CODE or WEB_LOGIN_LINK"),
        ("emailType", None, "must be LOGIN_CODE or WEB_LOGIN_LINK"),
    ],
)
def test_email_type_and_code_type_have_two_values(name: str, value: Any, message: str) -> None:
    assert faults_of(SendEntry, SEND | {name: value}) == [Fault(name, "oneOf", message, value)]


@pytest.mark.parametrize("value", ["EMAIL_LINK", "email_code", "", None, 6])
def test_authentication_method_has_one_value(value: Any) -> None:
    found = faults_of(VerificationEntry, VERIFICATION | {"authenticationMethod": value})
    assert found == [Fault("authenticationMethod", "oneOf", "must be EMAIL_CODE", value)]


@pytest.mark.parametrize(
    ("code_type", "email_type", "needed"),
    [("LONG_LIVED", "LOGIN_CODE", "SHORT_LIVED"), ("SHORT_LIVED", "WEB_LOGIN_LINK", "LONG_LIVED")],
)
def test_mismatched_types_are_a_combination_fault(code_type: str, email_type: str, needed: str) -> None:
    found = faults_of(SendEntry, SEND | {"loginCodeType": code_type, "emailType": email_type})
    message = f"must be {needed} when emailType is {email_type}"
    assert found == [Fault("loginCodeType", "combination", message, code_type)]


@pytest.mark.parametrize(
    ("value", "rule", "message"),
    [
        pytest.param("ana", "format", EXPECTED_ADDRESS, id="no address"),
        pytest.param("a@x.test,b@x.test", "format", EXPECTED_ADDRESS, id="two addresses"),
        pytest.param("a\0@x.test", "format", EXPECTED_ADDRESS, id="U+0000"),
        pytest.param("", "format", EXPECTED_ADDRESS, id="empty"),
        pytest.param(7, "type", "must be a string", id="number"),
        pytest.param(None, "type", "must be a string", id="null"),
    ],
)
@pytest.mark.parametrize(("kind", "params"), [(SendEntry, SEND), (VerificationEntry, VERIFICATION)])
def test_email_must_be_one_address(
    kind: type[Params], params: dict[str, Any], value: Any, rule: str, message: str
) -> None:
    assert faults_of(kind, params | {"email": value}) == [Fault("email", rule, message, value)]


@pytest.mark.parametrize(
    ("value", "rule", "got"),
    [
        pytest.param("2027-01-31", "format", "2027-01-31", id="date alone"),
        pytest.param("", "format", "", id="empty"),
        pytest.param(1_801_386_000, "type", 1_801_386_000, id="number"),
        pytest.param(False, "type", False, id="false"),
        pytest.param(["2027-01-31T09:00:00Z"], "type", UNSET, id="array"),
        pytest.param({}, "type", UNSET, id="object"),
    ],
)
def test_every_instant_must_be_a_timestamp(value: Any, rule: str, got: Any) -> None:
    late = CONTRIBUTION | {"at": value}
    for path, found in [
        ("frozenTime", faults_of(NewClock, SCHEDULE | {"frozenTime": value})),
        ("frozenTime", faults_of(AdvanceEntry, ADVANCE | {"frozenTime": value})),
        ("at", faults_of(GetEntry, GET | {"at": value})),
        ("at", faults_of(ForkEntry, GET | {"at": value})),
        ("transactions[0].at", of_transaction(at=value)),
        ("goals[0].contributions[1].at", of_goal(contributions=[CONTRIBUTION, late])),
    ]:
        assert found == [Fault(path, rule, EXPECTED_TIME, got)]


@pytest.mark.parametrize(("value", "got"), [(7, 7), (None, None), ([], UNSET)])
def test_clock_id_must_be_a_string(value: Any, got: Any) -> None:
    for kind, params in OF_ONE_CLOCK:
        assert faults_of(kind, params | {"id": value}) == [Fault("id", "type", "must be a string", got)]


@pytest.mark.parametrize("value", ["\0", "clock_x\0", "\0clock_x"])
def test_clock_id_must_not_contain_u_0000(value: str) -> None:
    for kind, params in OF_ONE_CLOCK:
        assert faults_of(kind, params | {"id": value}) == [Fault("id", "format", EXPECTED_TEXT, value)]


@pytest.mark.parametrize(
    ("kind", "known"),
    [(GetEntry, "id, at, details"), (ForkEntry, "id, at, name, labels"), (DeleteEntry, "id")],
)
def test_parameter_of_another_operation_is_unknown(kind: type[Params], known: str) -> None:
    message = f"is not a known parameter; available: {known}"
    assert faults_of(kind, DELETE | {"frozenTime": ""}) == [Fault("frozenTime", "unknown", message)]


# Numbers

TOO_LARGE = ("max", "must be at most 1000000000")
TOO_SMALL = ("positive", "must be greater than 0")


@pytest.mark.parametrize("number", ["1", "1.0", "0.1", "5e-324", "1e-300", "999999999.9999999", "1000000000", "1e9"])
def test_amount_is_positive_and_at_most_a_billion(number: str) -> None:
    amount = Raw(number.encode())
    assert of_transaction(amount=amount) == []
    assert of_goal(targetAmount=amount, initialAmount=0) == []
    assert of_goal(contributions=[CONTRIBUTION | {"amount": amount}]) == []


@pytest.mark.parametrize(
    ("number", "wrong", "got"),
    [
        pytest.param("0", TOO_SMALL, 0, id="zero"),
        pytest.param("0.0", TOO_SMALL, 0.0, id="zero with a fraction"),
        pytest.param("-0.0", TOO_SMALL, 0.0, id="minus zero"),
        pytest.param("-0", TOO_SMALL, 0, id="whole minus zero"),
        pytest.param("1e-400", TOO_SMALL, 0.0, id="too small for a double"),
        pytest.param("-5", TOO_SMALL, -5, id="below zero"),
        pytest.param("-5e-324", TOO_SMALL, -5e-324, id="just below zero"),
        pytest.param("-99999999999999999999", TOO_SMALL, -1e20, id="far below zero"),
        pytest.param("-1e400", TOO_SMALL, UNSET, id="below any double"),
        pytest.param("1000000001", TOO_LARGE, 1_000_000_001, id="one too many"),
        pytest.param("1000000000.0000001", TOO_LARGE, 1000000000.0000001, id="just too many"),
        pytest.param("999999999999999999", TOO_LARGE, 999_999_999_999_999_999, id="18 digits"),
        pytest.param("9223372036854775808", TOO_LARGE, 9.223372036854775808e18, id="64 bits"),
        pytest.param("1" + "0" * 300, TOO_LARGE, 1e300, id="300 digits"),
        pytest.param("1" + "0" * 400, TOO_LARGE, UNSET, id="400 digits"),
        pytest.param("1e400", TOO_LARGE, UNSET, id="above any double"),
        pytest.param("true", ("type", "must be a number"), True, id="true"),
        pytest.param("false", ("type", "must be a number"), False, id="false"),
        pytest.param('"900"', ("type", "must be a number"), "900", id="string"),
        pytest.param("null", ("type", "must be a number"), None, id="null"),
        pytest.param("[900]", ("type", "must be a number"), UNSET, id="array"),
        pytest.param("{}", ("type", "must be a number"), UNSET, id="object"),
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
    ("number", "wrong", "got"),
    [
        pytest.param("0", None, UNSET, id="zero"),
        pytest.param("-0.0", None, UNSET, id="minus zero"),
        pytest.param("1000", None, UNSET, id="the target"),
        pytest.param("-1", ("min", "must be at least 0"), -1, id="below zero"),
        pytest.param("-5e-324", ("min", "must be at least 0"), -5e-324, id="just below zero"),
        pytest.param("1001", ("max", "must not exceed targetAmount (1000)"), 1001, id="more than the target"),
        pytest.param("1000000000", ("max", "must not exceed targetAmount (1000)"), 1_000_000_000, id="a billion"),
        pytest.param("1000000001", TOO_LARGE, 1_000_000_001, id="more than a billion"),
        pytest.param("true", ("type", "must be a number"), True, id="true"),
    ],
)
def test_initial_amount_is_at_least_0_and_at_most_the_target(
    number: str, wrong: tuple[str, str] | None, got: Any
) -> None:
    found = of_goal(initialAmount=Raw(number.encode()))
    assert found == ([Fault("goals[0].initialAmount", *wrong, got)] if wrong else [])


# Secrets


@pytest.mark.parametrize("code", ["000000", "012345", "999999"])
def test_six_digits_are_a_valid_code(code: str) -> None:
    assert faults_of(VerificationEntry, VERIFICATION | {"code": code}) == []


@pytest.mark.parametrize(
    ("code", "rule", "message"),
    [
        pytest.param("", "format", "must be 6 digits", id="empty"),
        pytest.param("12345", "format", "must be 6 digits", id="five digits"),
        pytest.param("1234567", "format", "must be 6 digits", id="seven digits"),
        pytest.param("123456\n", "format", "must be 6 digits", id="line break at the end"),
        pytest.param("12345\n", "format", "must be 6 digits", id="five digits and a line break"),
        pytest.param(" 123456", "format", "must be 6 digits", id="space at the start"),
        pytest.param("123 456", "format", "must be 6 digits", id="space in the middle"),
        pytest.param("12345a", "format", "must be 6 digits", id="not a digit"),
        pytest.param("-12345", "format", "must be 6 digits", id="a sign"),
        pytest.param("১২৩৪৫৬", "format", "must be 6 digits", id="Bengali digits"),
        pytest.param("１２３４５６", "format", "must be 6 digits", id="full-width digits"),
        pytest.param("1" * 1_000_000, "format", "must be 6 digits", id="a million digits"),
        pytest.param(123_456, "type", "must be a string of 6 digits", id="number"),
        pytest.param(["123456"], "type", "must be a string of 6 digits", id="array"),
        pytest.param(None, "type", "must be a string of 6 digits", id="null"),
    ],
)
def test_other_codes_are_invalid_and_never_in_the_fault(code: Any, rule: str, message: str) -> None:
    assert faults_of(VerificationEntry, VERIFICATION | {"code": code}) == [Fault("code", rule, message)]
