"""The parameters and the result of reconcileTestClock."""

from collections.abc import Sequence
from typing import Annotated, Generic, Literal

from msgspec import UNSET, Meta, UnsetType

from tickover.api.command_arguments import Amount_co
from tickover.api.fields import Bound, Name, Params, Result, Text, Timestamp, doc
from tickover.api.limits import MAX_OBSERVED, MAX_OBSERVED_ID
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


class ExpectedItem(Result, Generic[Amount_co], frozen=True):
    """What the bank showed."""

    id: Annotated[str, doc("The ID of the item. That of a transfer ends in `_out` or `_in`.")]
    at: Annotated[Timestamp, doc("When it happened.")]
    name: Annotated[str, doc("Its name.")]
    amount: Annotated[Amount_co, doc("Negative if money went out.")]


class ObservedItem(Result, Generic[Amount_co], frozen=True):
    """What the app recorded."""

    index: Annotated[int, doc("Its position in `observed.transactions`.")]
    at: Annotated[Timestamp, doc("As it was sent.")]
    amount: Annotated[Amount_co, doc("As it was sent.")]
    id: Annotated[str | UnsetType, doc("As it was sent.")] = UNSET
    name: Annotated[str | UnsetType, doc("As it was sent.")] = UNSET


class ChangedItem(Result, Generic[Amount_co], frozen=True):
    """A transaction that the app recorded differently."""

    expected: Annotated[ExpectedItem[Amount_co], doc("What the bank showed.")]
    observed: Annotated[ObservedItem[Amount_co], doc("What the app recorded.")]
    fields: Annotated[Sequence[Field], doc("The members that differ.")]


class ComparedBalance(Result, Generic[Amount_co], frozen=True):
    """The balance of the bank and that of the app."""

    expected: Annotated[Amount_co, doc("The balance at the bank.")]
    observed: Annotated[Amount_co, doc("The balance that the app shows.")]


class Divergence(Result, frozen=True):
    """Where the books differ first."""

    at: Annotated[Timestamp, doc("The time of the transaction, or of the balance.")]
    kind: Annotated[DivergenceKind, doc("The member of the result that has it.")]


class Reconciliation(Result, Generic[Amount_co], frozen=True):
    """The result of reconcileTestClock."""

    ok: Annotated[bool, doc("Whether nothing differs.")]
    missing: Annotated[Sequence[ExpectedItem[Amount_co]], doc("What the app didn't record.")]
    unexpected: Annotated[Sequence[ObservedItem[Amount_co]], doc("What the bank didn't show.")]
    duplicated: Annotated[Sequence[ObservedItem[Amount_co]], doc("Further copies of what the app recorded.")]
    changed: Annotated[Sequence[ChangedItem[Amount_co]], doc("What the app recorded differently.")]
    balance: Annotated[ComparedBalance[Amount_co] | UnsetType, doc("Both balances, if the app has one.")] = UNSET
    first_divergence: Annotated[Divergence | UnsetType, doc("Where the books differ first, unless `ok`.")] = UNSET
