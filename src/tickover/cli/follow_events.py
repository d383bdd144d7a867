"""Polls a clock for new events."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tickover.client import Event, Tickover


class EventFollower:
    """Finds the new events of a clock, also those that an amendment added at the clock's current time."""

    def __init__(
        self,
        client: "Tickover",
        id: str,
        *,
        after: datetime | None = None,
        opening: Mapping[str, Decimal] | None = None,
    ) -> None:
        self._client = client
        self.id = id
        self._after = after
        """Before the newest event's instant, because later events may still be added at that instant."""
        self._opening = opening
        self._seen: set[str] = set()

    def new_events(self) -> "Sequence[Event]":
        """Return the events since the last call. The first call returns all events."""
        found = list(self._client.list_events(self.id, after=self._after, opening=self._opening))
        new = [event for event in found if event.id not in self._seen]
        self._seen = {event.id for event in found}
        instants = sorted({event.at for event in found})
        if len(instants) > 1:
            self._after = instants[-2]
        return new
