"""The client amends clocks: it adds and cancels items, spends money, and forks with changes."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.system.client.rejections import rejected
from tickover.client import Clock, Plan, Reason, Tickover, contribution, expense, goal

START = datetime(2027, 1, 1, tzinfo=UTC)
PLAN = Plan(
    frozen_time=START,
    transactions=[expense("Rent", 1150, "EUR", f"2027-0{month}-03") for month in (1, 2)],
    goals=[goal("Trip", 3000, 0, [contribution(310, "2027-02-26")])],
    opening_balances={"EUR": 2000},
)


@pytest.fixture
def clock(client: Tickover) -> Clock:
    return client.create_clock(PLAN)


def test_items_and_ids_are_cancelled(client: Tickover, clock: Clock) -> None:
    clock.cancel(clock.pending_transactions[0], clock.goals[0].upcoming_contributions[0].id)
    assert [item.at.month for item in clock.pending_transactions] == [2]
    assert clock.goals[0].upcoming_contributions == []
    with rejected(Reason.INVALID_PARAMS) as caught:
        clock.cancel("txn_1")
    assert [fault.path for fault in caught.value.faults] == ["cancel[0]"]


def test_fork_with_a_rejected_amendment_is_deleted(client: Tickover, clock: Clock) -> None:
    early = expense("Coffee", 1, "EUR", "2026-12-31")
    with rejected(Reason.INVALID_PARAMS):
        clock.fork(add=[early])
    page = client.list_page()
    assert [each.id for each in page.clocks] == [clock.id]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (contribution(1, START), "needs the goal"),
        (contribution(1, START, goal="Car"), "no goal with the name 'Car'"),
        (contribution(1, START, goal="Trip"), "2 goals with the name 'Trip'"),
    ],
)
def test_contribution_needs_one_goal(client: Tickover, clock: Clock, item: Any, message: str) -> None:
    if "2 goals" in message:
        clock.add(goal("Trip", 1))
    with pytest.raises(ValueError, match=message):
        clock.add(item)
