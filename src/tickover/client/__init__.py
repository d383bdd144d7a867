"""The Python client: `Tickover` for synchronous code, `AsyncTickover` for asyncio."""

from tickover.api.durations import Duration
from tickover.api.errors import Fault, Reason, Rejection
from tickover.api.plans import Plan, contribution, expense, goal, income
from tickover.api.results import ClockPage, Contribution, Goal, SignedIn, Snapshot, Summary, Transaction
from tickover.api.results import StoredEmail as Email
from tickover.client.async_client import AsyncClock, AsyncTickover
from tickover.client.clocks import AdvanceResult
from tickover.client.errors import ClientError, InvalidResponse, NothingLeft, Unreachable
from tickover.client.sync_client import Clock, Tickover

__all__ = [
    "AdvanceResult",
    "AsyncClock",
    "AsyncTickover",
    "ClientError",
    "Clock",
    "ClockPage",
    "Contribution",
    "Duration",
    "Email",
    "Fault",
    "Goal",
    "InvalidResponse",
    "NothingLeft",
    "Plan",
    "Reason",
    "Rejection",
    "SignedIn",
    "Snapshot",
    "Summary",
    "Tickover",
    "Transaction",
    "Unreachable",
    "contribution",
    "expense",
    "goal",
    "income",
]
