"""listTestClockEvents, getTestClockBalances and checkTestClock: their ranges, faults and results."""

from typing import Any

import pytest

from tests.rpc.builders import MICROSECOND, START, contribution, goal, shift, transaction
from tests.support.world import World

EVENTS, CHECK = "listTestClockEvents", "checkTestClock"
MAX_TIME = "2037-01-01T00:00:00Z"
JANUARY, FEBRUARY, MARCH = "2027-01-10T00:00:00Z", "2027-02-10T00:00:00Z", "2027-03-10T00:00:00Z"
BEFORE_START, AFTER_MAX = shift(START, -MICROSECOND), shift(MAX_TIME, MICROSECOND)
SCHEDULE: dict[str, Any] = {
    "frozenTime": START,
    "transactions": [
        transaction(at=START, name="Salary", amount=100),
        transaction(at=JANUARY, name="Rent", amount=130.3, type="EXPENSE", category="home"),
        transaction(at=JANUARY, name="Refund", amount=0.1),
        transaction(at=FEBRUARY, name="Salary", amount=100.2),
        transaction(at=MARCH, name="Hotel", amount=5, currency="CHF", type="EXPENSE"),
    ],
    "goals": [
        goal(name="Bike", targetAmount=20, contributions=[contribution(at=JANUARY, amount=20)]),
        goal(name="Car", targetAmount=10, initialAmount=10, contributions=[contribution(at=JANUARY, amount=1)]),
        goal(name="Car", targetAmount=50, contributions=[contribution(at=FEBRUARY, amount=1)]),
    ],
}


@pytest.fixture
async def clock(world: World, token: str) -> str:
    id: str = (await world.create(token, **SCHEDULE))["id"]
    return id


async def violation(world: World, token: str, id: str, expectation: Any, **params: Any) -> Any:
    """Return the violation of an expectation, or None."""
    result = await world.result(CHECK, {"id": id, "expectations": [expectation], **params}, token)
    [only] = result["results"]
    assert only["ok"] is result["ok"] is ("violation" not in only)
    return only.get("violation")


# Ranges


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"after": BEFORE_START}, {"after": "range"}),
        ({"after": FEBRUARY, "until": JANUARY}, {"after": "range"}),
        ({"after": AFTER_MAX, "until": AFTER_MAX}, {"after": "range", "until": "range"}),
        ({"limit": 0, "cursor": "cursor_1"}, {"limit": "min", "cursor": "format"}),
        ({"limit": 501}, {"limit": "max"}),
        ({"cursor": "cursor_ffffffffffffffff_0000_00000000_0"}, {"cursor": "format"}),
    ],
)
async def test_invalid_range_of_events_is_rejected(
    world: World, token: str, clock: str, params: Any, expected: Any
) -> None:
    assert await world.faults(EVENTS, {"id": clock, **params}, token) == expected


# Expectations


@pytest.mark.parametrize(
    ("expectation", "params", "expected"),
    [
        ({"goalReached": {"goal": "Bike", "by": JANUARY}}, {}, None),
        ({"goalReached": {"goal": "Bike", "by": shift(JANUARY, -MICROSECOND)}}, {}, ("by", 0, [])),
        ({"goalReached": {"goal": "goal_{}_1", "by": START}}, {}, None),
        ({"goalReached": {"goal": "goal_{}_2", "by": MAX_TIME}}, {}, (MAX_TIME, 1, ["ctb_{}_2_0"])),
        ({"posted": {"name": "Salary", "by": FEBRUARY, "count": 2}}, {}, None),
        ({"posted": {"name": "Salary", "by": JANUARY, "count": 2}}, {}, (JANUARY, 1, [0])),
        ({"posted": {"name": "salary", "by": MAX_TIME}}, {}, (MAX_TIME, 0, [])),
        (
            # The whole schedule counts, not only until the end of the check.
            {"total": {"type": "EXPENSE", "currency": "EUR", "category": "home", "per": "DAY", "atMost": 0}},
            {"until": START},
            None,
        ),
    ],
)
async def test_expectations(
    world: World, token: str, clock: str, expectation: Any, params: Any, expected: tuple[str, Any, list[Any]] | None
) -> None:
    hex = clock.removeprefix("clock_").replace("-", "")
    [[kind, members]] = expectation.items()
    written = {kind: {name: text.format(hex) if name == "goal" else text for name, text in members.items()}}
    found = await violation(world, token, clock, written, **params)
    if expected is None:
        assert found is None
        return
    at, actual, items = expected
    ids = [item.format(hex) if isinstance(item, str) else f"txn_{hex}_{item}" for item in items]
    message = found.pop("message")
    assert message.endswith((".", "?"))
    assert found == {"at": members.get(at, at), "actual": actual, "itemIds": ids}


