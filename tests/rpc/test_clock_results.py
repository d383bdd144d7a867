"""Clocks in responses: fields, ids, amounts and text. tests/unit/test_clocks.py has the rules of views."""

import json
import re
from datetime import UTC, datetime

import pytest

from tests.rpc.builders import START, contribution, goal, raw_call, transaction
from tests.support.world import World

LATER = "2027-06-01T00:00:00Z"


async def test_empty_clock_has_all_fields(world: World, token: str) -> None:
    world.now = datetime(2027, 1, 2, 3, 4, 5, 678_999, UTC)
    result = await world.result("createTestClock", {}, token)
    assert result.keys() == {"clock"}
    clock = result["clock"]
    assert re.fullmatch(r"clock_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", clock.pop("id"))
    assert clock == {
        "status": "READY",
        "frozenTime": "2027-01-02T03:04:05.678999Z",
        "maxTime": "2037-01-02T03:04:05.678999Z",
        "expiresAt": "2027-01-09T03:04:05.678000Z",
        "transactions": [],
        "pendingTransactions": [],
        "goals": [],
    }


async def test_resources_have_exactly_the_documented_fields(world: World, token: str) -> None:
    clock = await world.create(
        token,
        frozenTime=START,
        transactions=[transaction(at=START), transaction(at=LATER, type="EXPENSE", category="")],
        goals=[goal(initialAmount=10, contributions=[contribution(at=at, amount=500) for at in (START, LATER)])],
    )
    (posted,), (pending,), (shown,) = clock["transactions"], clock["pendingTransactions"], clock["goals"]
    assert posted == transaction(at=START, id=posted["id"], source="SIMULATED_TEST_CLOCK")
    expected = transaction(at=LATER, type="EXPENSE", category="")
    assert pending == {**expected, "id": pending["id"], "source": "SIMULATED_TEST_CLOCK"}
    (paid,), (upcoming,) = shown.pop("contributions"), shown.pop("upcomingContributions")
    assert paid == contribution(at=START, amount=500, id=paid["id"])
    assert upcoming == contribution(at=LATER, amount=500, id=upcoming["id"])
    assert shown == {
        **goal(id=shown["id"]),
        "currentAmount": 510,
        "remainingAmount": 490,
        "progressPercent": 51,
    }


async def test_ids_have_prefixes_and_stay_the_same_after_an_advance(world: World, token: str) -> None:
    params = {"transactions": [transaction()], "goals": [goal(contributions=[contribution()])]}
    before = await world.create(token, frozenTime=START, **params)
    (item,), (shown,) = before["pendingTransactions"], before["goals"]
    (upcoming,) = shown["upcomingContributions"]
    ids = [before["id"], item["id"], shown["id"], upcoming["id"]]
    assert [id.partition("_")[0] for id in ids] == ["clock", "txn", "goal", "ctb"]
    after = await world.advance(token, before["id"], LATER)
    assert (after["id"], after["transactions"]) == (before["id"], [item])
    assert (after["goals"][0]["id"], after["goals"][0]["contributions"]) == (shown["id"], [upcoming])


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("5.0", "5"),
        ("0.5e1", "5"),
        ("1E9", "1000000000"),
        ("0.10", "0.1"),
        ("123456789.12345679", "123456789.12345679"),
    ],
)
async def test_amount_is_the_shortest_number_without_trailing_zero(
    world: World, token: str, given: str, shown: str
) -> None:
    params = json.dumps({
        "transactions": [transaction(amount="HERE")],
        "goals": [goal(targetAmount="HERE", initialAmount="HERE", contributions=[contribution(amount="HERE")])],
    }).replace('"HERE"', given)  # fmt: skip
    response = await world.post(raw_call("createTestClock", params), token)
    clock = json.loads(response.body, parse_float=str, parse_int=str)["result"]["clock"]
    (saved,) = clock["goals"]
    amounts = [clock["pendingTransactions"][0]["amount"], saved["upcomingContributions"][0]["amount"]]
    assert [*amounts, saved["targetAmount"], saved["currentAmount"]] == [shown] * 4
    assert (saved["remainingAmount"], saved["progressPercent"]) == ("0", "100")


async def test_text_with_escapes_is_returned_unchanged(world: World, token: str) -> None:
    name = '"\\/\b\f\n\r\t\x1f\x7f</script>é😀\u2028,{}[]'
    clock = await world.create(token, transactions=[transaction(name=name, category=name)], goals=[goal(name=name)])
    (item,), (shown,) = clock["pendingTransactions"], clock["goals"]
    assert item["name"] == item["category"] == shown["name"] == name
