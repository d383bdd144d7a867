"""Plaid's webhook SYNC_UPDATES_AVAILABLE for the connections of a clock."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tickover.api.plans import encode_json
from tickover.client.webhooks import Webhook

if TYPE_CHECKING:
    from tickover.client import Connection, Event, Tickover

_BOOKED: Final = {"transaction.posted", "transfer.posted"}


class PlaidUpdates:
    """Finds out whether the bank of a clock shows something else than before."""

    def __init__(self, client: "Tickover", id: str) -> None:
        self._client = client
        self._id = id
        self._pending = self._pending_payments()

    def connections_to_notify(self, events: "Sequence[Event]") -> "list[Connection]":
        """Return the Plaid items if something has changed. `events` are new since the last call."""
        before, self._pending = self._pending, self._pending_payments()
        if before == self._pending and not any(event.type in _BOOKED for event in events):
            return []
        return [found for found in self.connections() if found.claimed]

    def connections(self) -> "list[Connection]":
        """Return the connections that use Plaid. A connection is an item once an app has exchanged its token."""
        return [found for found in self._client.list_connections(self._id) if found.protocol == "PLAID"]

    def _pending_payments(self) -> set[str]:
        clock = self._client.get_clock(self._id).snapshot
        return {
            item.id
            for item in clock.pending_transactions
            if item.authorized_at is not None and item.authorized_at <= clock.frozen_time
        }


def updates_available(item_id: str) -> Webhook:
    """Return the request for an item."""
    payload = {
        "webhook_type": "TRANSACTIONS",
        "webhook_code": "SYNC_UPDATES_AVAILABLE",
        "item_id": item_id,
        "initial_update_complete": True,
        "historical_update_complete": True,
        "environment": "sandbox",
    }
    return Webhook({"Content-Type": "application/json"}, encode_json(payload))
