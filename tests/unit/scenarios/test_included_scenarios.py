"""The included scenarios: a server accepts them at any start, and they contain what they promise."""

from datetime import datetime

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from tests.unit.scenarios.strategies import starts
from tickover.api import plans
from tickover.api.clocks import NewClock
from tickover.api.limits import MAX_TRANSACTIONS
from tickover.scenarios import load, names
from tickover.server.rpc.decode import decode


@pytest.mark.parametrize("name", names())
@settings(max_examples=5, deadline=None, derandomize=True)
@given(starts)
def test_a_server_accepts_the_scenario_at_any_start(name: str, start: datetime) -> None:
    plan = load(name).plan(start)
    faults, _ = decode(NewClock, plans.encode_json(replace(plan, expectations=())), start)
    assert faults == []
    assert len(plan.transactions) <= MAX_TRANSACTIONS
