"""Deliveries of `tickover listen`: how often, and after which delays."""

import time
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from tickover.api.clocks import Event
from tickover.cli.clock_webhooks import EventWebhooks
from tickover.cli.commands import follow
from tickover.cli.session import Session
from tickover.client import Answer, Unreachable, Webhook, webhooks

NOW = datetime(2027, 1, 1, tzinfo=UTC)
EVENTS = [Event(id=id, at=NOW, type="goal.reached", goal_id="goal_1") for id in ("evt_1", "evt_2")]


@pytest.mark.parametrize(
    ("options", "responses", "expected"),
    [
        ({}, [200, 200], ["evt_1", "evt_2"]),
        ({}, [500, "no response", 199, 204, 200], ["evt_1", 1, "evt_1", 2, "evt_1", 4, "evt_1", "evt_2"]),
        ({}, [300] * 4 + [200], ["evt_1", 1, "evt_1", 2, "evt_1", 4, "evt_1", "evt_2"]),
        ({"retries": 0}, [500, 200], ["evt_1", "evt_2"]),
        ({"fail_first": True}, [200] * 4, ["evt_1", "evt_1", "evt_2", "evt_2"]),
        (
            {"fail_first": True, "retries": 2},
            [500, 500, 500, 500, 200, 200],
            ["evt_1", "evt_1", 1, "evt_1", 2, "evt_1", "evt_2", "evt_2"],
        ),
        ({"duplicate": True}, [500] + [200] * 4, ["evt_1", 1, "evt_1", "evt_1", "evt_2", "evt_2"]),
        ({"reorder": True}, [500, 200, 200], ["evt_2", 1, "evt_2", "evt_1"]),
    ],
)
def test_deliveries_and_the_delays_between_them(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], responses: list[int | str], expected: list[Any]
) -> None:
    happened: list[Any] = []

    async def post(url: str, webhook: Webhook, *, blocking: bool) -> Answer:
        happened.append(webhook.headers["webhook-id"])
        response = responses.pop(0)
        if isinstance(response, str):
            raise Unreachable(response)
        return Answer(response, b"")

    client: Any = SimpleNamespace(list_events=lambda *_, **__: iter([]))
    monkeypatch.setattr(webhooks, "post_to_url", post)
    monkeypatch.setattr(time, "sleep", happened.append)
    faults = {"duplicate": options.pop("duplicate", False), "reorder": options.pop("reorder", False)}
    clock = EventWebhooks(client, "clock_1", b"key", **faults)
    client.list_events = lambda *_, **__: iter(EVENTS)
    for delivery in clock.due():
        follow._deliver(Session(), "localhost", delivery, **{"retries": 3, "fail_first": False, **options})
    assert happened == expected
    assert responses == []
