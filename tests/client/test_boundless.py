"""Numbers and instants that no server of ours answers are refused before anybody writes them out."""

import json

import pytest
from msgspec.json import Decoder

from tests.client.servers import CLOCK
from tickover.client import BadAnswer, Tickover
from tickover.client.answers import result_of
from tickover.client.exchanges import Reply
from tickover.core.results import OneClock
from tickover.scenarios import load

_READ = Decoder(OneClock)
_GOAL = {
    "id": "goal_1", "name": "Trip", "targetAmount": 1, "currentAmount": 1, "remainingAmount": 0,
    "progressPercent": 100, "contributions": [], "upcomingContributions": [],
}  # fmt: skip


def read(**members: object) -> OneClock:
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"clock": {**CLOCK, **members}}}
    # What Python would not write as a number.
    written = json.dumps(answer).replace('"number ', "").replace(' number"', "")
    return result_of(Reply("http://x.test/rpc", 200, written.encode()), 1, _READ)


def number(digits: str) -> str:
    return f"number {digits} number"


@pytest.mark.parametrize("digits", ["1e400", "1e-400", "5e-324", "1.7976931348623157e308", "0"])
def test_what_a_double_holds_is_read(digits: str) -> None:
    assert read(goals=[{**_GOAL, "progressPercent": number(digits)}]).clock.goals[0].progress_percent is not None


@pytest.mark.parametrize("digits", ["1e401", "1e-401", "1e999999999", "-1e999999999"])
def test_what_is_far_beyond_that_is_not(digits: str) -> None:
    with pytest.raises(BadAnswer, match="cannot read"):
        read(goals=[{**_GOAL, "progressPercent": number(digits)}])


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"])
def test_an_instant_that_utc_has_no_name_for_is_not_read(at: str) -> None:
    with pytest.raises(BadAnswer, match="cannot read"):
        read(maxTime=at)


@pytest.mark.parametrize("given", ["student", load("student"), {"transactions": []}])
def test_what_is_no_plan_is_refused_before_anything_is_sent(given: object) -> None:
    with Tickover("http://127.0.0.1:9") as tickover, pytest.raises(ValueError, match=r"scenarios\.load"):
        tickover.create_clock(given)  # type: ignore[arg-type]
