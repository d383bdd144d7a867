"""The included scenarios: a server accepts them at any start, and they contain what they promise."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings

from tests.unit.scenarios.strategies import starts
from tickover.api import plans
from tickover.api.clocks import NewClock
from tickover.api.limits import MAX_TRANSACTIONS
from tickover.api.plans import Plan, PlannedGoal
from tickover.scenarios import load, names
from tickover.server.rpc.decode import decode

NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC)

all_scenarios = pytest.mark.parametrize("name", names())


def plan_of(name: str) -> Plan:
    scenario = load(name)
    return scenario.plan() if scenario.start else scenario.plan(NEW_YEAR)


@all_scenarios
@settings(max_examples=15, deadline=None, derandomize=True)
@given(starts)
def test_a_server_accepts_the_scenario_at_any_start(name: str, start: datetime) -> None:
    plan = load(name).plan(start)
    faults, _ = decode(NewClock, plans.encode_json(plan.params), start)
    assert faults == []
    assert len(plan.transactions) <= MAX_TRANSACTIONS


def saved_amount(goal: PlannedGoal, until: datetime) -> Decimal:
    return sum((item.amount for item in goal.contributions if item.at <= until), start=goal.initial_amount)


@pytest.mark.parametrize("start", [NEW_YEAR, NEW_YEAR + timedelta(days=26, hours=9), NEW_YEAR + timedelta(days=30)])
def test_the_trip_goal_is_reached_just_before_the_end(start: datetime) -> None:
    (goal,) = load("trip").plan(start).goals
    end = load("trip").window(start).end
    assert saved_amount(goal, end) == goal.target_amount
    assert saved_amount(goal, end - timedelta(days=45)) < goal.target_amount
