"""The fixture `bank`: clocks that an app reads as if they were a bank."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from tickover.api.connections import BankProtocol
from tickover.client import Clock, Plan
from tickover.client.calls import FaultLike
from tickover.pytest_plugin.clocks import ClockFactory
from tickover.scenarios import Scenario


class Bank(Struct, frozen=True):
    """A connected clock, and the settings for the app."""

    clock: Clock
    url: str
    """Where to point the app's library."""
    public_token: str = ""
    """For Plaid: what the app exchanges, once."""
    setup_token: str = ""
    """For SimpleFIN: what the app claims, once."""


class BankFactory:
    """Connects clocks: those that it gets, or new ones from what the fixture `clock` takes."""

    def __init__(self, url: str, create_clock: ClockFactory) -> None:
        self._url = url
        self._create_clock = create_clock

    def __call__(
        self,
        clock: Clock | Plan | Scenario | str | Path | None = None,
        protocol: BankProtocol = "PLAID",
        *,
        institution: str | None = None,
        faults: Sequence[FaultLike] | None = None,
    ) -> Bank:
        opened = clock if isinstance(clock, Clock) else self._create_clock(clock)
        connected = opened.connect(protocol, institution=institution, faults=faults)
        tokens = connected.public_token or "", connected.setup_token or ""
        return Bank(opened, f"{self._url}/{protocol.lower()}", *tokens)
