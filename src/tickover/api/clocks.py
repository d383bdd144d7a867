"""Clocks on the wire: what callers send, and what they get back.

Amounts are doubles in the server, and decimals in the client, which keeps every digit. In JSON both are numbers. The
types of parameters are generic, so that each is declared once.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Generic, Literal, TypeVar

from msgspec import UNSET, Meta, UnsetType

from tickover.api import timestamps
from tickover.api.arguments import int_if_whole
from tickover.api.errors import Fault
from tickover.api.fields import (
    CURRENCY,
    CURRENCY_TEXT,
    Category,
    ClockId,
    ClockName,
    CurrencyOfTransaction,
    InitialAmount,
    Labels,
    Name,
    Number,
    Params,
    PositiveAmount,
    Result,
    Text,
    Timestamp,
    TransactionType,
    doc,
)
from tickover.api.limits import MAX_ADDED, MAX_CONTRIBUTIONS, MAX_GOALS, MAX_TRANSACTIONS, SPAN_YEARS
from tickover.api.timestamps import Instant

Amount_co = TypeVar("Amount_co", covariant=True)
Initial_co = TypeVar("Initial_co", covariant=True)


class TransactionEntry(Params, Generic[Amount_co], frozen=True):
    """Income or an expense at an instant."""

    at: Annotated[Instant, doc("The instant at which the item takes effect, from `frozenTime` to `maxTime` inclusive.")]
    name: Name
    amount: Annotated[Amount_co, doc("The amount of money.")]
    currency: CurrencyOfTransaction
    type: Annotated[TransactionType, doc("Whether money comes in or goes out.")]
    category: Annotated[
        Category | UnsetType,
        doc(
            "Your own label. It may be empty. At the clock's start, `Opening balance` makes the transaction neither "
            "income nor expense."
        ),
    ] = UNSET


class ContributionEntry(Params, Generic[Amount_co], frozen=True):
    """A payment towards a goal at an instant."""

    at: Annotated[Instant, doc("The instant of the payment, from `frozenTime` to `maxTime` inclusive.")]
    amount: Annotated[Amount_co, doc("The amount of money.")]


class AddedContributionEntry(ContributionEntry[PositiveAmount], frozen=True, kw_only=True):
    """A payment towards a goal that the clock already has."""

    goal_id: Annotated[Text, doc("The ID of a goal of this clock.")]


class GoalEntry(Params, Generic[Amount_co, Initial_co], frozen=True):
    """A savings goal."""

    name: Name
    target_amount: Annotated[Amount_co, doc("The amount to save.")]
    initial_amount: Annotated[Initial_co, doc("The amount at the start. It must not exceed `targetAmount`.")] = 0  # type: ignore[assignment]
    contributions: Annotated[
        Sequence[ContributionEntry[Amount_co]],
        Meta(max_length=MAX_CONTRIBUTIONS),
        doc("Payments towards the goal, in any order."),
    ] = ()


class ScheduleEntry(Params, Generic[Amount_co, Initial_co], frozen=True):
    """The parameters of createTestClock."""

    frozen_time: Annotated[
        Instant | UnsetType,
        doc(
            f"The start of the clock, at most {SPAN_YEARS} years before or after the current real time. Default: the "
            "current real time."
        ),
    ] = UNSET
    transactions: Annotated[
        Sequence[TransactionEntry[Amount_co]],
        Meta(max_length=MAX_TRANSACTIONS),
        doc("Income and expenses, in any order."),
    ] = ()
    goals: Annotated[Sequence[GoalEntry[Amount_co, Initial_co]], Meta(max_length=MAX_GOALS), doc("Savings goals.")] = ()
    name: Annotated[ClockName | UnsetType, doc("Your own name for the clock.")] = UNSET
    labels: Labels | UnsetType = UNSET

    def passes_fast_checks(self: "ScheduleEntry[Number, Number]", now: Instant) -> bool:
        """Return what the base class would, but faster. The number of items makes that worthwhile."""
        start = now if self.frozen_time is UNSET else self.frozen_time
        ats = [item.at for item in self.transactions]
        for goal in self.goals:
            if goal.initial_amount > goal.target_amount:
                return False
            ats += [item.at for item in goal.contributions]
        currencies = "".join([item.currency for item in self.transactions])
        return (
            abs(start.year - now.year) < SPAN_YEARS
            and (not ats or (start <= min(ats) and max(ats) <= timestamps.years_after(start)))
            and (not currencies or (currencies.isascii() and currencies.isalpha() and currencies.isupper()))
        )

    def faults(self: "ScheduleEntry[Number, Number]", now: Instant) -> Iterator[Fault]:
        start = now if self.frozen_time is UNSET else self.frozen_time
        yield from currency_faults("transactions", self.transactions)
        yield from initial_amount_faults("goals", self.goals)
        if start is None:
            return
        earliest, latest = timestamps.years_after(now, -SPAN_YEARS), timestamps.years_after(now)
        if not earliest <= start <= latest:
            limits = f"{timestamps.write(earliest)} to {timestamps.write(latest)}"
            message = f"must be within {SPAN_YEARS} years of now ({limits})"
            yield Fault("frozenTime", "range", message, timestamps.write(start))
            return
        end = timestamps.years_after(start)
        yield from range_faults("transactions", self.transactions, start, end)
        for index, goal in enumerate(self.goals or ()):
            if goal is not None:
                yield from range_faults(f"goals[{index}].contributions", goal.contributions, start, end)


def currency_faults(path: str, transactions: Sequence[TransactionEntry[Amount_co]]) -> Iterator[Fault]:
    """Check what the decoder doesn't: that currencies have uppercase letters. It has checked their lengths."""
    for index, item in enumerate(transactions or ()):
        if item is not None and item.currency is not None and not CURRENCY.fullmatch(item.currency):
            yield Fault(f"{path}[{index}].currency", "format", f"must be {CURRENCY_TEXT}", item.currency)


