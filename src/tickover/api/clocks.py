"""Clocks on the wire: what callers send, and what they get back.

Amounts are doubles in the server, and decimals in the client, which keeps every digit. In JSON both are numbers. The
types of parameters are generic, so that each is declared once.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, field

from tickover.api import limits, timestamps
from tickover.api.command_arguments import Amount_co, int_if_whole
from tickover.api.connections import BankSettings
from tickover.api.errors import Fault, truncate
from tickover.api.expectations import Bound_co, Expectation, ExpectationEntry, Total_co
from tickover.api.fields import (
    CURRENCY,
    CURRENCY_TEXT,
    OPENING_BALANCES,
    AccountKey,
    AccountType,
    Bound,
    Category,
    ClockId,
    ClockName,
    Currency,
    CurrencyOfTransaction,
    InitialAmount,
    Labels,
    Name,
    Number,
    OpeningBalance,
    Params,
    PositiveAmount,
    Result,
    Text,
    Timestamp,
    TotalBound,
    TransactionType,
    doc,
    faults_of_each,
)
from tickover.api.limits import SPAN_YEARS
from tickover.api.suggestions import suggest
from tickover.api.timestamps import Instant

OPENING_WITH_ACCOUNTS: Final = "must not be there, because the clock has accounts with their own opening balances"
_EXPECTATIONS: Final = Meta(min_length=1, max_length=limits.MAX_EXPECTATIONS)
Expectations = Annotated[Sequence[ExpectationEntry[Bound, TotalBound]], _EXPECTATIONS]
Initial_co = TypeVar("Initial_co", covariant=True)
Opening_co = TypeVar("Opening_co", covariant=True)


class TransactionEntry(Params, Generic[Amount_co], frozen=True):
    """Income or an expense at an instant."""

    at: Annotated[Instant, doc("The instant at which the item takes effect, from `frozenTime` to `maxTime` inclusive.")]
    name: Name
    amount: Annotated[Amount_co, doc("The amount of money.")]
    currency: CurrencyOfTransaction
    type: Annotated[TransactionType, doc("Whether money comes in or goes out.")]
    category: Annotated[Category | UnsetType, doc("Your own label. It may be empty.")] = UNSET
    account: Annotated[
        AccountKey | UnsetType, doc("The key of an account. Default: the first account with this currency.")
    ] = UNSET
    authorized_at: Annotated[
        Instant | UnsetType,
        doc("When a card payment was authorized, from the clock's start to `at`. Only a bank connection uses it."),
    ] = UNSET
    authorized_amount: Annotated[
        Amount_co | UnsetType, doc("The amount that was authorized. Default: `amount`. It needs `authorizedAt`.")
    ] = UNSET
    authorized_name: Annotated[
        Name | UnsetType, doc("The name at the authorization. Default: `name`. It needs `authorizedAt`.")
    ] = UNSET

    def own_faults(self) -> Iterator[Fault]:
        # The decoder has checked the length of the currency.
        if self.currency is not None and not CURRENCY.fullmatch(self.currency):
            yield Fault("currency", "format", f"must be {CURRENCY_TEXT}", self.currency)
        if self.authorized_at is UNSET:
            if self.authorized_amount is not UNSET:
                yield Fault("authorizedAmount", "authorizedAt", "needs authorizedAt")
            if self.authorized_name is not UNSET:
                yield Fault("authorizedName", "authorizedAt", "needs authorizedAt")
        elif self.authorized_at is not None and self.at is not None and self.authorized_at > self.at:
            message = f"must not be later than at ({timestamps.write(self.at)})"
            yield Fault("authorizedAt", "range", message, timestamps.write(self.authorized_at))


class AccountEntry(Params, Generic[Opening_co], frozen=True):
    """An account, such as a bank account or a credit card."""

    key: Annotated[AccountKey, doc("Your own key. No other account of the clock has it.")]
    name: Name
    currency: Currency
    type: Annotated[AccountType, doc("What kind of account it is.")] = "CHECKING"
    opening_balance: Annotated[Opening_co, doc("The balance before the clock's start. What you owe is negative.")] = 0  # type: ignore[assignment]


class TransferEntry(Params, Generic[Amount_co], frozen=True):
    """Money that moves from one account to another: neither income nor an expense."""

    at: Annotated[Instant, doc("The instant of the transfer, from `frozenTime` to `maxTime` inclusive.")]
    name: Name
    from_: Annotated[AccountKey, doc("The key of the account that the money leaves.")] = field(name="from")
    to: Annotated[AccountKey, doc("The key of the account that gets the money.")]
    amount: Annotated[Amount_co, doc("The amount that leaves, in the currency of `from`.")]
    received: Annotated[
        Amount_co | UnsetType,
        doc("The amount that arrives. It is required if the accounts have different currencies, and not allowed else."),
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
        Meta(max_length=limits.MAX_CONTRIBUTIONS),
        doc("Payments towards the goal, in any order."),
    ] = ()

    def own_faults(self: "GoalEntry[Number, Number]") -> Iterator[Fault]:
        if self.target_amount is None or self.initial_amount is None or self.initial_amount <= self.target_amount:
            return
        message = f"must not exceed targetAmount ({int_if_whole(self.target_amount)})"
        yield Fault("initialAmount", "max", message, self.initial_amount)


class ScheduleEntry(Params, Generic[Amount_co, Initial_co, Opening_co, Bound_co, Total_co], frozen=True):
    """The parameters of createTestClock."""

    frozen_time: Annotated[
        Instant | UnsetType,
        doc(f"The start of the clock, within {SPAN_YEARS} years of the current real time, which is the default."),
    ] = UNSET
    transactions: Annotated[
        Sequence[TransactionEntry[Amount_co]],
        Meta(max_length=limits.MAX_TRANSACTIONS),
        doc("Income and expenses, in any order."),
    ] = ()
    goals: Annotated[
        Sequence[GoalEntry[Amount_co, Initial_co]], Meta(max_length=limits.MAX_GOALS), doc("Savings goals.")
    ] = ()
    name: Annotated[ClockName | UnsetType, doc("Your own name for the clock.")] = UNSET
    labels: Labels | UnsetType = UNSET
    accounts: Annotated[
        Sequence[AccountEntry[Opening_co]],
        Meta(max_length=limits.MAX_ACCOUNTS),
        doc("The accounts of the clock. They can't change later."),
    ] = ()
    transfers: Annotated[
        Sequence[TransferEntry[Amount_co]],
        Meta(max_length=limits.MAX_TRANSFERS),
        doc("Transfers between the accounts, in any order."),
    ] = ()
    opening_balances: Annotated[dict[Currency, Opening_co], OPENING_BALANCES] | UnsetType = UNSET
    expectations: Annotated[
        Annotated[Sequence[ExpectationEntry[Bound_co, Total_co]], _EXPECTATIONS] | UnsetType,
        doc("What you expect of the clock until its `maxTime`. `checkTestClock` checks it."),
    ] = UNSET

    def passes_fast_checks(self: "NumericSchedule", now: Instant) -> bool:
        """Return what the base class would, but faster for a schedule without additions, which can have many items."""
        if self.accounts or self.transfers or self.opening_balances is not UNSET or self.expectations is not UNSET:
            return not list(self.faults(now))
        start = now if self.frozen_time is UNSET else self.frozen_time
        ats: list[Instant] = []
        for item in self.transactions:
            if not (item.account is item.authorized_at is item.authorized_amount is item.authorized_name is UNSET):
                return not list(self.faults(now))
            ats.append(item.at)
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

    def faults(self: "NumericSchedule", now: Instant) -> Iterator[Fault]:
        yield from faults_of_each("transactions", self.transactions, TransactionEntry.own_faults)
        yield from faults_of_each("goals", self.goals, GoalEntry.own_faults)
        yield from faults_of_each("expectations", self.expectations, ExpectationEntry.own_faults)
        if self.accounts and self.opening_balances is not UNSET:
            yield Fault("openingBalances", "combination", OPENING_WITH_ACCOUNTS)
        keys = [None if account is None else account.key for account in self.accounts or ()]
        for index, key in enumerate(keys):
            if key is not None and key in keys[:index]:
                yield Fault(f"accounts[{index}].key", "unique", "is the key of another account", key)
        currencies = None
        if self.accounts is not None and all(each and each.key and each.currency for each in self.accounts):
            currencies = {account.key: account.currency for account in self.accounts}
        start = now if self.frozen_time is UNSET else self.frozen_time
        earliest, latest = timestamps.years_after(now, -SPAN_YEARS), timestamps.years_after(now)
        bounds = None
        if start is not None and earliest <= start <= latest:
            bounds = start, timestamps.years_after(start)
        elif start is not None:
            limits = f"{timestamps.write(earliest)} to {timestamps.write(latest)}"
            message = f"must be within {SPAN_YEARS} years of now ({limits})"
            yield Fault("frozenTime", "range", message, timestamps.write(start))
        yield from ClockBounds(bounds, "the clock's start", currencies).faults("", self)


class ClockBounds(Struct, frozen=True):
    """What a clock allows of its items: a range of instants, and accounts with their currencies. None allows all."""

    range: tuple[Instant, Instant] | None
    start_name: str
    accounts: Mapping[str, str] | None

    def faults(self, path: str, items: "ScheduleEntry[Any, Any, Any, Any, Any] | AddEntry") -> Iterator[Fault]:
        yield from faults_of_each(f"{path}transactions", items.transactions, self._transaction_faults)
        yield from faults_of_each(f"{path}transfers", items.transfers, self._transfer_faults)
        yield from faults_of_each(f"{path}goals", items.goals, self._goal_faults)

    def time_faults(
        self, item: TransactionEntry[Number] | TransferEntry[Number] | ContributionEntry[Number]
    ) -> Sequence[Fault]:
        if self.range is None or item.at is None or self.range[0] <= item.at <= self.range[1]:
            return ()
        message = f"must be between frozenTime and maxTime ({' to '.join(map(timestamps.write, self.range))})"
        return [Fault("at", "range", message, timestamps.write(item.at))]

    def _goal_faults(self, goal: GoalEntry[Number, Number]) -> Iterator[Fault]:
        return faults_of_each("contributions", goal.contributions, self.time_faults)

    def _transaction_faults(self, item: TransactionEntry[Number]) -> Iterator[Fault]:
        yield from self.time_faults(item)
        if self.range is not None and item.authorized_at and item.authorized_at < self.range[0]:
            message = f"must not be before {self.start_name} ({timestamps.write(self.range[0])})"
            yield Fault("authorizedAt", "range", message, timestamps.write(item.authorized_at))
        if self.accounts is None or item.account is None or item.currency is None:
            return
        if item.account is UNSET:
            if self.accounts and item.currency not in self.accounts.values():
                known = ", ".join(sorted({*self.accounts.values()}))
                yield Fault("currency", "account", f"must be the currency of an account ({known})", item.currency)
        elif item.account not in self.accounts:
            yield unknown_account("account", item.account, self.accounts)
        elif (currency := self.accounts[item.account]) != item.currency:
            message = f"must be an account in {truncate(item.currency)}; this one is in {currency}"
            yield Fault("account", "currency", message, item.account)

    def _transfer_faults(self, item: TransferEntry[Number]) -> Iterator[Fault]:
        yield from self.time_faults(item)
        if self.accounts is None or item.from_ is None or item.to is None:
            return
        unknown = {name: key for name, key in (("from", item.from_), ("to", item.to)) if key not in self.accounts}
        for name, key in unknown.items():
            yield unknown_account(name, key, self.accounts)
        if item.from_ == item.to:
            yield Fault("to", "different", "must be another account than from", item.to)
        elif not unknown and item.received is not None:
            is_needed = self.accounts[item.from_] != (currency := self.accounts[item.to])
            if is_needed and item.received is UNSET:
                yield Fault("received", "currency", f"is required, because the money arrives in {currency}")
            if not is_needed and item.received is not UNSET:
                yield Fault("received", "currency", "must not be there, because both accounts have the same currency")


def unknown_account(path: str, key: str, known: Collection[str]) -> Fault:
    """Return the fault of a key that none of the clock's accounts has."""
    listed = f" ({', '.join(known)})" if known else "; it has none"
    hint = suggest(key, known, '"{}"')
    return Fault(path, "account", f"must be the key of an account of this clock{listed}{hint}", key)


