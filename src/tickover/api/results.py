"""Types of results: the source of the published schema, and the types that the client decodes responses into.

Amounts are decimals, so that the client keeps every digit. In JSON they are numbers.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Timestamp = Annotated[datetime, Meta(tz=True)]
TransactionType = Literal["INCOME", "EXPENSE"]


class Result(Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """Base class of results. Clients ignore unknown members, so that a newer server can add some."""


class Transaction(Result, frozen=True, kw_only=True):
    """A simulated income or expense at an instant."""

    id: str
    at: Timestamp
    name: str
    amount: Decimal
    currency: str
    type: TransactionType
    category: str | None = None
    source: Literal["SIMULATED_TEST_CLOCK"]


class Contribution(Result, frozen=True):
    """A payment towards a goal at an instant."""

    id: str
    at: Timestamp
    amount: Decimal


class Goal(Result, frozen=True):
    """A savings goal with its progress."""

    id: str
    name: str
    target_amount: Decimal
    current_amount: Decimal
    remaining_amount: Decimal
    progress_percent: Decimal
    contributions: Sequence[Contribution]
    upcoming_contributions: Sequence[Contribution]
    initial_amount: Decimal | None = None


class NamedClock(Result, frozen=True, kw_only=True):
    """The members that a clock has only if they were given, or if the call asked for details."""

    start_time: Timestamp | None = None
    name: str | None = None
    labels: Mapping[str, str] | None = None


class Summary(NamedClock, frozen=True):
    """A clock without its transactions and goals."""

    id: str
    status: Literal["READY"]
    frozen_time: Timestamp
    max_time: Timestamp
    expires_at: Timestamp


class Snapshot(Summary, frozen=True):
    """A clock at an instant."""

    transactions: Sequence[Transaction]
    pending_transactions: Sequence[Transaction]
    goals: Sequence[Goal]


class OneClock(Result, frozen=True):
    """The result of an operation on one clock."""

    clock: Snapshot


class ClockPage(Result, frozen=True):
    """The result of listTestClocks: clocks, newest first, and the cursor of the next page if there is one."""

    clocks: Sequence[Summary]
    next_cursor: str | None = None


EventType = Literal["transaction.posted", "contribution.posted", "goal.reached"]


class Event(Result, frozen=True, kw_only=True):
    """Something that happened to a clock, or will happen. Its type decides which of the other members it has."""

    id: str
    at: Timestamp
    type: EventType
    pending: bool = False
    transaction: Transaction | None = None
    balance: Decimal | None = None
    goal_id: str | None = None
    contribution: Contribution | None = None
    current_amount: Decimal | None = None


class EventPage(Result, frozen=True):
    """The result of listTestClockEvents: events in order, and the cursor of the next page if there is one."""

    events: Sequence[Event]
    next_cursor: str | None = None


class BalancePoint(Result, frozen=True):
    """A balance at an instant."""

    at: Timestamp
    balance: Decimal


class Balance(Result, frozen=True):
    """The balance of one currency, and what led to it."""

    currency: str
    opening: Decimal
    income: Decimal
    expense: Decimal
    balance: Decimal
    lowest: BalancePoint
    highest: BalancePoint


class Balances(Result, frozen=True):
    """The result of getTestClockBalances."""

    at: Timestamp
    balances: Sequence[Balance]


class Violation(Result, frozen=True):
    """The first violation of an expectation."""

    at: Timestamp
    message: str
    actual: Decimal
    item_ids: Sequence[str]


class ExpectationResult(Result, frozen=True):
    """Whether one expectation holds."""

    ok: bool
    violation: Violation | None = None


class CheckResult(Result, frozen=True):
    """The result of checkTestClock: whether all expectations hold, and a result for each."""

    ok: bool
    until: Timestamp
    results: Sequence[ExpectationResult]

    def __bool__(self) -> bool:
        return self.ok


class ExportedClock(Result, frozen=True):
    """The result of exportTestClock: a file with account statements."""

    file_name: str
    media_type: str
    text: str


class TokenInfo(Result, frozen=True):
    """The token in use."""

    type: Literal["SESSION", "ACCESS"]
    expires_at: Timestamp


class CurrentUser(Result, frozen=True):
    """The result of getCurrentUser."""

    user_id: str
    email: str
    token: TokenInfo


class CreatedAccessToken(Result, frozen=True):
    """The result of createAccessToken. The token is not shown again."""

    id: str
    token: str
    name: str
    read_only: bool
    expires_at: Timestamp

    def __repr__(self) -> str:
        """Omit the token, because reprs end up in logs."""
        return f"{type(self).__name__}(id={self.id!r}, name={self.name!r})"


class AccessToken(Result, frozen=True):
    """An access token, without its secret."""

    id: str
    name: str
    read_only: bool
    created_at: Timestamp
    expires_at: Timestamp
    last_used_on: date | None = None


class AccessTokens(Result, frozen=True):
    """The result of listAccessTokens: live access tokens, newest first."""

    tokens: Sequence[AccessToken]


class Done(Struct, frozen=True):
    """The result of an operation without data."""

    message: Literal["ok"] = "ok"


class Sent(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The result of sendLoginCodeEmail."""

    message: Literal["ok"]
    login_url: str | UnsetType = UNSET


class SignedIn(Struct, frozen=True, rename="camel"):
    """The result of signing in."""

    token: str
    user_id: str

    def __repr__(self) -> str:
        """Omit the token, because reprs end up in logs."""
        return f"{type(self).__name__}(user_id={self.user_id!r})"


class StoredEmail(Result, frozen=True, kw_only=True):
    """An email in the development mailbox. Newer emails have greater IDs."""

    id: str
    to: str
    subject: str
    sent_at: Timestamp
    code: str | None = None
    login_url: str | None = None
    text: str
