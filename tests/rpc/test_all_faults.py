"""INVALID_PARAMS lists every fault. tests/unit/test_explain.py and test_explain_limits.py have the rules."""

from tests.rpc.builders import call, contribution, goal, login, raw_call, send, transaction
from tests.support.world import World

CREATE = "createTestClock"


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


async def test_all_faults_of_public_operations_are_listed(world: World) -> None:
    params = send("ana", loginCodeType="LONG_LIVED", to="ana")
    expected = {"email": "format", "loginCodeType": "combination", "to": "unknown"}
    assert await world.faults("sendLoginCodeEmail", params) == expected
    params = login("12345", "ana", authenticationMethod="PASSWORD")
    expected = {"email": "format", "code": "format", "authenticationMethod": "oneOf"}
    assert await world.faults("loginByEmailVerification", params) == expected


async def test_fault_omits_numbers_larger_than_a_double(world: World, token: str) -> None:
    response = await world.post(raw_call(CREATE, '{"goals": [{"name": "x", "targetAmount": 1e999}]}'), token)
    (fault,) = response.json["error"]["data"]["errors"]
    assert fault == {"path": "goals[0].targetAmount", "rule": "max", "message": "must be at most 1000000000"}


async def test_range_fault_names_the_bounds(world: World, token: str) -> None:
    params = {"frozenTime": "2028-02-29T00:00:00Z", "transactions": [transaction(at="2026-12-31T23:00:00-02:00")]}
    (fault,) = (await world.error(CREATE, params, token))["data"]["errors"]
    assert fault["got"] == "2027-01-01T01:00:00Z"
    assert "2028-02-29T00:00:00Z to 2038-02-28T00:00:00Z" in fault["message"]
    (fault,) = (await world.error(CREATE, {"frozenTime": "2037-01-01T12:01:00.000001Z"}, token))["data"]["errors"]
    assert "2017-01-01T12:01:00Z to 2037-01-01T12:01:00Z" in fault["message"]


async def test_huge_number_of_unknown_names_is_rejected(world: World, token: str) -> None:
    response = await world.call(CREATE, {f"name{number}": None for number in range(30_000)}, token)
    assert response.status == 200
    assert len(response.json["error"]["data"]["errors"]) == 100
