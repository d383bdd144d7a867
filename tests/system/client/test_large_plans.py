"""Plans with more items than createTestClock accepts."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from tests.system.client.rejections import rejected
from tests.system.client.servers import reject, respond_normally, result, scripted_server
from tickover.api.clocks import ContributionEntry, GoalEntry
from tickover.api.plans import PlannedContribution, PlannedTransaction
from tickover.client import Plan, Reason, Rejection, Tickover, contribution, expense, goal
from tickover.client.large_plans import split_plan

START = datetime(2027, 1, 1, tzinfo=UTC)


def coffees(count: int) -> list[PlannedTransaction]:
    return [expense(f"Coffee {number}", 1, "EUR", START + timedelta(hours=number)) for number in range(count)]


def contributions(count: int) -> list[PlannedContribution]:
    return [contribution(number + 1, START + timedelta(hours=number)) for number in range(count)]


LARGE = Plan(
    frozen_time=START,
    name="Large",
    transactions=coffees(250),
    goals=[
        *(goal(f"Goal {number}", 10, contributions=contributions(2)) for number in range(25)),
        # As decoded from JSON, without the goal that a contribution of an amendment has.
        GoalEntry(
            "Last", Decimal(10), contributions=[ContributionEntry(one.at, one.amount) for one in contributions(320)]
        ),
    ],
)


def test_large_plan_is_created_in_order(client: Tickover) -> None:
    clock = client.create_clock(LARGE)
    posted = [*clock.transactions, *clock.pending_transactions]
    assert [item.name for item in posted] == [item.name for item in LARGE.transactions]
    assert [item.name for item in clock.goals] == [item.name for item in LARGE.goals]
    amounts = [[one.amount for one in (*item.contributions, *item.upcoming_contributions)] for item in clock.goals]
    assert amounts == [[1, 2]] * 25 + [list(range(1, 321))]
    assert clock.snapshot.name == "Large"


def test_key_of_another_plan_is_rejected_and_its_clock_is_kept(client: Tickover) -> None:
    first = client.create_clock(transactions=coffees(150), frozen_time=START, idempotency_key="mine")
    other = coffees(149)
    with rejected(Reason.INVALID_PARAMS) as caught:
        client.create_clock(transactions=other, frozen_time=START, idempotency_key="mine")
    assert [fault.path for fault in caught.value.faults] == ["Idempotency-Key"]
    assert [clock.id for clock in client.list_clocks()] == [first.id]


def test_rejected_part_deletes_the_clock_and_names_the_item(client: Tickover) -> None:
    late = expense("Too late", 1, "EUR", "2037-01-02")
    goals = [goal("Trip", 10, contributions=[*contributions(150), contribution(1, "2037-01-02")])]
    for plan, path in [
        (Plan(START, transactions=[*coffees(201), late]), "transactions[201].at"),
        (Plan(START, goals=goals), "goals[0].contributions[150].at"),
    ]:
        with rejected(Reason.INVALID_PARAMS) as caught:
            client.create_clock(plan)
        assert [fault.path for fault in caught.value.faults] == [path]
    assert list(client.list_clocks()) == []


def test_other_rejections_of_a_part_are_raised_unchanged() -> None:
    steps = (respond_normally, reject("CLOCK_EXPIRED"), result({"message": "ok"}))
    with scripted_server(*steps) as server, Tickover(server.url) as client:
        with pytest.raises(Rejection, match="It is CLOCK_EXPIRED"):
            client.create_clock(transactions=coffees(101))
        assert [request.call["method"] for request in server.requests][2:] == ["deleteTestClock"]


@pytest.mark.parametrize(
    ("plan", "path", "message"),
    [
        (Plan(transactions=coffees(2001)), "transactions", "must have at most 2,000 entries, not 2,001"),
        (Plan(goals=[goal("Trip", 1)] * 101), "goals", "must have at most 100 entries, not 101"),
        (
            Plan(goals=[goal("Trip", 1), goal("Roof", 1, contributions=contributions(501))]),
            "goals[1].contributions",
            "must have at most 500 entries, not 501",
        ),
        (
            Plan(transactions=coffees(1), goals=[goal("Trip", 1, contributions=contributions(500))] * 10),
            "transactions and contributions",
            "must have at most 5,000 entries, not 5,001",
        ),
    ],
)
def test_plan_that_no_clock_can_hold_is_rejected(plan: Plan, path: str, message: str) -> None:
    with pytest.raises(Rejection) as caught:
        split_plan(plan)
    [fault] = caught.value.faults
    assert (caught.value.reason, fault.path, fault.message) == (Reason.INVALID_PARAMS, path, message)


def test_plan_at_every_limit_of_one_call_needs_no_amendment() -> None:
    plan = Plan(transactions=coffees(100), goals=[goal("Trip", 1, contributions=contributions(100))] * 25)
    assert split_plan(plan) == (plan, [])
