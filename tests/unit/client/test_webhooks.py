"""The faults of deliveries."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tickover.client import Event
from tickover.client.webhooks import EventQueue

EVENT = Event(id="evt_1", at=datetime(2027, 1, 1, tzinfo=UTC), type="transaction.posted")


@pytest.mark.parametrize("fault", ["duplicate", "delay"])
def test_each_delivery_has_its_own_faults(fault: str) -> None:
    """A generator that began again with each delivery would repeat the faults of the first one."""
    faults: dict[str, Any] = {fault: 0.5, "seed": 1}
    queue = EventQueue()
    arrived = [len(queue.arrange([EVENT], **faults)) for _ in range(20)]
    assert len(set(arrived)) > 1