def initial_amount_faults(path: str, goals: Sequence[GoalEntry[Number, Number]]) -> Iterator[Fault]:
    for index, goal in enumerate(goals or ()):
        if goal is None or goal.target_amount is None or goal.initial_amount is None:
            continue
        if goal.initial_amount > goal.target_amount:
            message = f"must not exceed targetAmount ({int_if_whole(goal.target_amount)})"
            yield Fault(f"{path}[{index}].initialAmount", "max", message, goal.initial_amount)


def range_faults(
    path: str, items: Sequence[TransactionEntry[Number] | ContributionEntry[Number]], start: Instant, end: Instant
) -> Iterator[Fault]:
    for index, item in enumerate(items or ()):
        if item is None or item.at is None or start <= item.at <= end:
            continue
        message = f"must be between frozenTime and maxTime ({timestamps.write(start)} to {timestamps.write(end)})"
        yield Fault(f"{path}[{index}].at", "range", message, timestamps.write(item.at))


NewClock = ScheduleEntry[PositiveAmount, InitialAmount]
"""The parameters of createTestClock in the server."""


class AddEntry(Params, frozen=True):
    """Items to add. You need `add`, `cancel` or both."""

    transactions: Annotated[
        Sequence[TransactionEntry[PositiveAmount]],
        Meta(max_length=MAX_ADDED),
        doc("Income and expenses, in any order."),
    ] = ()
    goals: Annotated[
        Sequence[GoalEntry[PositiveAmount, InitialAmount]],
        Meta(max_length=MAX_ADDED),
        doc("New savings goals, with their contributions."),
    ] = ()
    contributions: Annotated[
        Sequence[AddedContributionEntry],
        Meta(max_length=MAX_ADDED),
        doc("Payments towards goals that the clock already has, in any order."),
    ] = ()


class Transaction(Result, frozen=True, kw_only=True):
    """A simulated income or expense at an instant."""

    id: Annotated[str, doc("Opaque; starts with `txn_`.")]
    at: Annotated[Timestamp, doc("The instant at which the item takes effect.")]
    name: Annotated[str, doc("The name of the transaction or goal.")]
    amount: Annotated[Decimal, doc("The amount of money.")]
    currency: Annotated[str, doc("Three uppercase letters, such as `EUR`.")]
    type: Annotated[TransactionType, doc("Whether money comes in or goes out.")]
    category: Annotated[str | None, doc("The category of the request, if it had one.")] = None
    source: Annotated[Literal["SIMULATED_TEST_CLOCK"], doc("Distinguishes simulated money from real money.")]


class Contribution(Result, frozen=True):
    """A payment towards a goal at an instant."""

    id: Annotated[str, doc("Opaque; starts with `ctb_`.")]
    at: Annotated[Timestamp, doc("The instant at which the item takes effect.")]
    amount: Annotated[Decimal, doc("The amount of money.")]


class Goal(Result, frozen=True):
    """A savings goal with its progress."""

    id: Annotated[str, doc("Opaque; starts with `goal_`.")]
    name: Annotated[str, doc("The name of the transaction or goal.")]
    target_amount: Annotated[Decimal, doc("The amount to save.")]
    current_amount: Annotated[Decimal, doc("The initial amount plus all posted contributions.")]
    remaining_amount: Annotated[
        Decimal, doc("`targetAmount` minus `currentAmount`. Negative if the goal is overfunded.")
    ]
    progress_percent: Annotated[
        Decimal,
        doc(
            "`currentAmount` as a percentage of `targetAmount`, with at most two decimals. 100 or more only if the "
            "target is reached."
        ),
    ]
    contributions: Annotated[
        Sequence[Contribution], doc("Posted contributions, at or before `frozenTime`, in order of time.")
    ]
    upcoming_contributions: Annotated[
        Sequence[Contribution], doc("Contributions after `frozenTime`, in order of time.")
    ]
    initial_amount: Annotated[Decimal | None, doc("The amount before the first contribution. Only with `details`.")] = (
        None
    )


