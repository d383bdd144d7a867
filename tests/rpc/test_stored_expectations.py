"""A clock keeps its opening balances and expectations: created, forked, amended, updated and checked."""

import asyncio
from typing import Any

import pytest

from tests.rpc.builders import START, contribution, goal, transaction
from tests.support.world import World

AT = "2027-02-01T09:00:00Z"
LATER = "2027-03-01T09:00:00Z"
CREATE, UPDATE, FORK, AMEND, CHECK = (
    "createTestClock",
    "updateTestClock",
    "forkTestClock",
    "amendTestClock",
    "checkTestClock",
)
EXPECTATIONS: list[dict[str, Any]] = [
    {"balance": {"currency": "EUR", "atLeast": 100.0, "from": "2027-01-01T01:00:00+01:00"}},
    {"goalReached": {"goal": "Bicycle", "by": LATER}},
    {"total": {"type": "INCOME", "currency": "EUR", "per": "ALL", "category": "pay", "atMost": 2800.5}},
    {"posted": {"name": "Salary", "by": AT, "count": 1}},
]
STORED: list[dict[str, Any]] = [{"balance": {"currency": "EUR", "atLeast": 100, "from": START}}, *EXPECTATIONS[1:]]
CHF_TOTAL = {"total": {"type": "INCOME", "currency": "CHF", "per": "ALL", "atMost": 0}}
SCHEDULE: dict[str, Any] = {
    "frozenTime": START,
    "transactions": [transaction(category="pay")],
    "goals": [goal(contributions=[contribution(amount=1000)])],
}
STORY = SCHEDULE | {"openingBalances": {"EUR": 150.0, "CHF": -3.5}, "expectations": EXPECTATIONS}


def story_of(clock: Any) -> Any:
    return {name: clock[name] for name in ("openingBalances", "expectations") if name in clock}


async def clock_of(world: World, token: str, method: str, id: str, **params: Any) -> Any:
    return (await world.result(method, {"id": id, **params}, token))["clock"]


@pytest.mark.parametrize("given", [{}, {"openingBalances": {}}, {"expectations": EXPECTATIONS[3:]}])
async def test_clock_returns_what_was_given(world: World, token: str, given: Any) -> None:
    clock = await world.create(token, **SCHEDULE, **given)
    assert story_of(clock) == given
    assert story_of(await world.advance(token, clock["id"], AT)) == given


async def test_times_are_in_utc_and_whole_numbers_have_no_fraction(world: World, token: str) -> None:
    clock = await world.create(token, **STORY)
    assert story_of(clock) == {"openingBalances": {"EUR": 150, "CHF": -3.5}, "expectations": STORED}
    response = await world.call("getTestClock", {"id": clock["id"]}, token)
    assert b'"openingBalances":{"EUR":150,"CHF":-3.5},"expectations":[{"balance":{"currency":"EUR","atLeast":100,' in (
        response.body
    )


async def test_views_use_stored_opening_balances_unless_a_call_has_its_own(world: World, token: str) -> None:
    id = (await world.create(token, **STORY))["id"]
    for given, expected in ({}, {"CHF": -3.5, "EUR": 150}), ({"openingBalances": {"EUR": 7}}, {"EUR": 7}):
        found = await world.result("getTestClockBalances", {"id": id, **given}, token)
        assert {each["currency"]: each["balance"] for each in found["balances"]} == expected
        [salary, *_] = (await world.result("listTestClockEvents", {"id": id, "until": AT, **given}, token))["events"]
        assert salary["balance"] == 2800 + expected["EUR"]
        assert (await world.result(CHECK, {"id": id, **given}, token))["ok"] is (expected["EUR"] >= 100)


async def test_check_without_expectations_checks_the_stored_ones(world: World, token: str) -> None:
    id = (await world.create(token, **STORY))["id"]
    found = await world.result(CHECK, {"id": id}, token)
    assert (found["ok"], len(found["results"]), found["expectations"]) == (True, 4, STORED)
    own = await world.result(CHECK, {"id": id, "expectations": EXPECTATIONS[:1]}, token)
    assert (len(own["results"]), "expectations" in own) == (1, False)
    assert (await world.result(CHECK, {"id": id, "until": LATER}, token))["ok"]
    assert await world.faults(CHECK, {"id": id, "until": AT}, token) == {"until": "range"}


async def test_messages_are_the_same_for_stored_and_given_expectations(world: World, token: str) -> None:
    total = {"type": "INCOME", "currency": "EUR", "per": "ALL", "atMost": 1e2}
    expectations = [{"balance": {"currency": "EUR", "atMost": -1e2}}, {"total": total}]
    id = (await world.create(token, **SCHEDULE, expectations=expectations))["id"]
    for given in ({}, {"expectations": expectations}):
        results = (await world.result(CHECK, {"id": id, **given}, token))["results"]
        assert [each["violation"]["message"] for each in results] == [
            "Above -100.00 EUR from 1 Jan 2027 on: 0.00. Worst: 2800.00 on 1 Feb.",
            (
                "Income above 100.00 EUR in total, because of Salary (+2800.00) on 1 Feb 2027: 0.00 -> 2800.00. "
                "Worst: 2800.00 on 1 Feb."
            ),
        ]


async def test_check_without_any_expectations_is_rejected(world: World, token: str) -> None:
    id = (await world.create(token, **SCHEDULE))["id"]
    assert await world.faults(CHECK, {"id": id}, token) == {"expectations": "required"}


