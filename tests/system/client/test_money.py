"""Balances, events and expectations, against a real server."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from tests.system.client.rejections import rejected
from tests.system.client.servers import result, scripted_server
from tickover.client import (
    Clock,
    ExpectationFailed,
    Plan,
    Reason,
    Tickover,
    account,
    contribution,
    expense,
    goal,
    income,
    never_below,
)

JANUARY = datetime(2027, 1, 1, tzinfo=UTC)
PLAN = Plan(
    frozen_time=date(2027, 1, 1),  # type: ignore[arg-type]
    transactions=[
        income("Salary", 2800.1, "EUR", "2027-01-25"),
        expense("Rent", Decimal("1150.2"), "EUR", date(2027, 1, 3), category="Home"),
        expense("Train", 30, "CHF", "2027-01-04"),
    ],
    goals=[goal("Trip", 300, 0, [contribution(200, "2027-01-26"), contribution(200, "2027-02-26")])],
    opening_balances={"EUR": 1000},
    expectations=[never_below("EUR", -200)],
)


@pytest.fixture
def clock(client: Tickover) -> Clock:
    return client.create_clock(PLAN)


def test_all_pages_of_events_are_requested() -> None:
    event = {"id": "evt_goal_1", "at": "2027-01-01T00:00:00Z", "type": "goal.reached", "goalId": "goal_1"}
    first = result({"events": [event], "nextCursor": "next"})
    with scripted_server(first, result({"events": [event]})) as server, Tickover(server.url, "tko_1") as client:
        assert len(list(client.list_events("clock_1", after="2027-01-01", opening_balances={"EUR": 5}))) == 2
    one, two = (request.call["params"] for request in server.requests)
    assert two == {**one, "cursor": "next"}
    assert one["openingBalances"] == {"EUR": 5}


def test_check_without_arguments_checks_the_plan(client: Tickover, clock: Clock) -> None:
    assert clock.check()
    assert clock.fork().check()
    with pytest.raises(ExpectationFailed):
        clock.check(opening_balances={})
    assert clock.check(opening_balances={}, until="2027-01-02")
    same = client.get_clock(clock.id)
    same.update(opening_balances={"EUR": 151})
    with pytest.raises(ExpectationFailed, match="Expected: The EUR balance is never below -200"):
        same.check()
    assert clock.fork(expectations=[never_below("EUR", -1000)]).check()
    same.update(opening_balances=None, expectations=None)
    assert (same.opening_balances, same.expectations) == ({}, ())
    with rejected(Reason.INVALID_PARAMS):
        same.check()


def test_unknown_account_is_explained(client: Tickover) -> None:
    clock = client.create_clock(accounts=[account("checking", "Checking", "EUR"), account("cash", "Cash", "EUR")])
    with pytest.raises(ValueError, match="no account 'check'; it has checking, cash"):
        clock.balance(account="check")
