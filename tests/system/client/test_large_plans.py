"""Plans with more items than createTestClock accepts."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from tests.system.client.clients import Client, OpenClient, catch, collect, resolve
from tests.system.client.servers import reject, respond_normally, result, scripted_server
from tickover.api.clocks import ContributionEntry, GoalEntry
from tickover.api.plans import PlannedContribution, PlannedTransaction
from tickover.client import Plan, Reason, Rejection, contribution, expense, goal
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


async def test_large_plan_is_created_in_order(client: Client) -> None:
    clock = await resolve(client.create_clock(LARGE))
    posted = [*clock.transactions, *clock.pending_transactions]
    assert [item.name for item in posted] == [item.name for item in LARGE.transactions]
    assert [item.name for item in clock.goals] == [item.name for item in LARGE.goals]
    amounts = [[one.amount for one in (*item.contributions, *item.upcoming_contributions)] for item in clock.goals]
    assert amounts == [[1, 2]] * 25 + [list(range(1, 321))]
    assert clock.snapshot.name == "Large"
    assert not client.amendments


async def test_same_key_creates_one_clock(client: Client) -> None:
    first = await resolve(client.create_clock(LARGE, idempotency_key="k" * 255))
    await resolve(first.advance(days=30))
    again = await resolve(client.create_clock(LARGE, idempotency_key="k" * 255))
    assert again.snapshot == first.snapshot
    assert len(await collect(client.list_clocks())) == 1


async def test_key_of_another_plan_is_rejected_and_its_clock_is_kept(client: Client) -> None:
    first = await resolve(client.create_clock(transactions=coffees(150), frozen_time=START, idempotency_key="mine"))
    other = coffees(149)
    rejection = await catch(
        Rejection, lambda: client.create_clock(transactions=other, frozen_time=START, idempotency_key="mine")
    )
    assert [fault.path for fault in rejection.faults] == ["Idempotency-Key"]
    assert [clock.id for clock in await collect(client.list_clocks())] == [first.id]


async def test_rejected_part_deletes_the_clock_and_names_the_item(client: Client) -> None:
    late = expense("Too late", 1, "EUR", "2037-01-02")
    goals = [goal("Trip", 10, contributions=[*contributions(150), contribution(1, "2037-01-02")])]
    rejections = [
        await catch(Rejection, lambda: client.create_clock(frozen_time=START, transactions=[*coffees(201), late])),
        await catch(Rejection, lambda: client.create_clock(frozen_time=START, goals=goals)),
    ]
    paths = [fault.path for rejection in rejections for fault in rejection.faults]
    assert paths == ["transactions[201].at", "goals[0].contributions[150].at"]
    assert await collect(client.list_clocks()) == []


async def test_other_rejections_of_a_part_are_raised_unchanged(open_client: OpenClient) -> None:
    with scripted_server(respond_normally, reject("CLOCK_EXPIRED"), result({"message": "ok"})) as server:
        async with open_client(server.url) as client:
            rejection = await catch(Rejection, lambda: client.create_clock(transactions=coffees(101)))
        assert [request.call["method"] for request in server.requests][2:] == ["deleteTestClock"]
    assert (rejection.reason, rejection.message) == (Reason.CLOCK_EXPIRED, "It is CLOCK_EXPIRED.")


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
