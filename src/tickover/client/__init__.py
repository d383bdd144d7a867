"""The Python client: `Tickover` for synchronous code, `AsyncTickover` for asyncio."""

from tickover.api.arguments import midnight
from tickover.api.clocks import (
    Account,
    AccountBalance,
    Balance,
    BalancePoint,
    Balances,
    ClockPage,
    Contribution,
    Event,
    Goal,
    Snapshot,
    Summary,
    Transaction,
    Transfer,
)
from tickover.api.connections import BankFault, Connected, Connection
from tickover.api.durations import Duration
from tickover.api.errors import Fault, Reason, Rejection
from tickover.api.expectations import (
    CheckResult,
    Expectation,
    ExpectationResult,
    Violation,
    goal_reached,
    never_above,
    never_below,
    posted,
    total,
)
from tickover.api.plans import Plan, account, contribution, expense, goal, income, transfer
from tickover.api.reconciliation import Reconciliation
from tickover.api.tokens import AccessToken, CreatedAccessToken, CurrentUser, SignedIn, TokenInfo
from tickover.api.tokens import StoredEmail as Email
from tickover.client.async_client import AsyncTickover
from tickover.client.async_clock import AsyncClock
from tickover.client.clocks import AdvanceResult
from tickover.client.errors import (
    BooksDiffer,
    ClientError,
    ExpectationFailed,
    InvalidResponse,
    NoCode,
    NothingLeft,
    Unreachable,
)
from tickover.client.sync_client import Clock, Tickover
from tickover.client.webhooks import Answer, Delivery, Webhook

__all__ = [
    "AccessToken",
    "Account",
    "AccountBalance",
    "AdvanceResult",
    "Answer",
    "AsyncClock",
    "AsyncTickover",
    "Balance",
    "BalancePoint",
    "Balances",
    "BankFault",
    "BooksDiffer",
    "CheckResult",
    "ClientError",
    "Clock",
    "ClockPage",
    "Connected",
    "Connection",
    "Contribution",
    "CreatedAccessToken",
    "CurrentUser",
    "Delivery",
    "Duration",
    "Email",
    "Event",
    "Expectation",
    "ExpectationFailed",
    "ExpectationResult",
    "Fault",
    "Goal",
    "InvalidResponse",
    "NoCode",
    "NothingLeft",
    "Plan",
    "Reason",
    "Reconciliation",
    "Rejection",
    "SignedIn",
    "Snapshot",
    "Summary",
    "Tickover",
    "TokenInfo",
    "Transaction",
    "Transfer",
    "Unreachable",
    "Violation",
    "Webhook",
    "account",
    "contribution",
    "expense",
    "goal",
    "goal_reached",
    "income",
    "midnight",
    "never_above",
    "never_below",
    "posted",
    "total",
    "transfer",
]
