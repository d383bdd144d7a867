"""Views of clocks: fields, ids, order, exact amounts and progress."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.rpc.builders import OMITTED, call, contribution, goal, raw_call, transaction
from tests.support.cases import each_case
from tests.support.world import World

CLOCK = {"id", "status", "frozenTime", "maxTime", "expiresAt", "transactions", "pendingTransactions", "goals"}
TRANSACTION = {"id", "at", "name", "amount", "currency", "type", "source"}
GOAL = {
    "id", "name", "targetAmount", "currentAmount", "remainingAmount", "progressPercent", "contributions",
    "upcomingContributions",
}  # fmt: skip
CONTRIBUTION = {"id", "at", "amount"}
START = "2027-01-01T00:00:00Z"
LATER = "2027-06-01T00:00:00Z"


async def test_empty_clock_has_all_fields(world: World, token: str) -> None:
    world.now = datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC)
    result = await world.result("createTestClock", {}, token)
    assert result.keys() == {"clock"}
    clock = result["clock"]
    assert re.fullmatch(r"clock_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", clock.pop("id"))
    assert clock == {
        "status": "READY",
        "frozenTime": "2027-01-02T03:04:05Z",
        "maxTime": "2037-01-02T03:04:05Z",
        "expiresAt": "2027-01-09T03:04:05Z",
        "transactions": [],
        "pendingTransactions": [],
        "goals": [],
    }


async def test_resources_have_exactly_the_documented_fields(world: World, token: str) -> None:
    items = [{"at": START}, {"at": LATER}]
    clock = await world.create(
        token,
        frozenTime=START,
        transactions=[transaction(**item) for item in items],
        goals=[goal(contributions=[contribution(**item) for item in items])],
    )
    assert clock.keys() == CLOCK
    (visible,), (pending,), (shown,) = clock["transactions"], clock["pendingTransactions"], clock["goals"]
    assert visible.keys() == pending.keys() == TRANSACTION
    assert shown.keys() == GOAL
    (posted,), (upcoming,) = shown["contributions"], shown["upcomingContributions"]
    assert posted.keys() == upcoming.keys() == CONTRIBUTION
    assert visible | {"id": ""} == transaction(at=START, id="", source="SIMULATED_TEST_CLOCK")
    assert upcoming | {"id": ""} == contribution(at=LATER, id="")


@each_case("category", [OMITTED, "", "Food"])
@each_case("at", [START, LATER])
async def test_category_is_returned_if_sent(world: World, token: str, category: Any, at: str) -> None:
    clock = await world.create(token, frozenTime=START, transactions=[transaction(at=at, category=category)])
    (item,) = clock["transactions"] + clock["pendingTransactions"]
    assert item.get("category", OMITTED) == category


@each_case("type", ["INCOME", "EXPENSE"])
async def test_every_transaction_has_the_simulated_source(world: World, token: str, type: str) -> None:
    clock = await world.create(token, transactions=[transaction(type=type)])
    (item,) = clock["pendingTransactions"]
    assert (item["type"], item["source"]) == (type, "SIMULATED_TEST_CLOCK")


async def test_clock_expires_seven_days_after_its_creation_millisecond(world: World, token: str) -> None:
    world.now = datetime(2027, 1, 2, 3, 4, 5, 678_999, UTC)
    clock = await world.create(token, frozenTime="2030-01-01T00:00:00Z")
    assert clock["expiresAt"] == "2027-01-09T03:04:05.678000Z"


# Ids


async def value_ids_have_prefixes_and_are_unique(world: World, token: str) -> None:
    params = {
        "frozenTime": START,
        "transactions": [transaction(at=START), transaction(at=LATER)] * 20,
        "goals": [goal(contributions=[contribution(at=START), contribution(at=LATER)] * 20)] * 5,
    }
    clocks = [await world.create(token, **params) for _ in range(2)]
    ids: list[tuple[str, str]] = []
    for clock in clocks:
        ids.append(("clock_", clock["id"]))
        ids.extend(("txn_", item["id"]) for item in clock["transactions"] + clock["pendingTransactions"])
        for shown in clock["goals"]:
            ids.append(("goal_", shown["id"]))
            ids.extend(("ctb_", item["id"]) for item in shown["contributions"] + shown["upcomingContributions"])
    assert len({id for _, id in ids}) == len(ids) == 2 * (1 + 40 + 5 * (1 + 40))
    assert all(id.startswith(prefix) and len(id) > len(prefix) for prefix, id in ids)


async def value_ids_stay_the_same_after_an_advance(world: World, token: str) -> None:
    params = {"transactions": [transaction()], "goals": [goal(contributions=[contribution()])]}
    before = await world.create(token, frozenTime=START, **params)
    after = await world.advance(token, before["id"], LATER)
    assert after["id"] == before["id"]
    assert after["transactions"] == before["pendingTransactions"]
    assert after["goals"][0]["id"] == before["goals"][0]["id"]
    assert after["goals"][0]["contributions"] == before["goals"][0]["upcomingContributions"]


# Order


async def test_items_are_sorted_by_time_stably(world: World, token: str) -> None:
    times = [LATER, START, "2027-01-01T00:00:00.000001Z", LATER, "2027-01-01T01:00:00+01:00", START]
    clock = await world.create(
        token,
        frozenTime=START,
        transactions=[transaction(at=at, name=str(number)) for number, at in enumerate(times)],
        goals=[goal(contributions=[contribution(at=at, amount=1 + number) for number, at in enumerate(times)])],
    )
    assert [item["name"] for item in clock["transactions"]] == ["1", "4", "5"]
    assert [item["name"] for item in clock["pendingTransactions"]] == ["2", "0", "3"]
    (shown,) = clock["goals"]
    assert [item["amount"] for item in shown["contributions"]] == [2, 5, 6]
    assert [item["amount"] for item in shown["upcomingContributions"]] == [3, 1, 4]


async def test_goals_keep_their_order(world: World, token: str) -> None:
    names = ["c", "a", "b", "a"]
    clock = await world.create(token, goals=[goal(name=name) for name in names])
    assert [shown["name"] for shown in clock["goals"]] == names


# Amounts


@each_case(
    ("given", "shown"),
    [
        ("5", "5"), ("5.0", "5"), ("5e0", "5"), ("0.5e1", "5"), ("1e2", "100"), ("1E9", "1000000000"),
        ("1000000000.0", "1000000000"), ("0.10", "0.1"), ("1e-1", "0.1"), ("999999999.99", "999999999.99"),
        ("0.1000000000000000055511151231257827", "0.1"), ("123456789.12345679", "123456789.12345679"),
    ],
)  # fmt: skip
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


# Progress


@each_case(
    ("target", "initial", "posted", "progress"),
    [
        pytest.param(1000, 0, [], (0, 1000, 0), id="nothing yet"),
        pytest.param(1000, 250, [], (250, 750, 25), id="an initial amount"),
        pytest.param(1000, 100, [200, 300], (600, 400, 60), id="initial and posted"),
        pytest.param(0.3, 0, [0.1, 0.2], (0.3, 0, 100), id="0.1 and 0.2 are 0.3"),
        pytest.param(10, 0, [0.1] * 100, (10, 0, 100), id="a hundred times 0.1 is 10"),
        pytest.param(1, 0.7, [0.1], (0.8, 0.2, 80), id="no dust in what remains"),
        pytest.param(3, 0, [1], (1, 2, 33.33), id="a third is cut to two decimals"),
        pytest.param(3, 0, [2], (2, 1, 66.67), id="two thirds are rounded up"),
        pytest.param(20_000, 0, [1], (1, 19_999, 0.01), id="half a hundredth goes up"),
        pytest.param(20_000, 0, [0.99], (0.99, 19_999.01, 0), id="less than half a hundredth is nothing"),
        pytest.param(800, 0, [1], (1, 799, 0.13), id="0.125 goes up to 0.13"),
        pytest.param(20_000, 19_999, [], (19_999, 1, 99.99), id="99.995 is not yet 100"),
        pytest.param(10**9, 999_999_999, [], (999_999_999, 1, 99.99), id="almost there is not there"),
        pytest.param(1000, 0, [1000], (1000, 0, 100), id="the target"),
        pytest.param(20_000, 0, [20_001], (20_001, -1, 100.01), id="just over, half up"),
        pytest.param(100_000, 0, [100_001], (100_001, -1, 100), id="over by less than a hundredth is 100"),
        pytest.param(100, 100, [50.5], (150.5, -50.5, 150.5), id="over-funded"),
        pytest.param(0.01, 0, [10**9], (10**9, -999_999_999.99, 10**13), id="over-funded a billionfold"),
        pytest.param(0.0001, 0, [10**9], (10**9, -999_999_999.9999, 10**15), id="at the most that percent says"),
        pytest.param(5e-324, 0, [10**9], (10**9, -(10**9), 10**15), id="beyond the most that percent says"),
        pytest.param(10**9, 0, [5e-324], (5e-324, 10**9, 0), id="a speck"),
        pytest.param(1, 0, [10**9] * 100, (10**11, 1 - 10**11, 10**13), id="sums go beyond the bound of one amount"),
    ],
)
async def test_progress_is_exact(
    world: World, token: str, target: float, initial: float, posted: list[float], progress: tuple[float, float, float]
) -> None:
    contributions = [contribution(at=START, amount=amount) for amount in posted]
    entry = goal(targetAmount=target, initialAmount=initial, contributions=contributions)
    (shown,) = (await world.create(token, frozenTime=START, goals=[entry]))["goals"]
    assert (shown["currentAmount"], shown["remainingAmount"], shown["progressPercent"]) == progress
    assert shown["targetAmount"] == target


async def test_upcoming_contributions_do_not_count(world: World, token: str) -> None:
    entry = goal(initialAmount=10, contributions=[contribution(at=LATER, amount=500)])
    (shown,) = (await world.create(token, frozenTime=START, goals=[entry]))["goals"]
    assert (shown["currentAmount"], shown["remainingAmount"], shown["progressPercent"]) == (10, 990, 1)


async def test_text_with_escapes_is_returned_unchanged(world: World, token: str) -> None:
    name = '"\\/\b\f\n\r\t\x1f\x7f</script>é😀\u2028,{}[]'
    response = await world.post(
        call("createTestClock", {"transactions": [transaction(name=name, category=name)], "goals": [goal(name=name)]}),
        token,
    )
    clock = response.json["result"]["clock"]
    (item,), (shown,) = clock["pendingTransactions"], clock["goals"]
    assert item["name"] == item["category"] == shown["name"] == name
