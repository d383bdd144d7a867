"""INVALID_PARAMS lists every fault with path, rule, message and value."""

from typing import Any

import pytest

from tests.rpc.builders import OMITTED, call, contribution, goal, login, raw_call, send, transaction
from tests.support.cases import each_case
from tests.support.world import World

CREATE = "createTestClock"


async def faults(world: World, params: Any, token: str | None = None, method: str = CREATE) -> list[dict[str, Any]]:
    """Return the faults in the order of the error."""
    errors: list[dict[str, Any]] = (await world.error(method, params, token))["data"]["errors"]
    return errors


async def test_error_object_has_the_documented_form(world: World, token: str) -> None:
    entries = [transaction(), transaction(), transaction(), transaction(amount=-5)]
    params = {"transactions": entries, "goals": [goal(targetAmount=1000, initialAmount=1001)]}
    response = await world.post(call(CREATE, params), token)
    amount = {"path": "transactions[3].amount", "rule": "positive", "message": "must be greater than 0", "got": -5}
    initial = {"path": "goals[0].initialAmount", "rule": "max", "message": "must not exceed targetAmount (1000)"}
    assert response.json == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {
            "code": -32602,
            "message": "2 fields of createTestClock are invalid.",
            "data": {"reason": "INVALID_PARAMS", "errors": [amount, initial | {"got": 1001}]},
        },
    }


async def test_message_for_one_fault_is_singular(world: World) -> None:
    error = await world.error("sendLoginCodeEmail", send("ana"))
    assert error["message"] == "1 field of sendLoginCodeEmail is invalid."


async def test_all_faults_of_a_clock_are_listed(world: World, token: str) -> None:
    too_late = contribution(at="2038-01-01T00:00:00Z")
    params = {
        "frozenTime": "2027-01-01T00:00:00Z",
        "transactions": [
            transaction(at="2026-12-31T23:59:59Z", name="", currency="eur"),
            transaction(),
            "rent",
            {"amount": 1_000_000_001, "type": "GIFT", "category": "x" * 81},
        ],
        "goals": [
            goal(targetAmount=0, initialAmount=-1, contributions=[contribution(amount="5"), contribution(at="soon")]),
            goal(name="x" * 121, targetAmount=10, initialAmount=10.5, contributions=[too_late]),
            goal(contributions=[contribution()] * 101, colour="red"),
        ],
        "notes": [],
    }
    assert await world.faults(CREATE, params, token) == {
        "notes": "unknown",
        "transactions[0].at": "range",
        "transactions[0].name": "minLength",
        "transactions[0].currency": "format",
        "transactions[2]": "type",
        "transactions[3].at": "required",
        "transactions[3].name": "required",
        "transactions[3].amount": "max",
        "transactions[3].currency": "required",
        "transactions[3].type": "oneOf",
        "transactions[3].category": "maxLength",
        "goals[0].targetAmount": "positive",
        "goals[0].initialAmount": "min",
        "goals[0].contributions[0].amount": "type",
        "goals[0].contributions[1].at": "format",
        "goals[1].name": "maxLength",
        "goals[1].initialAmount": "max",
        "goals[1].contributions[0].at": "range",
        "goals[2].contributions": "count",
        "goals[2].colour": "unknown",
    }


async def test_faults_of_all_items_are_listed(world: World, token: str) -> None:
    params = {
        "transactions": [transaction(amount=0)] * 100,
        "goals": [goal(contributions=[contribution(amount=0)] * 100)] * 25,
    }
    named_faults = await world.faults(CREATE, params, token)
    assert len(named_faults) == 100 + 25 * 100
    assert {"transactions[99].amount", "goals[24].contributions[99].amount"} <= named_faults.keys()


async def test_all_faults_of_a_send_are_listed(world: World) -> None:
    params = send("ana", loginCodeType="LONG_LIVED", to="ana")
    expected = {"email": "format", "loginCodeType": "combination", "to": "unknown"}
    assert await world.faults("sendLoginCodeEmail", params) == expected


async def test_all_faults_of_a_login_are_listed(world: World) -> None:
    params = login("12345", "ana", authenticationMethod="PASSWORD")
    expected = {"email": "format", "code": "format", "authenticationMethod": "oneOf"}
    assert await world.faults("loginByEmailVerification", params) == expected


# Combination faults concern only fields that are valid by themselves.