NumericSchedule = ScheduleEntry[Number, Number, Number, Number, Number]


class NewClock(ScheduleEntry[PositiveAmount, InitialAmount, OpeningBalance, Bound, TotalBound], frozen=True):
    """The parameters of createTestClock."""


_ADDED: Final = Meta(max_length=limits.MAX_ADDED)


class AddEntry(Params, frozen=True):
    """Items to add. You need `add`, `cancel` or both."""

    transactions: Annotated[
        Sequence[TransactionEntry[PositiveAmount]], _ADDED, doc("Income and expenses, in any order.")
    ] = ()
    goals: Annotated[Sequence[GoalEntry[PositiveAmount, InitialAmount]], _ADDED, doc("New savings goals.")] = ()
    contributions: Annotated[
        Sequence[AddedContributionEntry],
        _ADDED,
        doc("Payments towards goals that the clock already has, in any order."),
    ] = ()
    transfers: Annotated[
        Sequence[TransferEntry[PositiveAmount]], _ADDED, doc("Transfers between accounts of the clock, in any order.")
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
    account: Annotated[str | None, doc("The key of its account, if the clock has accounts.")] = None
    authorized_at: Annotated[Timestamp | None, doc("As in the request, if it had one.")] = None
    authorized_amount: Annotated[Decimal | None, doc("As in the request, if it had one.")] = None
    authorized_name: Annotated[str | None, doc("As in the request, if it had one.")] = None
    source: Annotated[Literal["SIMULATED_TEST_CLOCK"], doc("Distinguishes simulated money from real money.")]

    @property
    def signed_amount(self) -> Decimal:
        """The amount, negative for an expense."""
        return self.amount if self.type == "INCOME" else -self.amount


class Transfer(Result, frozen=True, kw_only=True):
    """A simulated transfer from one account to another at an instant."""

    id: Annotated[str, doc("Opaque; starts with `tfr_`.")]
    at: Annotated[Timestamp, doc("The instant at which the item takes effect.")]
    name: Annotated[str, doc("The name of the transfer.")]
    from_: Annotated[str, doc("The key of the account that the money leaves.")] = field(name="from")
    to: Annotated[str, doc("The key of the account that gets the money.")]
    amount: Annotated[Decimal, doc("The amount that leaves.")]
    currency: Annotated[str, doc("The currency of `from`.")]
    received: Annotated[Decimal | None, doc("The amount that arrives, if the accounts' currencies differ.")] = None
    received_currency: Annotated[str | None, doc("The currency of `to`, if the accounts' currencies differ.")] = None
    source: Annotated[Literal["SIMULATED_TEST_CLOCK"], doc("Distinguishes simulated money from real money.")]


class Account(Result, frozen=True):
    """An account with its balance."""

    key: Annotated[str, doc("The key of the request.")]
    name: Annotated[str, doc("The name of the account.")]
    currency: Annotated[str, doc("Three uppercase letters, such as `EUR`.")]
    type: Annotated[AccountType, doc("What kind of account it is.")]
    opening_balance: Annotated[Decimal, doc("The balance before the clock's start.")]
    balance: Annotated[Decimal, doc("The balance at `frozenTime`.")]


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
    remaining_amount: Annotated[Decimal, doc("`targetAmount` minus `currentAmount`. Negative if overfunded.")]
    progress_percent: Annotated[
        Decimal,
        doc("A percentage of `targetAmount` with at most two decimals. 100 or more only if the target is reached."),
    ]
    contributions: Annotated[Sequence[Contribution], doc("Contributions at or before `frozenTime`, in order of time.")]
    upcoming_contributions: Annotated[
        Sequence[Contribution], doc("Contributions after `frozenTime`, in order of time.")
    ]
    initial_amount: Annotated[Decimal | None, doc("The amount before contributions. Only with `details`.")] = None


class Summary(Result, frozen=True, kw_only=True):
    """A clock without its transactions and goals."""

    id: ClockId
    status: Annotated[Literal["READY"], doc("The only status. Advancing is synchronous, so no other status is needed.")]
    frozen_time: Annotated[Timestamp, doc("The current simulated time.")]
    max_time: Annotated[Timestamp, doc(f"The latest simulated time: {SPAN_YEARS} years after the clock's start.")]
    expires_at: Annotated[Timestamp, doc("The real time at which the clock expires: seven days after its creation.")]
    start_time: Annotated[
        Timestamp | None,
        doc("The first `frozenTime` of the clock, or of the original if the clock is a fork. Only with `details`."),
    ] = None
    name: Annotated[str | None, doc("The name of the clock, if it has one.")] = None
    labels: Annotated[Mapping[str, str] | None, doc("The labels of the clock, if it has any.")] = None


class Snapshot(Summary, frozen=True, kw_only=True):
    """A clock at an instant."""

    transactions: Annotated[Sequence[Transaction], doc("Transactions at or before `frozenTime`, in order of time.")]
    pending_transactions: Annotated[Sequence[Transaction], doc("Transactions after `frozenTime`, in order of time.")]
    goals: Annotated[Sequence[Goal], doc("Goals, in the order in which they were added.")]
    opening_balances: Annotated[
        Mapping[str, Decimal] | None, doc("The balances before the clock's start, if given.")
    ] = None
    expectations: Annotated[Sequence[Expectation], doc("The expectations of the clock, if it has any.")] = ()
    bank_defaults: Annotated[
        BankSettings | None, doc("How the bank behaves for connections that an app makes itself, if given.")
    ] = None
    accounts: Annotated[Sequence[Account], doc("The accounts, if the clock has any.")] = ()
    transfers: Annotated[
        Sequence[Transfer], doc("Transfers at or before `frozenTime`. Only if the clock has accounts.")
    ] = ()
    pending_transfers: Annotated[
        Sequence[Transfer], doc("Transfers after `frozenTime`. Only if the clock has accounts.")
    ] = ()


class OneClock(Result, frozen=True):
    """The clock with its items."""

    clock: Snapshot


NextCursor = Annotated[str | None, doc("The cursor of the next page. The last page has none.")]


class ClockPage(Result, frozen=True):
    """A page of the list."""

    clocks: Annotated[Sequence[Summary], doc("Newest first.")]
    next_cursor: NextCursor = None


EventType = Literal["transaction.posted", "transfer.posted", "contribution.posted", "goal.reached"]


class Event(Result, frozen=True, kw_only=True):
    """Something that happened to a clock, or will happen. Its type decides which of the other members it has."""

    id: Annotated[str, doc("Derived from the item's ID, so it never changes. Starts with `evt_`.")]
    at: Annotated[Timestamp, doc("The instant of the event.")]
    type: Annotated[EventType, doc("What happened.")]
    pending: Annotated[bool, doc("True if the event is after the clock's `frozenTime`; omitted otherwise.")] = False
    transaction: Transaction | None = None
    balance: Annotated[
        Decimal | None, doc("For `transaction.posted`: the balance of its currency after it and all items before it.")
    ] = None
    account_balance: Annotated[
        Decimal | None, doc("For `transaction.posted`: the balance of its account, if the clock has accounts.")
    ] = None
    transfer: Transfer | None = None
    from_balance: Annotated[Decimal | None, doc("For `transfer.posted`: the balance of `from`.")] = None
    to_balance: Annotated[Decimal | None, doc("For `transfer.posted`: the balance of `to`.")] = None
    goal_id: Annotated[str | None, doc("For `contribution.posted` and `goal.reached`: the goal's ID.")] = None
    contribution: Contribution | None = None
    current_amount: Annotated[Decimal | None, doc("For `contribution.posted`: the goal's amount after it.")] = None


class EventPage(Result, frozen=True):
    """A page of events."""

    events: Annotated[Sequence[Event], doc("In order of time.")]
    next_cursor: NextCursor = None


class AdvancedClock(Result, frozen=True):
    """The clock with its items, and what happened."""

    clock: Snapshot
    events: Annotated[
        Sequence[Event] | None, doc("What happened, in order of time. Only with the parameter `events`.")
    ] = None
    more_events: Annotated[bool, doc("True if other events happened after these; omitted otherwise.")] = False

    @property
    def transactions(self) -> list[Transaction]:
        """The transactions that happened."""
        return [event.transaction for event in self.events or () if event.transaction]

    @property
    def transfers(self) -> list[Transfer]:
        """The transfers that happened."""
        return [event.transfer for event in self.events or () if event.transfer]

    @property
    def contributions(self) -> list[Contribution]:
        """The contributions that happened."""
        return [event.contribution for event in self.events or () if event.contribution]


class BalancePoint(Result, frozen=True):
    """A balance at an instant."""

    at: Annotated[
        Timestamp, doc("The earliest instant with this balance. The opening balance counts as the clock's start.")
    ]
    balance: Annotated[Decimal, doc("The opening balance plus income minus expenses.")]


class Balance(Result, frozen=True):
    """The balance of one currency, and what led to it."""

    currency: Annotated[str, doc("Three uppercase letters, such as `EUR`.")]
    opening: Annotated[Decimal, doc("The balance before the clock's start.")]
    income: Annotated[Decimal, doc("The sum of all income up to the instant.")]
    expense: Annotated[Decimal, doc("The sum of all expenses up to the instant.")]
    balance: Annotated[Decimal, doc("The opening balance plus income minus expenses, and what transfers add to it.")]
    lowest: BalancePoint
    highest: BalancePoint
    transferred_in: Annotated[Decimal | None, doc("The sum of transfers in. Only if the clock has accounts.")] = None
    transferred_out: Annotated[Decimal | None, doc("The sum of transfers out. Only if the clock has accounts.")] = None


class AccountBalance(Balance, frozen=True, kw_only=True):
    """The balance of one account, and what led to it."""

    account: Annotated[str, doc("The key of the account.")]


class Balances(Result, frozen=True):
    """The balances at an instant."""

    at: Annotated[Timestamp, doc("The instant of the balances.")]
    balances: Annotated[Sequence[Balance], doc("One for each currency, sorted by currency.")]
    accounts: Annotated[Sequence[AccountBalance], doc("One for each account of the clock, in their order.")] = ()


class ExportedClock(Result, frozen=True):
    """A file with account statements."""

    file_name: Annotated[str, doc("A name for the file: the clock's ID with the extension of the format.")]
    media_type: Annotated[str, doc("The media type of the file. Its charset is UTF-8.")]
    text: Annotated[str, doc("The content of the file.")]
