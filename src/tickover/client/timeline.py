"""Formats a clock as a few lines of text: past and scheduled events, and violated expectations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final, NamedTuple

from tickover.api import timestamps
from tickover.api.arguments import Amount
from tickover.api.clocks import Snapshot
from tickover.api.expectations import CheckResult, Expectation
from tickover.api.plans import is_opening_balance
from tickover.client.amendments import AmendmentRecord
from tickover.client.balances import running_balances

_MAX_EVENTS: Final = 6
"""On each side of the frozen time, or of a violation."""
_MAX_NAME: Final = 40


class _Event(NamedTuple):
    at: datetime
    amount: str
    balance: str
    name: str
    is_opening: bool = False


def format_clock(clock: Snapshot, amendments: Iterable[AmendmentRecord] = ()) -> str:
    """Return the clock's ID, its frozen time, its nearest events, and the changes of amendments.

    ● marks past events, ○ scheduled ones, and ± changes.
    """
    events = [event._replace(balance="") for event in _events(clock, {})]
    lines = _events_around(clock.frozen_time, events, clock.frozen_time, []) or ["  (no events)"]
    for amendment in amendments:
        if amendment.clock_id == clock.id:
            lines += [f"  ± {timestamps.write(amendment.at)}  {_printable(text)}" for text in amendment.changes]
    return "\n".join([f"{clock.id} at {timestamps.write(clock.frozen_time)}", *lines])


def format_violations(
    clock: Snapshot, expectations: Sequence[Expectation], result: CheckResult, opening: Mapping[str, Amount]
) -> str:
    """Return the violated expectations, and the events around the earliest violation with the balances after them.

    The first line starts with the earliest violation, because pytest's summary shows only that. ✗ marks it.
    """
    pairs = zip(expectations, result.results, strict=True)
    violated = [(expectation, each.violation) for expectation, each in pairs if each.violation]
    first = min((violation for _, violation in violated), key=lambda violation: violation.at)
    count = f"{len(violated)} of {len(expectations)} expectations failed for {clock.id}."
    lines = [f"{_printable(first.message)} {count}"]
    for expectation, violation in violated:
        lines += [f"Expected: {expectation}", f"  Actual: {_printable(violation.message)}"]
    marker = f"  ✗ {timestamps.write(first.at)}  {_printable(first.message)}"
    return "\n".join([*lines, "", *_events_around(first.at, _events(clock, opening), clock.frozen_time, [marker])])


def _events(clock: Snapshot, opening: Mapping[str, Amount]) -> list[_Event]:
    def all_events() -> Iterator[_Event]:
        transactions = [*clock.transactions, *clock.pending_transactions]
        for item, balance in zip(transactions, running_balances(transactions, opening), strict=True):
            is_opening = is_opening_balance(item)
            sign = "-" if item.type == "EXPENSE" else "" if is_opening else "+"
            amount = f"{sign}{_format_amount(item.amount)} {item.currency}"
            yield _Event(item.at, amount, f"= {_format_amount(balance)} {item.currency}", item.name, is_opening)
        for goal in clock.goals:
            for payment in [*goal.contributions, *goal.upcoming_contributions]:
                # Contributions have no currency: pad to the width of " EUR".
                yield _Event(payment.at, f"+{_format_amount(payment.amount)}    ", "", f"{goal.name} (goal)")

    return sorted(all_events(), key=lambda event: event.at)


def _events_around(at: datetime, events: Sequence[_Event], frozen_time: datetime, marker: list[str]) -> list[str]:
    """Return the lines of the events around an instant, with the marker's lines between them.

    Opening balances are always visible, because all later balances depend on them.
    """
    before = [event for event in events if event.at <= at]
    after = events[len(before) :]
    openings = [event for event in before if event.is_opening][:_MAX_EVENTS]
    recent = [event for event in before if not event.is_opening][-_MAX_EVENTS:]
    visible = [*openings, *recent, *after[:_MAX_EVENTS]]
    amount_width = max((len(event.amount) for event in visible), default=0)
    balance_width = max((len(event.balance) for event in visible), default=0)
    lines = [_format_event(event, frozen_time, amount_width, balance_width) for event in visible]
    lines[len(openings) + len(recent) : len(openings) + len(recent)] = marker
    if hidden := len(before) - len(openings) - len(recent):
        lines.insert(len(openings), f"  … {hidden} earlier")
    if len(after) > _MAX_EVENTS:
        lines.append(f"  … {len(after) - _MAX_EVENTS} later, the last at {timestamps.write(after[-1].at)}")
    return lines


def _format_amount(amount: Decimal) -> str:
    # JSON drops trailing zeros: 88.60 arrives as 88.6.
    return f"{amount:.2f}" if amount.as_tuple().exponent == -1 else f"{amount:f}"


def _format_event(event: _Event, frozen_time: datetime, amount_width: int, balance_width: int) -> str:
    mark = "●" if event.at <= frozen_time else "○"
    balance = f"{event.balance:>{balance_width}}  " if balance_width else ""
    name = event.name if len(event.name) <= _MAX_NAME else f"{event.name[: _MAX_NAME - 1]}…"
    return f"  {mark} {timestamps.write(event.at)}  {event.amount:>{amount_width}}  {balance}{_printable(name)}"


def _printable(text: str) -> str:
    """Return text that contains no terminal escape sequences."""
    return text if text.isprintable() else repr(text)
