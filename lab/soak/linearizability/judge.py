"""Judges histories, and reduces those that violate linearizability."""

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Any

from msgspec.structs import replace

from lab.soak.linearizability.checker import Model, Step, Verdict, check
from lab.soak.linearizability.clock_model import ClockModel, clock_steps
from lab.soak.linearizability.history import UNKNOWN, Call, Delivery, History
from lab.soak.linearizability.login_model import LoginModel, login_steps


def judge(history: History) -> Verdict:
    """Return the verdict on all parts of the history. Calls on different accounts and addresses are independent."""
    verdicts = {_verdict(part) for part in split(history)}
    return next(
        (verdict for verdict in (Verdict.VIOLATION, Verdict.UNDECIDED) if verdict in verdicts), Verdict.LINEARIZABLE
    )


def reduce(history: History) -> History:
    """Return a smaller history that violates linearizability too.

    Only changes that keep every linearizable history linearizable are tried: the end is cut off, calls that changed
    nothing are left out, and outcomes are forgotten.
    """
    part = next(part for part in split(history) if _verdict(part) is Verdict.VIOLATION)
    part = next(cut for cut in _prefixes(part) if _verdict(cut) is Verdict.VIOLATION)
    for call in part.calls:
        for rest in _weaker(part, call):
            if _verdict(rest) is Verdict.VIOLATION:
                part = rest
                break
    return part


def split(history: History) -> list[History]:
    """Split a history by email address."""
    if history.subject == "clocks":
        return [history]
    return [
        replace(
            history,
            calls=[call for call in history.calls if call.arguments["address"] == address],
            emails={address: deliveries},
        )
        for address, deliveries in history.emails.items()
    ]


def _verdict(part: History) -> Verdict:
    model: Model[Any] = (
        ClockModel(part.calls) if part.subject == "clocks" else LoginModel(_deliveries(part), part.is_slow)
    )
    return check(model, _steps(part, part.calls))


def _steps(part: History, calls: Sequence[Call]) -> Iterable[Step]:
    return clock_steps(calls) if part.subject == "clocks" else login_steps(calls, _deliveries(part))


def _deliveries(part: History) -> Sequence[Delivery]:
    [deliveries] = part.emails.values()
    return deliveries


def _prefixes(part: History) -> Iterator[History]:
    """Cut off the end of a history at every response, earliest first."""
    for end in sorted(call.end for call in part.calls if call.end < inf):
        calls = [call if call.end <= end else _forget(call) for call in part.calls if call.begin < end]
        yield replace(part, calls=calls)


def _weaker(part: History, call: Call) -> Iterator[History]:
    others: Sequence[Call] = [other for other in part.calls if other is not call]
    if all(step.is_read for step in _steps(part, [call])):
        yield replace(part, calls=others)
    elif call.outcome is not UNKNOWN:
        yield replace(part, calls=[*others, _forget(call)])


def _forget(call: Call) -> Call:
    return replace(call, end=inf, outcome=UNKNOWN)
