"""Forked schedules: the same items with other ids. `test_properties.py` compares their views with a model."""

from datetime import UTC, datetime, timedelta

import pytest

from tickover.api import ids, timestamps
from tickover.api.clocks import ContributionEntry, GoalEntry, NewClock, TransactionEntry
from tickover.server.schedule.clocks import Clock
from tickover.server.schedule.schedule import encode_schedule, fork_schedule, view

START = datetime(2027, 3, 1, tzinfo=UTC)
MAX_TIME = timestamps.years_after(START)
ORIGINAL, MIDDLE, FORK = (
    Clock(ids.uuid7(START + timedelta(days=day), bytes(10)), START, START, MAX_TIME) for day in range(3)
)
OLD, NEW = ORIGINAL.key.hex(), FORK.key.hex()


def new_clock(text: str) -> NewClock:
    return NewClock(
        START,
        [TransactionEntry(START, text, 1, "EUR", "INCOME", text[:80]) for _ in range(2)],
        [GoalEntry(text, 1, 0, [ContributionEntry(START, 1)]) for _ in range(2)],
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"txn_{OLD}_0 {OLD}", id="an id of a transaction, and the key of the original"),
        pytest.param(f'{OLD}","id":"goal_{OLD}_0', id="with the JSON around it"),
        pytest.param(ids.write("clock", ORIGINAL.key), id="the id of the original"),
        pytest.param(NEW, id="the key of the fork"),
    ],
)
def test_text_that_contains_keys_is_unchanged(text: str) -> None:
    schedule = encode_schedule(ORIGINAL, new_clock(text))
    forked = view(START, fork_schedule(schedule, ORIGINAL.key, FORK))
    assert forked == view(START, encode_schedule(FORK, new_clock(text)))
