"""Judges histories."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from lab.soak.linearizability.checker import Model, Step, Verdict, check
from lab.soak.linearizability.clock_model import ClockModel, clock_steps
from lab.soak.linearizability.history import Call, Delivery, History
from lab.soak.linearizability.login_model import LoginModel, login_steps


def judge(history: History) -> Verdict:
    """Return the verdict on all parts of the history. Calls on different accounts and addresses are independent."""
    verdicts = {_verdict(part) for part in split(history)}
    return next(
        (verdict for verdict in (Verdict.VIOLATION, Verdict.UNDECIDED) if verdict in verdicts), Verdict.LINEARIZABLE
    )


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
