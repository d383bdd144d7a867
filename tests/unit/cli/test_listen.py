"""Deliveries of `tickover listen`: how often, and after which delays."""

import time
from typing import Any

import pytest
import time_machine

from tickover.cli.cli_run import CliRun
from tickover.cli.commands import follow
from tickover.client import Answer, Unreachable, Webhook, webhooks
from tickover.client.webhooks import sign

BODY = b'{"timestamp": "2027-01-01T00:00:00Z", "type": "goal.reached"}'
KEY = bytes(24)


@pytest.mark.parametrize(
    ("options", "responses", "delays"),
    [
        ({}, [200], []),
        ({}, [500, "no response", 199, 204], [1, 2, 4]),
        ({}, [300] * 4, [1, 2, 4]),
        ({"retries": 0}, [500], []),
        ({"fail_first": True}, [200] * 2, []),
        ({"fail_first": True, "retries": 2}, [500] * 4, [1, 2]),
    ],
)
def test_deliveries_and_the_delays_between_them(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], responses: list[int | str], delays: list[int]
) -> None:
    async def post(url: str, webhook: Webhook, *, blocking: bool) -> Answer:
        assert (webhook, blocking) == (sign("evt_1", BODY, KEY), True)
        response = responses.pop(0)
        if isinstance(response, str):
            raise Unreachable(response)
        return Answer(response, b"")

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        traveller.shift(seconds)

    waited: list[float] = []
    monkeypatch.setattr(webhooks, "post_to_url", post)
    monkeypatch.setattr(time, "sleep", sleep)
    with time_machine.travel(0, tick=False) as traveller:
        event = sign("evt_1", BODY, KEY)
        follow._send(CliRun(), "localhost", event, KEY, **{"retries": 3, "fail_first": False, **options})
    assert (waited, responses) == (delays, [])
