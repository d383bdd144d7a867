"""The Python client: `Tickover` for calls that block, `AsyncTickover` for calls that are awaited."""

from tickover.client.asynchronous import AsyncClock, AsyncTickover
from tickover.client.blocking import Clock, Tickover
from tickover.client.clocks import Happened
from tickover.client.errors import BadAnswer, ClientError, NothingLeft, Unreachable
from tickover.core.errors import Fault, Reason, Rejection
from tickover.core.results import ClockPage, Contribution, Goal, SignedIn, Snapshot, Summary, Transaction
from tickover.core.results import KeptLetter as Letter
from tickover.plans import Plan, contribution, expense, goal, income
from tickover.spans import Span

__all__ = [
    "AsyncClock",
    "AsyncTickover",
    "BadAnswer",
    "ClientError",
    "Clock",
    "ClockPage",
    "Contribution",
    "Fault",
    "Goal",
    "Happened",
    "Letter",
    "NothingLeft",
    "Plan",
    "Reason",
    "Rejection",
    "SignedIn",
    "Snapshot",
    "Span",
    "Summary",
    "Tickover",
    "Transaction",
    "Unreachable",
    "contribution",
    "expense",
    "goal",
    "income",
]