@pytest.mark.parametrize(
    ("expectation", "fault"),
    [
        ({}, ("", "oneOf")),
        ({"balance": {"currency": "USD", "atLeast": 0}}, (".balance.currency", "currency")),
        ({"balance": {"account": "main", "atLeast": 0}}, (".balance.account", "account")),
        ({"goalReached": {"goal": "Bicycel", "by": AT}}, (".goalReached.goal", "goal")),
        ({"posted": {"name": "x", "by": "2037-01-01T00:00:01Z"}}, (".posted.by", "range")),
    ],
)
async def test_invalid_expectations_are_never_stored(
    world: World, token: str, expectation: Any, fault: tuple[str, str]
) -> None:
    id = (await world.create(token, **STORY))["id"]
    given = {"expectations": [EXPECTATIONS[3], expectation]}
    expected = {f"expectations[1]{fault[0]}": fault[1]}
    assert await world.faults(CREATE, SCHEDULE | given, token) == expected
    assert await world.faults(FORK, {"id": id, **given}, token) == expected
    assert await world.faults(UPDATE, {"id": id, "name": "New", **given}, token) == expected
    [listed] = (await world.result("listTestClocks", {}, token))["clocks"]
    assert "name" not in listed
    assert story_of(await clock_of(world, token, "getTestClock", id))["expectations"] == STORED


async def test_other_calls_run_between_expectations_about_many_items(
    world: World, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tickover.server.gate._STEP_SECONDS", 0)
    clock = await world.create(token, frozenTime=START, transactions=[transaction(type="EXPENSE")])
    total = {"total": {"type": "EXPENSE", "currency": "EUR", "per": "ALL", "atMost": 0}}
    iterations = []
    for count in (1, 1, 9):
        check = asyncio.create_task(world.result(CHECK, {"id": clock["id"], "expectations": [total] * count}, token))
        iterations.append(0)
        while not check.done():
            iterations[-1] += 1
            await asyncio.sleep(0)
        assert not (await check)["ok"]
    _, one, nine = iterations
    assert nine >= one + 8


async def test_update_replaces_what_is_given_and_null_removes(world: World, token: str) -> None:
    id = (await world.create(token, **STORY, name="Old", labels={"ci": "1"}))["id"]
    one = EXPECTATIONS[3:]
    steps: list[tuple[dict[str, Any], Any]] = [
        ({"expectations": one, "name": "New"}, {"openingBalances": {"EUR": 150, "CHF": -3.5}, "expectations": one}),
        ({"openingBalances": {}}, {"openingBalances": {}, "expectations": one}),
        ({"openingBalances": None, "labels": None}, {"expectations": one}),
        ({"name": None}, {"expectations": one}),
        ({"expectations": None}, {}),
        (
            {"openingBalances": {"EUR": 1}, "expectations": EXPECTATIONS[:1]},
            {"openingBalances": {"EUR": 1}, "expectations": STORED[:1]},
        ),
    ]
    for changes, expected in steps:
        clock = await clock_of(world, token, UPDATE, id, **changes)
        assert story_of(clock) == expected
        assert await clock_of(world, token, "getTestClock", id) == clock
    assert not {"name", "labels"} & clock.keys()


@pytest.mark.parametrize("given", [None, {}, {"EUR": 1}])
@pytest.mark.parametrize("expectation", [{"balance": {"currency": "CHF", "atLeast": -4}}, CHF_TOTAL])
async def test_currency_of_a_stored_expectation_cannot_be_removed(
    world: World, token: str, given: Any, expectation: Any
) -> None:
    id = (await world.create(token, **STORY | {"expectations": [expectation]}))["id"]
    changes = {"id": id, "openingBalances": given}
    assert await world.faults(UPDATE, changes, token) == {"openingBalances": "currency"}
    assert "clock" in await world.result(UPDATE, changes | {"expectations": None}, token)


async def test_amendment_keeps_the_story_and_the_rest(world: World, token: str) -> None:
    clock = await world.create(token, **STORY)
    cancelled = [clock["pendingTransactions"][0]["id"]]
    amended = await clock_of(world, token, AMEND, clock["id"], cancel=cancelled, add={"goals": [goal()]})
    assert story_of(amended) == story_of(clock)
    # The salary and its category are gone, and a second goal has the same name.
    found = await world.result(CHECK, {"id": clock["id"]}, token)
    assert [result["ok"] for result in found["results"]] == [True, True, True, False]


async def test_fork_copies_the_story_and_names_its_own_goals(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    goal_id = clock["goals"][0]["id"]
    by_id = [{"goalReached": {"goal": goal_id, "by": LATER}}, {"posted": {"name": goal_id, "by": LATER}}]
    original = await clock_of(world, token, UPDATE, clock["id"], expectations=by_id, openingBalances={"EUR": 1})
    fork = await clock_of(world, token, FORK, clock["id"])
    renamed = [{"goalReached": {"goal": fork["goals"][0]["id"], "by": LATER}}, by_id[1]]
    assert story_of(fork) == {"openingBalances": {"EUR": 1}, "expectations": renamed}
    found = await world.result(CHECK, {"id": fork["id"]}, token)
    assert [result["ok"] for result in found["results"]] == [True, False]
    own = await clock_of(world, token, FORK, clock["id"], expectations=by_id[:1], openingBalances={})
    assert story_of(own)["openingBalances"] == {}
    assert story_of(own)["expectations"][0]["goalReached"]["goal"] == own["goals"][0]["id"]
    assert await clock_of(world, token, "getTestClock", clock["id"]) == original
