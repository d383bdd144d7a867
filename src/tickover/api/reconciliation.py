"""The parameters and the result of reconcileTestClock."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from tickover.api.errors import Fault
from tickover.api.fields import AccountKey, Bound, ClockId, Currency, Name, Number, Params, Result, Text, Timestamp, doc
from tickover.api.limits import MAX_OBSERVED, MAX_OBSERVED_ID, MAX_TOLERANCE_DAYS
from tickover.api.timestamps import Instant

Field = Literal["amount", "at", "name"]
DivergenceKind = Literal["missing", "unexpected", "duplicated", "changed", "balance"]


class ObservedEntry(Params, frozen=True):
    """A transaction that the app recorded."""

    at: Annotated[Instant, doc("When it happened.")]
    amount: Annotated[Bound, doc("Negative if money went out.")]
    id: Annotated[
        Annotated[Text, Meta(max_length=MAX_OBSERVED_ID)] | UnsetType,
        doc("The ID that the bank gave it. Others are ignored."),
    ] = UNSET
    name: Name | UnsetType = UNSET


class BooksEntry(Params, frozen=True):
    """What the app recorded: transactions, a balance, or both."""

    transactions: Annotated[
        Annotated[Sequence[ObservedEntry], Meta(max_length=MAX_OBSERVED)] | UnsetType,
        doc("All transactions of the account or currency until `at`, in any order."),
    ] = UNSET
    balance: Annotated[Bound | UnsetType, doc("The balance that the app shows.")] = UNSET


class ReconcileEntry(Params, frozen=True):
    """The parameters of reconcileTestClock."""

    id: ClockId
    observed: BooksEntry
    at: Annotated[
        Instant | UnsetType, doc("An instant from the clock's start to its `maxTime`. Default: its `frozenTime`.")
    ] = UNSET
    account: Annotated[AccountKey | UnsetType, doc("The key of an account of the clock.")] = UNSET
    currency: Annotated[
        Currency | UnsetType,
        doc("All accounts with this currency. A clock with one currency needs neither `account` nor `currency`."),
    ] = UNSET
    tolerance_days: Annotated[
        Annotated[int, Meta(ge=0, le=MAX_TOLERANCE_DAYS)], doc("How many days a transaction may be early or late.")
    ] = 0

    def faults(self, now: Instant) -> Iterable[Fault]:
        if self.observed is not None and self.observed.transactions is self.observed.balance is UNSET:
            yield Fault("observed", "members", "must have transactions, a balance, or both")
        if self.account is not UNSET and self.currency is not UNSET:
            yield Fault("currency", "combination", "must not be there together with account")


class ExpectedItem(Result, frozen=True):
    """What the bank showed."""

    id: Annotated[str, doc("The ID of the item. That of a transfer ends in `_out` or `_in`.")]
    at: Annotated[Timestamp, doc("When it happened.")]
    name: Annotated[str, doc("Its name.")]
    amount: Annotated[Number, doc("Negative if money went out.")]


class ObservedItem(Result, frozen=True):
    """What the app recorded."""

    index: Annotated[int, doc("Its position in `observed.transactions`.")]
    at: Annotated[Timestamp, doc("As it was sent.")]
    amount: Annotated[Number, doc("As it was sent.")]
    id: Annotated[str | UnsetType, doc("As it was sent.")] = UNSET
    name: Annotated[str | UnsetType, doc("As it was sent.")] = UNSET


class ChangedItem(Result, frozen=True):
    """A transaction that the app recorded differently."""

    expected: Annotated[ExpectedItem, doc("What the bank showed.")]
    observed: Annotated[ObservedItem, doc("What the app recorded.")]
    fields: Annotated[Sequence[Field], doc("The members that differ.")]


class ComparedBalance(Result, frozen=True):
    """The balance of the bank and that of the app."""

    expected: Annotated[Number, doc("The balance at the bank.")]
    observed: Annotated[Number, doc("The balance that the app shows.")]


class Divergence(Result, frozen=True):
    """Where the books differ first."""

    at: Annotated[Timestamp, doc("The time of the transaction, or of the balance.")]
    kind: Annotated[DivergenceKind, doc("The member of the result that has it.")]


class Reconciliation(Result, frozen=True):
    """The result of reconcileTestClock."""

    ok: Annotated[bool, doc("Whether nothing differs.")]
    missing: Annotated[Sequence[ExpectedItem], doc("What the app didn't record.")]
    unexpected: Annotated[Sequence[ObservedItem], doc("What the bank didn't show.")]
    duplicated: Annotated[Sequence[ObservedItem], doc("Further copies of what the app recorded.")]
    changed: Annotated[Sequence[ChangedItem], doc("What the app recorded differently.")]
    balance: Annotated[ComparedBalance | UnsetType, doc("Both balances, if the app has one.")] = UNSET
    first_divergence: Annotated[Divergence | UnsetType, doc("Where the books differ first, unless `ok`.")] = UNSET
