"""Deliveries of `tickover listen`: how often, and after which delays."""

import time
from typing import Any

import pytest

from tickover.cli.commands import follow
from tickover.cli.session import Session
from tickover.client import Answer, Unreachable, Webhook, webhooks

EVENT = Webhook({"webhook-id": "evt_1"}, b'{"timestamp": "2027-01-01T00:00:00Z", "type": "goal.reached"}')


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
        assert (webhook, blocking) == (EVENT, True)
        response = responses.pop(0)
        if isinstance(response, str):
            raise Unreachable(response)
        return Answer(response, b"")

    waited: list[float] = []
    monkeypatch.setattr(webhooks, "post_to_url", post)
    monkeypatch.setattr(time, "sleep", waited.append)
    follow._send(Session(), "localhost", EVENT, **{"retries": 3, "fail_first": False, **options})
    assert (waited, responses) == (delays, [])
