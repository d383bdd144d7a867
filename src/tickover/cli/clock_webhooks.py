"""The webhooks of a clock: its events, or Plaid's SYNC_UPDATES_AVAILABLE for its connections."""

from collections.abc import Callable
from functools import partial
from typing import Final

from tickover.api import timestamps
from tickover.api.plans import encode_json
from tickover.client import Connection, Event, Tickover
from tickover.client.webhooks import EventQueue, Webhook, sign_event

_BOOKED: Final = {"transaction.posted", "transfer.posted"}

Delivery = tuple[str, Callable[[], Webhook]]
"""A title, and a function that returns the request. Each attempt has its own signature."""


class EventWebhooks:
    """Signed webhooks for the new events of a clock."""

    def __init__(self, client: Tickover, id: str, key: bytes, *, duplicate: bool, reorder: bool) -> None:
        self.id = id
        self._client, self._key, self._duplicate, self._reorder = client, key, duplicate, reorder
        self._queue = EventQueue()
        # Earlier events aren't delivered.
        self.new_events()

    def due(self) -> list[Delivery]:
        """Return the deliveries for the events since the last call."""
        events = self._queue.arrange(self.new_events(), duplicate=self._duplicate, reorder=self._reorder)
        return [
            (f"{timestamps.write(each.at)}  {each.type}  {each.id}", partial(sign_event, self.id, each, self._key))
            for each in events
        ]

    def new_events(self) -> list[Event]:
        return self._queue.find_new(list(self._client.list_events(self.id, after=self._queue.after)))


class PlaidWebhooks(EventWebhooks):
    """A webhook for each Plaid item of a clock when the bank shows something else than before."""

    def __init__(self, client: Tickover, id: str) -> None:
        super().__init__(client, id, b"", duplicate=False, reorder=False)
        self._pending = self._pending_payments()

    def due(self) -> list[Delivery]:
        events = self.new_events()
        before, self._pending = self._pending, self._pending_payments()
        if before == self._pending and not any(event.type in _BOOKED for event in events):
            return []
        # A connection is an item once an app has exchanged its token.
        items = [connection.id for connection in self.connections() if connection.claimed]
        return [(f"SYNC_UPDATES_AVAILABLE  {id}", partial(_updates_available, id)) for id in items]

    def connections(self) -> list[Connection]:
        return [found for found in self._client.list_connections(self.id) if found.protocol == "PLAID"]

    def _pending_payments(self) -> set[str]:
        clock = self._client.get_clock(self.id)
        return {
            item.id
            for item in clock.pending_transactions
            if item.authorized_at is not None and item.authorized_at <= clock.frozen_time
        }


def _updates_available(item_id: str) -> Webhook:
    payload = {
        "webhook_type": "TRANSACTIONS",
        "webhook_code": "SYNC_UPDATES_AVAILABLE",
        "item_id": item_id,
        "initial_update_complete": True,
        "historical_update_complete": True,
        "environment": "sandbox",
    }
    return Webhook({"Content-Type": "application/json"}, encode_json(payload))