@each_case(
    ("params", "expected"),
    [
        pytest.param(
            {"frozenTime": "soon", "transactions": [transaction(at="1999-01-01T00:00:00Z")]},
            {"frozenTime": "format"},
            id="no range without a frozenTime",
        ),
        pytest.param(
            {"goals": [goal(targetAmount="much", initialAmount=2_000)]},
            {"goals[0].targetAmount": "type"},
            id="no initialAmount over an invalid targetAmount",
        ),
        pytest.param(
            {"goals": [goal(initialAmount="much"), goal(targetAmount=1, initialAmount=2)]},
            {"goals[0].initialAmount": "type", "goals[1].initialAmount": "max"},
            id="the next goal is looked at all the same",
        ),
        pytest.param(
            {"transactions": [5, transaction(at="2026-01-01T00:00:00Z")]},
            {"transactions[0]": "type", "transactions[1].at": "range"},
            id="the next transaction is looked at all the same",
        ),
        pytest.param(
            {"transactions": {}, "goals": [None, goal(contributions=[contribution(at="2026-01-01T00:00:00Z")])]},
            {"transactions": "type", "goals[0]": "type", "goals[1].contributions[0].at": "range"},
            id="contributions are looked at beside broken arrays",
        ),
        pytest.param(
            {"goals": 5, "transactions": [transaction(at="2026-01-01T00:00:00Z", amount=0)]},
            {"goals": "type", "transactions[0].amount": "positive", "transactions[0].at": "range"},
            id="two faults of one entry",
        ),
    ],
)
async def test_combination_fault_requires_both_fields(
    world: World, token: str, params: Any, expected: dict[str, str]
) -> None:
    assert await world.faults(CREATE, params, token) == expected


@each_case("field", ["emailType", "loginCodeType"])
async def test_combination_faults_of_other_fields_are_listed_too(world: World, field: str) -> None:
    assert await world.faults("sendLoginCodeEmail", send(**{field: "CARRIER_PIGEON"})) == {field: "oneOf"}


# Values in faults


@each_case(
    ("value", "got"),
    [
        (0, 0), (-1.5, -1.5), (True, True), (None, None), ("5", "5"), ("", ""), ([], OMITTED), ({"a": 1}, OMITTED),
        ("x" * 200, "x" * 200), ("x" * 201, "x" * 199 + "…"), ("😀" * 201, "😀" * 199 + "…"),
    ],
)  # fmt: skip
async def test_fault_contains_short_values(world: World, token: str, value: Any, got: Any) -> None:
    (fault,) = await faults(world, {"transactions": [transaction(amount=value)]}, token)
    assert fault.get("got", OMITTED) == got
    assert type(fault.get("got", OMITTED)) is type(got)
    assert fault["message"]


async def test_fault_omits_numbers_larger_than_a_double(world: World, token: str) -> None:
    response = await world.post(raw_call(CREATE, '{"goals": [{"name": "x", "targetAmount": 1e999}]}'), token)
    (fault,) = response.json["error"]["data"]["errors"]
    assert fault == {"path": "goals[0].targetAmount", "rule": "max", "message": "must be at most 1000000000"}


async def test_fault_of_too_many_items_contains_their_count(world: World, token: str) -> None:
    (fault,) = await faults(world, {"transactions": [transaction()] * 101}, token)
    assert fault == {"path": "transactions", "rule": "count", "message": "must have at most 100 entries", "got": 101}


async def test_range_fault_names_the_bounds(world: World, token: str) -> None:
    entry = transaction(at="2026-12-31T23:00:00-02:00")
    (fault,) = await faults(world, {"frozenTime": "2028-02-29T00:00:00Z", "transactions": [entry]}, token)
    assert fault["got"] == "2027-01-01T01:00:00Z"
    assert "2028-02-29T00:00:00Z to 2038-02-28T00:00:00Z" in fault["message"]
    (fault,) = await faults(world, {"frozenTime": "2037-01-01T12:01:00.000001Z"}, token)
    assert "2017-01-01T12:01:00Z to 2037-01-01T12:01:00Z" in fault["message"]


# Unknown names


@each_case(
    ("params", "path", "nearest"),
    [
        ({"goals": [goal(initalAmount=5)]}, "goals[0].initalAmount", "initialAmount"),
        ({"goals": [goal(target_amount=5)]}, "goals[0].target_amount", "targetAmount"),
        ({"frozentime": "x"}, "frozentime", "frozenTime"),
        ({"transaction": []}, "transaction", "transactions"),
        ({"transactions": [transaction(curency="EUR")]}, "transactions[0].curency", "currency"),
        ({"goals": [goal(contributions=[contribution(ammount=5)])]}, "goals[0].contributions[0].ammount", "amount"),
    ],
)
async def test_misspelled_name_gets_a_suggestion(
    world: World, token: str, params: Any, path: str, nearest: str
) -> None:
    (fault,) = await faults(world, params, token)
    assert (fault["path"], fault["rule"]) == (path, "unknown")
    assert fault["message"] == f"is not a known parameter; did you mean {nearest}?"


async def test_unknown_name_without_similar_one_lists_available_names(world: World) -> None:
    (fault,) = await faults(world, send(zzz=1), method="sendLoginCodeEmail")
    assert fault["message"] == "is not a known parameter; available: email, loginCodeType, emailType"


async def test_huge_number_of_unknown_names_is_rejected(world: World, token: str) -> None:
    response = await world.call(CREATE, {f"name{number}": None for number in range(30_000)}, token)
    assert response.status == 200
    assert len(response.json["error"]["data"]["errors"]) == 100