class NamedClock(Result, frozen=True, kw_only=True):
    """The members that a clock has only if they were given, or if the call asked for details."""

    start_time: Annotated[
        Timestamp | None,
        doc("The first `frozenTime` of the clock, or of the original if the clock is a fork. Only with `details`."),
    ] = None
    name: Annotated[str | None, doc("The name of the clock, if it has one.")] = None
    labels: Annotated[Mapping[str, str] | None, doc("The labels of the clock, if it has any.")] = None


class Summary(NamedClock, frozen=True):
    """A clock without its transactions and goals."""

    id: ClockId
    status: Annotated[Literal["READY"], doc("The only status. Advancing is synchronous, so no other status is needed.")]
    frozen_time: Annotated[Timestamp, doc("The current simulated time.")]
    max_time: Annotated[
        Timestamp,
        doc(
            f"The latest simulated time: {SPAN_YEARS} years after the first `frozenTime` of the clock, or of the "
            "original if the clock is a fork."
        ),
    ]
    expires_at: Annotated[Timestamp, doc("The real time at which the clock expires: seven days after its creation.")]


class Snapshot(Summary, frozen=True):
    """A clock at an instant."""

    transactions: Annotated[Sequence[Transaction], doc("Transactions at or before `frozenTime`, in order of time.")]
    pending_transactions: Annotated[Sequence[Transaction], doc("Transactions after `frozenTime`, in order of time.")]
    goals: Annotated[Sequence[Goal], doc("Goals, in the order in which they were added.")]


class OneClock(Result, frozen=True):
    """The clock with its items."""

    clock: Snapshot


NextCursor = Annotated[str | None, doc("The cursor of the next page. The last page has none.")]


class ClockPage(Result, frozen=True):
    """A page of the list."""

    clocks: Annotated[Sequence[Summary], doc("Newest first.")]
    next_cursor: NextCursor = None


EventType = Literal["transaction.posted", "contribution.posted", "goal.reached"]


class Event(Result, frozen=True, kw_only=True):
    """Something that happened to a clock, or will happen. Its type decides which of the other members it has."""

    id: Annotated[str, doc("Derived from the item's ID, so it never changes. Starts with `evt_`.")]
    at: Annotated[Timestamp, doc("The instant of the event.")]
    type: Annotated[EventType, doc("What happened.")]
    pending: Annotated[bool, doc("True if the event is after the clock's `frozenTime`; omitted otherwise.")] = False
    transaction: Transaction | None = None
    balance: Annotated[
        Decimal | None,
        doc("For `transaction.posted`: the balance of its currency after it and all transactions before it."),
    ] = None
    goal_id: Annotated[str | None, doc("For `contribution.posted` and `goal.reached`: the goal's ID.")] = None
    contribution: Contribution | None = None
    current_amount: Annotated[Decimal | None, doc("For `contribution.posted`: the goal's amount after it.")] = None


class EventPage(Result, frozen=True):
    """A page of events."""

    events: Annotated[Sequence[Event], doc("In order of time.")]
    next_cursor: NextCursor = None


class BalancePoint(Result, frozen=True):
    """A balance at an instant."""

    at: Annotated[
        Timestamp, doc("The earliest instant with this balance. The opening balance counts as the clock's start.")
    ]
    balance: Annotated[Decimal, doc("The opening balance plus income minus expenses.")]


class Balance(Result, frozen=True):
    """The balance of one currency, and what led to it."""

    currency: Annotated[str, doc("Three uppercase letters, such as `EUR`.")]
    opening: Annotated[Decimal, doc("The opening balance, with the transactions that are opening balances.")]
    income: Annotated[Decimal, doc("The sum of all income up to the instant.")]
    expense: Annotated[Decimal, doc("The sum of all expenses up to the instant.")]
    balance: Annotated[Decimal, doc("The opening balance plus income minus expenses.")]
    lowest: BalancePoint
    highest: BalancePoint


class Balances(Result, frozen=True):
    """The balances at an instant."""

    at: Annotated[Timestamp, doc("The instant of the balances.")]
    balances: Annotated[Sequence[Balance], doc("One for each currency, sorted by currency.")]


class ExportedClock(Result, frozen=True):
    """A file with account statements."""

    file_name: Annotated[str, doc("A name for the file: the clock's ID with the extension of the format.")]
    media_type: Annotated[str, doc("The media type of the file. Its charset is UTF-8.")]
    text: Annotated[str, doc("The content of the file.")]
