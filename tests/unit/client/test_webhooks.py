"""The faults of deliveries, and secrets."""

import base64
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from tickover.client import Event
from tickover.client.webhooks import SECRET_PREFIX, EventQueue, decode_secret

EVENT = Event(id="evt_1", at=datetime(2027, 1, 1, tzinfo=UTC), type="transaction.posted")


@pytest.mark.parametrize("fault", ["duplicate", "delay"])
def test_each_delivery_has_its_own_faults(fault: str) -> None:
    """A generator that began again with each delivery would repeat the faults of the first one."""
    faults: dict[str, Any] = {fault: 0.5, "seed": 1}
    queue = EventQueue()
    arrived = [len(queue.arrange([EVENT], **faults)) for _ in range(20)]
    assert len(set(arrived)) > 1


def test_events_that_could_not_be_delivered_come_before_delayed_ones() -> None:
    queue, undelivered = EventQueue(), replace(EVENT, id="evt_0")
    assert queue.arrange([EVENT], delay=1) == []
    queue.put_back([undelivered])
    assert queue.arrange([]) == [undelivered, EVENT]
    assert queue.arrange([]) == []


@pytest.mark.parametrize(("size", "is_valid"), [(23, False), (24, True), (64, True), (65, False)])
def test_secret_has_24_to_64_bytes(size: int, is_valid: bool) -> None:
    secret = SECRET_PREFIX + base64.b64encode(bytes(size)).decode()
    if is_valid:
        assert decode_secret(secret) == bytes(size)
    else:
        with pytest.raises(ValueError, match="24 to 64 random bytes"):
            decode_secret(secret)
