"""Formats a clock as a few lines of text: past and scheduled events."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final, NamedTuple

from tickover.api import timestamps
from tickover.api.results import Contribution, Snapshot, Transaction

_MAX_EVENTS: Final = 6
"""On each side of the frozen time."""
_MAX_NAME: Final = 40


class _Event(NamedTuple):
    at: datetime
    amount: str
    name: str


def format_clock(clock: Snapshot) -> str:
    """Return the clock's id, its frozen time and its nearest events. ● marks past events, ○ scheduled ones."""
    past = _events(clock.transactions, [(goal.name, goal.contributions) for goal in clock.goals])
    scheduled = _events(clock.pending_transactions, [(goal.name, goal.upcoming_contributions) for goal in clock.goals])
    visible = [*past[-_MAX_EVENTS:], *scheduled[:_MAX_EVENTS]]
    width = max((len(event.amount) for event in visible), default=0)
    lines = [f"{clock.id} at {timestamps.write(clock.frozen_time)}"]
    if len(past) > _MAX_EVENTS:
        lines.append(f"  … {len(past) - _MAX_EVENTS} earlier")
    lines += [_format_event("●", event, width) for event in past[-_MAX_EVENTS:]]
    lines += [_format_event("○", event, width) for event in scheduled[:_MAX_EVENTS]]
    if len(scheduled) > _MAX_EVENTS:
        lines.append(f"  … {len(scheduled) - _MAX_EVENTS} later, the last at {timestamps.write(scheduled[-1].at)}")
    return "\n".join(lines if past or scheduled else [*lines, "  (no events)"])


def _events(
    transactions: Sequence[Transaction], contributions: Sequence[tuple[str, Sequence[Contribution]]]
) -> list[_Event]:
    def all_events() -> Iterator[_Event]:
        for item in transactions:
            sign = "+" if item.type == "INCOME" else "-"
            yield _Event(item.at, f"{sign}{_format_amount(item.amount)} {item.currency}", item.name)
        for goal, payments in contributions:
            for payment in payments:
                # Contributions have no currency: pad to the width of " EUR".
                yield _Event(payment.at, f"+{_format_amount(payment.amount)}    ", f"{goal} (goal)")

    return sorted(all_events(), key=lambda event: event.at)


def _format_amount(amount: Decimal) -> str:
    # JSON drops trailing zeros: 88.60 arrives as 88.6.
    return f"{amount:.2f}" if amount.as_tuple().exponent == -1 else f"{amount:f}"


def _format_event(mark: str, event: _Event, width: int) -> str:
    name = event.name if len(event.name) <= _MAX_NAME else f"{event.name[: _MAX_NAME - 1]}…"
    # Names may contain terminal escape sequences.
    printable = name if name.isprintable() else repr(name)
    return f"  {mark} {timestamps.write(event.at)}  {event.amount:>{width}}  {printable}"
