"""The fixture `webhooks`: delivers the events of clocks to a handler."""

from typing import Any

from tickover.client import Clock, Delivery
from tickover.client.webhooks import Handler, new_secret


class Webhooks:
    """Signs the events of one test with a new secret."""

    def __init__(self) -> None:
        self.secret = new_secret()

    def deliver(self, clock: Clock, to: str | Handler, path: str = "/", **faults: Any) -> list[Delivery]:
        """Deliver the events since the last delivery. See `Clock.deliver`."""
        __tracebackhide__ = True
        return clock.deliver(to, secret=self.secret, path=path, **faults)
