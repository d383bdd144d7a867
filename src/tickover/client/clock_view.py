"""The local state of a clock."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from importlib.util import find_spec

from msgspec import Struct, field

from tickover.api.clocks import Account, Goal, Snapshot, Transaction, Transfer
from tickover.api.expectations import Expectation
from tickover.client.webhooks import EventQueue


class ClockState(Struct):
    """A clock as the last response returned it, and what this process does with it."""

    snapshot: Snapshot
    events: EventQueue = field(default_factory=EventQueue)
    on_move: list[Callable[[datetime], object]] = []
    """Called with the clock's time after each response."""


class ClockView:
    """The properties of both kinds of clocks."""

    def __init__(self, state: ClockState) -> None:
        self._state = state

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r}, frozen_time={self.frozen_time.isoformat()!r})"

    @contextmanager
    def freeze(self) -> Iterator[None]:
        """Make `now()` of this process the clock's time, which moves when this object advances the clock.

        It needs time-machine or freezegun.
        """
        with _frozen_at(self.frozen_time) as move_to:
            self._state.on_move.append(move_to)
            try:
                yield
            finally:
                self._state.on_move.remove(move_to)

    @property
    def snapshot(self) -> Snapshot:
        return self._state.snapshot

    @property
    def id(self) -> str:
        return self.snapshot.id

    @property
    def name(self) -> str | None:
        return self.snapshot.name

    @property
    def labels(self) -> Mapping[str, str]:
        return self.snapshot.labels or {}

    @property
    def status(self) -> str:
        return self.snapshot.status

    @property
    def frozen_time(self) -> datetime:
        return self.snapshot.frozen_time

    @property
    def max_time(self) -> datetime:
        return self.snapshot.max_time

    @property
    def expires_at(self) -> datetime:
        return self.snapshot.expires_at

    @property
    def transactions(self) -> Sequence[Transaction]:
        return self.snapshot.transactions

    @property
    def pending_transactions(self) -> Sequence[Transaction]:
        return self.snapshot.pending_transactions

    @property
    def goals(self) -> Sequence[Goal]:
        return self.snapshot.goals

    @property
    def accounts(self) -> Sequence[Account]:
        return self.snapshot.accounts

    @property
    def transfers(self) -> Sequence[Transfer]:
        return self.snapshot.transfers

    @property
    def pending_transfers(self) -> Sequence[Transfer]:
        return self.snapshot.pending_transfers

    @property
    def opening_balances(self) -> Mapping[str, Decimal]:
        return self.snapshot.opening_balances or {}

    @property
    def expectations(self) -> Sequence[Expectation]:
        return self.snapshot.expectations

    @property
    def next_at(self) -> datetime | None:
        """The instant of the next item, or None if nothing is scheduled."""
        instants = [item.at for item in self.pending_transactions]
        instants += [item.at for item in self.pending_transfers]
        instants += [item.at for goal in self.goals for item in goal.upcoming_contributions]
        return min(instants, default=None)


@contextmanager
def _frozen_at(instant: datetime) -> Iterator[Callable[[datetime], object]]:
    """Freeze `now()` of this process at an instant. Yield a function that moves it."""
    if find_spec("time_machine"):
        import time_machine  # noqa: PLC0415 - optional

        with time_machine.travel(instant, tick=False) as traveller:
            yield traveller.move_to
    elif find_spec("freezegun"):
        import freezegun  # noqa: PLC0415 - optional

        # Timeouts of connections and the event loop need the real time.
        with freezegun.freeze_time(instant, real_asyncio=True, ignore=["tickover", "httpx2", "httpcore2"]) as factory:
            yield factory.move_to
    else:
        raise ModuleNotFoundError("freeze() needs time-machine or freezegun. Install one: pip install time-machine")
