"""Polls a clock for new events."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from tickover.client.webhooks import EventQueue

if TYPE_CHECKING:
    from tickover.client import Event, Tickover


class EventFollower:
    """Finds the new events of a clock."""

    def __init__(
        self,
        client: "Tickover",
        id: str,
        *,
        after: datetime | None = None,
        opening_balances: Mapping[str, Decimal] | None = None,
    ) -> None:
        self._client = client
        self.id = id
        self.queue = EventQueue(after)
        self._opening_balances = opening_balances

    def new_events(self) -> "Sequence[Event]":
        """Return the events since the last call. The first call returns all events."""
        found = self._client.list_events(self.id, after=self.queue.after, opening_balances=self._opening_balances)
        return self.queue.find_new(list(found))