async def test_violation_has_its_cause_its_end_and_its_worst_value(world: World, token: str, clock: str) -> None:
    found = await violation(world, token, clock, {"balance": {"currency": "EUR", "atLeast": 0}})
    suffix = clock.removeprefix("clock_").replace("-", "")
    rent, refund = f"txn_{suffix}_1", f"txn_{suffix}_2"
    assert found == {
        "at": JANUARY,
        "message": "Below 0.00 EUR from 10 Jan until 10 Feb 2027, because of Rent (-130.30): 100.00 -> -30.30. "
        "Worst: -30.20 on 10 Jan.",
        "actual": -30.2,
        "itemIds": [rent, refund],
        "cause": {"id": rent, "at": JANUARY, "name": "Rent", "amount": -130.3, "before": 100, "after": -30.3},
        "until": FEBRUARY,
        "worst": {"at": JANUARY, "actual": -30.2},
    }
    spent = await violation(world, token, clock, total(per="MONTH", atMost=130))
    assert spent == {
        "at": JANUARY,
        "message": "Expenses above 130.00 EUR in Jan 2027, because of Rent (+130.30) on 10 Jan 2027: 0.00 -> 130.30. "
        "Worst: 130.30 on 10 Jan.",
        "actual": 130.3,
        "itemIds": [rent],
        "cause": {"id": rent, "at": JANUARY, "name": "Rent", "amount": 130.3, "before": 0, "after": 130.3},
        "until": "2027-01-31T23:59:59.999999Z",
        "worst": {"at": JANUARY, "actual": 130.3},
    }


async def test_every_fault_about_the_clock_is_listed(world: World, token: str, clock: str) -> None:
    until = FEBRUARY
    expectations: list[Any] = [
        {"balance": {"currency": "EUR", "atLeast": 0, "from": BEFORE_START, "until": MARCH}},
        {"balance": {"currency": "EUR", "atLeast": 0, "from": FEBRUARY, "until": JANUARY}},
        {"goalReached": {"goal": "Car", "by": MARCH}},
        {"goalReached": {"goal": "Boat", "by": START}},
        {"posted": {"name": "Rent", "by": BEFORE_START}},
        {"balance": {"currency": "EUR", "atLeast": 0, "from": FEBRUARY, "until": FEBRUARY}},
        {"balance": {"currency": "USD", "atLeast": 0, "until": MARCH}},
        {"total": {"type": "INCOME", "currency": "USD", "category": "home", "per": "ALL", "atMost": 0}},
        {"total": {"type": "INCOME", "currency": "EUR", "category": "home", "per": "ALL", "atMost": 0}},
        {"total": {"type": "EXPENSE", "currency": "CHF", "category": "home", "per": "ALL", "atMost": 0}},
    ]
    assert await world.faults(CHECK, {"id": clock, "expectations": expectations, "until": until}, token) == {
        "expectations[0].balance.from": "range",
        "expectations[0].balance.until": "range",
        "expectations[1].balance.from": "range",
        "expectations[2].goalReached.by": "range",
        "expectations[2].goalReached.goal": "goal",
        "expectations[3].goalReached.goal": "goal",
        "expectations[4].posted.by": "range",
        "expectations[6].balance.currency": "currency",
        "expectations[6].balance.until": "range",
        "expectations[7].total.currency": "currency",
        "expectations[8].total.category": "category",
        "expectations[9].total.category": "category",
    }
    assert await world.faults(CHECK, {"id": clock, "expectations": expectations[3:4], "until": AFTER_MAX}, token) == {
        "until": "range",
        "expectations[0].goalReached.goal": "goal",
    }


def total(**members: Any) -> Any:
    return {"total": {"type": "EXPENSE", "currency": "EUR", "per": "ALL", "atMost": 1000, **members}}


@pytest.mark.parametrize(
    ("expectation", "fault"),
    [
        (
            {"balance": {"currency": "EUS", "atLeast": 0}},
            'must be a currency of this clock (CHF, EUR, JPY); did you mean "EUR"?',
        ),
        (total(category="HOMES"), 'must be a category of this clock for EXPENSE in EUR (home); did you mean "home"?'),
        (
            {"goalReached": {"goal": "bikes", "by": START}},
            'must be the ID or the name of a goal of this clock (Bike, Car); did you mean "Bike"?',
        ),
        (total(atLeast=1000.01), "must be at least atLeast"),
    ],
)
async def test_expectations_that_make_no_sense_are_rejected_with_a_hint(
    world: World, token: str, clock: str, expectation: Any, fault: str
) -> None:
    params = {"id": clock, "expectations": [expectation], "openingBalances": {"JPY": 0}}
    [found] = (await world.error(CHECK, params, token))["data"]["errors"]
    assert found["message"] == fault


# getCurrentUser


async def test_token_revoked_during_the_call_is_rejected(
    world: World, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = world.services.store
    find_email = store.find_email

    async def find_after_logout(digest: bytes) -> str | None:
        await store.revoke_token(digest)
        return await find_email(digest)

    monkeypatch.setattr(store, "find_email", find_after_logout)
    assert (await world.error("getCurrentUser", {}, token))["data"]["reason"] == "UNAUTHENTICATED"
