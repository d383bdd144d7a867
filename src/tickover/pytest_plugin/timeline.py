"""A clock as a few lines of plain text: what has happened, and what is scheduled."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final, NamedTuple

from tickover.core import moments
from tickover.core.results import Contribution, Snapshot, Transaction

_MOST_LINES: Final = 6
"""On either side of the clock's frozen time."""
_LONGEST_NAME: Final = 40


class _Event(NamedTuple):
    at: datetime
    amount: str
    name: str


def draw(clock: Snapshot) -> str:
    """The clock's id and frozen time, and below them its nearest events: ● has happened, ○ is scheduled."""
    happened = _events(clock.transactions, [(goal.name, goal.contributions) for goal in clock.goals])
    scheduled = _events(clock.pending_transactions, [(goal.name, goal.upcoming_contributions) for goal in clock.goals])
    shown = [*happened[-_MOST_LINES:], *scheduled[:_MOST_LINES]]
    width = max((len(event.amount) for event in shown), default=0)
    lines = [f"{clock.id} at {moments.write(clock.frozen_time)}"]
    if len(happened) > _MOST_LINES:
        lines.append(f"  … {len(happened) - _MOST_LINES} earlier")
    lines += [_line("●", event, width) for event in happened[-_MOST_LINES:]]
    lines += [_line("○", event, width) for event in scheduled[:_MOST_LINES]]
    if len(scheduled) > _MOST_LINES:
        lines.append(f"  … {len(scheduled) - _MOST_LINES} later, the last at {moments.write(scheduled[-1].at)}")
    return "\n".join(lines if happened or scheduled else [*lines, "  (nothing has happened, and nothing is scheduled)"])


def _events(
    transactions: Sequence[Transaction], contributions: Sequence[tuple[str, Sequence[Contribution]]]
) -> list[_Event]:
    def all_of_them() -> Iterator[_Event]:
        for item in transactions:
            sign = "+" if item.type == "INCOME" else "-"
            yield _Event(item.at, f"{sign}{_plain(item.amount)} {item.currency}", item.name)
        for goal, payments in contributions:
            for payment in payments:
                # It has no currency.
                yield _Event(payment.at, f"+{_plain(payment.amount)}    ", f"{goal} (goal)")

    return sorted(all_of_them(), key=lambda event: event.at)


def _plain(amount: Decimal) -> str:
    # As JSON numbers, 88.60 comes as 88.6.
    return f"{amount:.2f}" if amount.as_tuple().exponent == -1 else f"{amount:f}"


def _line(mark: str, event: _Event, width: int) -> str:
    name = event.name if len(event.name) <= _LONGEST_NAME else f"{event.name[: _LONGEST_NAME - 1]}…"
    # A name may hold anything, and a terminal obeys some of it.
    shown = name if name.isprintable() else repr(name)
    return f"  {mark} {moments.write(event.at)}  {event.amount:>{width}}  {shown}"
