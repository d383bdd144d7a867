"""The fixtures `clock`, `bank` and `webhooks`: they create clocks, connect them, and deliver their events."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, Unpack

from msgspec import UNSET, Struct
from msgspec.structs import replace

from tickover.api.command_arguments import Amount, InstantLike
from tickover.api.connections import Connection
from tickover.api.plans import PlanParts
from tickover.client import Clock, Delivery, Expectation, Plan, Reason, Rejection, Tickover
from tickover.client.calls import BankOptions, ProtocolLike
from tickover.client.webhooks import Handler, new_secret
from tickover.scenarios import Scenario, load

START: Final = datetime(2027, 1, 1, tzinfo=UTC)
"""The start of clocks without an explicit start, so that tests don't depend on the current date."""
_POLL_SECONDS: Final = 0.01


class ClockFactory:
    """Creates clocks for one user."""

    def __init__(self, client: Tickover) -> None:
        self._client = client
        self._created: list[Clock] = []

    def __call__(
        self,
        source: str | Path | Scenario | Plan | None = None,
        *,
        start: InstantLike | None = None,
        **parts: Unpack[PlanParts],
    ) -> Clock:
        """Create a clock from a scenario (its name, path or object), from a plan, or from the parts of a plan."""
        __tracebackhide__ = True
        if start is not None and (source is None or isinstance(source, Plan)):
            raise ValueError("start requires a scenario; use frozen_time instead, in the plan if there is one")
        if source is None:
            clock = self._client.create_clock(**{"frozen_time": START, **parts})  # type: ignore[arg-type]
        elif parts:
            raise ValueError(f"pass either a plan or its parts ({', '.join(parts)})")
        elif isinstance(source, Plan):
            plan = replace(source, frozen_time=START) if source.frozen_time is UNSET else source
            clock = self._client.create_clock(plan)
        else:
            scenario = source if isinstance(source, Scenario) else load(source)
            begin = start or scenario.start or START
            clock = self._client.create_clock_from_scenario(text=scenario.text, start=begin)
        self._created.append(clock)
        return clock

    def check_clocks(
        self,
        *expectations: Expectation,
        until: InstantLike | None = None,
        opening_balances: Mapping[str, Amount] | None = None,
    ) -> None:
        """Check all clocks that were created and not deleted."""
        __tracebackhide__ = True
        for clock in self._created:
            try:
                clock.check(*expectations, until=until, opening_balances=opening_balances)
            except Rejection as rejection:
                if rejection.reason is not Reason.CLOCK_NOT_FOUND:
                    raise


class Bank(Struct, frozen=True):
    """A connected clock, and the settings for the app."""

    clock: Clock
    url: str
    """Where to point the app's library."""
    public_token: str = ""
    """For Plaid: what the app exchanges, once."""
    setup_token: str = ""
    """For SimpleFIN: what the app claims, once."""
    plaid_secret: str = ""
    """For Plaid: the secret of an app that connects clocks itself."""
    _list_connections: Callable[[], Sequence[Connection]] = tuple

    def settle(self, seconds: float = 10) -> None:
        """Wait until the bank has called the webhooks of the clock's connections for all that is new."""
        __tracebackhide__ = True
        end = time.monotonic() + seconds
        while owed := [each.webhook for each in self._list_connections() if each.webhook and each.webhook.owed]:
            if time.monotonic() > end:
                status = owed[0].last_status or "no response"
                raise AssertionError(f"The webhook {owed[0].url} doesn't take a call of the bank: {status}.")
            time.sleep(_POLL_SECONDS)


class BankFactory:
    """Connects clocks: those that it gets, or new ones from what the fixture `clock` takes."""

    def __init__(self, url: str, create_clock: ClockFactory, client: Tickover) -> None:
        self._url = url
        self._create_clock = create_clock
        self._client = client
        self._plaid_secret = ""

    def __call__(
        self,
        clock: Clock | Plan | Scenario | str | Path | None = None,
        protocol: ProtocolLike = "PLAID",
        *,
        institution: str | None = None,
        **bank: Unpack[BankOptions],
    ) -> Bank:
        opened = clock if isinstance(clock, Clock) else self._create_clock(clock)
        connected = opened.connect(protocol, institution=institution, **bank)
        if connected.setup_token:
            return Bank(opened, connected.simplefin_url, setup_token=connected.setup_token)
        public_token = connected.public_token or ""
        list_connections = partial(self._client.list_connections, opened.id)
        return Bank(opened, f"{self._url}/plaid", public_token, "", self._find_secret(), list_connections)

    def _find_secret(self) -> str:
        """Return an access token, the same for all connections of a test."""
        self._plaid_secret = self._plaid_secret or self._client.create_access_token("bank").token
        return self._plaid_secret


class Webhooks:
    """Signs the events of one test with a new secret."""

    def __init__(self) -> None:
        self.secret = new_secret()

    def deliver(self, clock: Clock, to: str | Handler, path: str = "/", **faults: Any) -> list[Delivery]:
        """Deliver the events since the last delivery. See `Clock.deliver`."""
        __tracebackhide__ = True
        return clock.deliver(to, secret=self.secret, path=path, **faults)
