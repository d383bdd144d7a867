"""What a clock shows without asking the server, and what an advance made happen."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from tickover.client.errors import NothingLeft
from tickover.core.results import Contribution, Goal, Snapshot, Transaction
from tickover.plans import When, instant
from tickover.spans import Span


class Happened(Struct, frozen=True):
    """What an advance made happen, in order of time."""

    before: datetime
    after: datetime
    transactions: list[Transaction]
    contributions: list[tuple[Goal, Contribution]]
    """Each with its goal as it is afterwards."""


class Shown:
    """A clock as the last answer showed it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r}, frozen_time={self.frozen_time.isoformat()!r})"

    @property
    def id(self) -> str:
        return self.snapshot.id

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
        """When the next thing happens, or None when nothing is left to happen."""
        coming = [item.at for item in self.pending_transactions]
        coming += [item.at for goal in self.goals for item in goal.upcoming_contributions]
        return min(coming, default=None)

    def _next_or_nothing(self) -> datetime:
        at = self.next_at
        if at is None:
            raise NothingLeft(f"Nothing is pending or upcoming on {self.id}.")
        return at

    def _destination(self, to: When | None, span: Span) -> datetime:
        if (to is None) == span.is_nothing:
            raise ValueError("advance to an instant or by an amount, and not both: advance(to=...) or advance(days=1)")
        if to is not None:
            return instant(to)
        try:
            return span.after(self.frozen_time)
        except OverflowError:
            raise ValueError(f"the calendar ends before {self.frozen_time.isoformat()} and so much more") from None

    def _show(self, snapshot: Snapshot) -> Happened:
        """Show this from now on; what has happened since what was shown."""
        before, self.snapshot = self.snapshot, snapshot
        return happened(before, snapshot)


def happened(before: Snapshot, after: Snapshot) -> Happened:
    """What has happened from one snapshot of a clock to a later one."""
    seen = {item.id for item in before.transactions}
    seen |= {item.id for goal in before.goals for item in goal.contributions}
    contributions = [(goal, item) for goal in after.goals for item in goal.contributions if item.id not in seen]
    return Happened(
        before=before.frozen_time,
        after=after.frozen_time,
        transactions=[item for item in after.transactions if item.id not in seen],
        contributions=sorted(contributions, key=lambda pair: pair[1].at),
    )
