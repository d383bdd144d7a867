"""What operations answer, as types: the schema that is published, and what a client reads answers into.

Amounts are decimals here, because a client must not lose what JSON shows; on the wire they are JSON numbers.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Instant = Annotated[datetime, Meta(tz=True)]
TransactionType = Literal["INCOME", "EXPENSE"]


class Result(Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """The base of all that is answered. A newer server may answer more than an older client reads."""


class Transaction(Result, frozen=True, kw_only=True):
    """Simulated money that comes in or goes out at an instant."""

    id: str
    at: Instant
    name: str
    amount: Decimal
    currency: str
    type: TransactionType
    category: str | None = None
    source: Literal["SIMULATED_TEST_CLOCK"]


class Contribution(Result, frozen=True):
    """Money that is put aside for a goal at an instant."""

    id: str
    at: Instant
    amount: Decimal


class Goal(Result, frozen=True):
    """Something that is saved for, and how far it has come."""

    id: str
    name: str
    target_amount: Decimal
    current_amount: Decimal
    remaining_amount: Decimal
    progress_percent: Decimal
    contributions: Sequence[Contribution]
    upcoming_contributions: Sequence[Contribution]


class Summary(Result, frozen=True):
    """A clock without its items."""

    id: str
    status: Literal["READY"]
    frozen_time: Instant
    max_time: Instant
    expires_at: Instant


class Snapshot(Summary, frozen=True):
    """A clock as it is, was or would be at an instant."""

    transactions: Sequence[Transaction]
    pending_transactions: Sequence[Transaction]
    goals: Sequence[Goal]


class OneClock(Result, frozen=True):
    """The result of an operation on one clock."""

    clock: Snapshot


class ClockPage(Result, frozen=True):
    """The result of listTestClocks: newest first, and where to go on if there are more."""

    clocks: Sequence[Summary]
    next_cursor: str | None = None


class Done(Struct, frozen=True):
    """The result of an operation that has nothing else to say."""

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
        """Without the token, because what is shown ends in logs."""
        return f"{type(self).__name__}(user_id={self.user_id!r})"


class StoredEmail(Result, frozen=True, kw_only=True):
    """A letter in the development mailbox. Later letters have greater ids."""

    id: str
    to: str
    subject: str
    sent_at: Instant
    code: str | None = None
    login_url: str | None = None
    text: str
