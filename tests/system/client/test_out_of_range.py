"""Amounts and instants that no Tickover server sends are rejected before they are formatted."""

import json

import pytest
from msgspec.json import Decoder

from tests.support.cases import each_case
from tests.system.client.servers import CLOCK
from tickover.api.clocks import OneClock
from tickover.client import InvalidResponse, Tickover
from tickover.client.messages import Response
from tickover.client.responses import decode_result
from tickover.scenarios import load

_DECODER = Decoder(OneClock)
_GOAL = {
    "id": "goal_1", "name": "Trip", "targetAmount": 1, "currentAmount": 1, "remainingAmount": 0,
    "progressPercent": 100, "contributions": [], "upcomingContributions": [],
}  # fmt: skip


def decode(**members: object) -> OneClock:
    response = {"jsonrpc": "2.0", "id": 1, "result": {"clock": {**CLOCK, **members}}}
    # json.dumps has no way to write these numbers.
    content = json.dumps(response).replace('"number ', "").replace(' number"', "")
    return decode_result(Response("http://x.test/rpc", 200, content.encode()), 1, _DECODER)


def number(digits: str) -> str:
    return f"number {digits} number"


@each_case("digits", ["1e400", "1e-400", "5e-324", "1.7976931348623157e308", "0"])
def test_amounts_within_doubles_are_decoded(digits: str) -> None:
    assert decode(goals=[{**_GOAL, "progressPercent": number(digits)}]).clock.goals[0].progress_percent is not None


@each_case("digits", ["1e401", "1e-401", "1e999999999", "-1e999999999"])
def test_amounts_beyond_doubles_are_rejected(digits: str) -> None:
    with pytest.raises(InvalidResponse, match="can't decode"):
        decode(goals=[{**_GOAL, "progressPercent": number(digits)}])


@each_case("at", ["0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"])
def test_instants_outside_the_utc_calendar_are_rejected(at: str) -> None:
    with pytest.raises(InvalidResponse, match="can't decode"):
        decode(maxTime=at)


@each_case("value", ["student", load("student"), {"transactions": []}])
def test_create_clock_rejects_values_that_are_not_a_plan(value: object) -> None:
    with Tickover("http://127.0.0.1:9") as tickover, pytest.raises(ValueError, match=r"scenarios\.load"):
        tickover.create_clock(value)  # type: ignore[arg-type]
