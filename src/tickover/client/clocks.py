"""The local state of a clock, the result of an advance, and balances as the server computes them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal

from msgspec import Struct, field

from tickover.api.arguments import Amount, add_exactly
from tickover.api.clocks import Contribution, Goal, Snapshot, Transaction
from tickover.api.expectations import Expectation
from tickover.api.plans import to_exact_balances
from tickover.client.app_time import frozen_at
from tickover.client.webhooks import EventQueue


class AdvanceResult(Struct, frozen=True):
    """The transactions and contributions that an advance posted, in order of time."""

    before: datetime
    after: datetime
    transactions: list[Transaction]
    contributions: list[tuple[Goal, Contribution]]
    """Each contribution with its goal as it is after the advance."""
    balances: dict[str, Decimal]
    """The balance of each currency after the advance."""


class ClockState(Struct):
    """A clock as the last response returned it, and what the server doesn't store."""

    snapshot: Snapshot
    opening: Mapping[str, Amount] = {}
    expectations: Sequence[Expectation] = ()
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
        with frozen_at(self.frozen_time) as move_to:
            self._state.on_move.append(move_to)
            try:
                yield
            finally:
                self._state.on_move.remove(move_to)

    @property
    def snapshot(self) -> Snapshot:
        return self._state.snapshot

    @property
    def opening(self) -> Mapping[str, Amount]:
        """Balances before the clock's start."""
        return self._state.opening

    @opening.setter
    def opening(self, opening: Mapping[str, Amount]) -> None:
        self._state.opening = opening

    @property
    def expectations(self) -> Sequence[Expectation]:
        """The expectations of the clock's plan."""
        return self._state.expectations

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
    def next_at(self) -> datetime | None:
        """The instant of the next transaction or contribution, or None if nothing is scheduled."""
        instants = [item.at for item in self.pending_transactions]
        instants += [item.at for goal in self.goals for item in goal.upcoming_contributions]
        return min(instants, default=None)

    def export(self, format: str = "csv", *, pending: bool = False, opening: Mapping[str, Amount] | None = None) -> str:
        """Return the transactions as csv, json, hledger, beancount, ofx or camt053: a statement for each currency.

        With `pending`, include scheduled transactions.
        """
        from tickover.scenarios import statements  # noqa: PLC0415 - few programs need it

        return statements.export(self.snapshot, format, opening=self._opening_or(opening), pending=pending)

    def _opening_or(self, opening: Mapping[str, Amount] | None) -> Mapping[str, Amount]:
        return self.opening if opening is None else opening


def diff_snapshots(before: Snapshot, after: Snapshot, opening: Mapping[str, Amount] = {}) -> AdvanceResult:
    """Return the transactions and contributions posted between two snapshots of a clock."""
    posted = {item.id for item in before.transactions}
    posted |= {item.id for goal in before.goals for item in goal.contributions}
    contributions = [(goal, item) for goal in after.goals for item in goal.contributions if item.id not in posted]
    return AdvanceResult(
        before=before.frozen_time,
        after=after.frozen_time,
        transactions=[item for item in after.transactions if item.id not in posted],
        contributions=sorted(contributions, key=lambda pair: pair[1].at),
        balances=balances_after(after.transactions, opening),
    )


def running_balances(transactions: Iterable[Transaction], opening: Mapping[str, Amount]) -> Iterator[Decimal]:
    """Yield the balance of each transaction's currency after it. The transactions are in order of time."""
    sums = to_exact_balances(opening)
    for item in transactions:
        amount = item.amount if item.type == "INCOME" else -item.amount
        sums[item.currency] = add_exactly(sums.get(item.currency, Decimal(0)), amount)
        yield _nearest_double(sums[item.currency])


def balances_after(transactions: Iterable[Transaction], opening: Mapping[str, Amount]) -> dict[str, Decimal]:
    """Return the balance of each currency after these transactions, in order of currency."""
    items = list(transactions)
    balances = to_exact_balances(opening)
    for item, balance in zip(items, running_balances(items, opening), strict=True):
        balances[item.currency] = balance
    return dict(sorted(balances.items()))


def _nearest_double(exact: Decimal) -> Decimal:
    """Return the number that JSON can represent, without `.0`."""
    number = float(exact)
    return Decimal(int(number) if number.is_integer() else repr(number))
