from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from tickover.api.clocks import unknown_account
from tickover.api.errors import Fault, reject
from tickover.api.fields import AccountKey, Currency, Number, doc
from tickover.api.limits import MAX_TOLERANCE_DAYS
from tickover.api.reconciliation import BooksEntry, ComparedBalance, Divergence, Reconciliation
from tickover.api.suggestions import suggest
from tickover.api.timestamps import Instant
from tickover.server import gate
from tickover.server.operations.ledgers import range_faults
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, ClockParams
from tickover.server.schedule.ledger import Ledger, fraction_to_number
from tickover.server.schedule.reconcile import Comparison, ShownItems, shown_items
from tickover.server.schedule.row_ids import RowIds


class ReconcileEntry(ClockParams, frozen=True):
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


@Operation(
    "reconcileTestClock",
    Reconciliation[Number],
    needs=Permission.READ,
    examples={
        "The app lost a transaction, and recorded another with the wrong sign": {
            "id": EXAMPLE_CLOCK,
            "observed": {"transactions": [{"at": "2027-01-03T08:00:00Z", "amount": 1150}], "balance": 1150},
        }
    },
)
async def reconcile_test_clock(params: ReconcileEntry, caller: Caller, services: Services) -> Reconciliation[Number]:
    """Compare the books of an app with what the bank showed.

    Compares the transactions and the balance that the app under test recorded with those of an account or a
    currency at `at`. Transactions match by every `id` that the bank ever gave them, and otherwise by amount and UTC
    date within `toleranceDays`, those with the same name first. Each matches once. A wrong sign is `changed`, and
    so is another amount of the only transaction with that name and date. A second copy of a matched transaction is
    `duplicated`, also as the pending payment that it was before. Pending payments may be there, but are never
    `missing`. A transfer counts for its accounts, and for a currency only if it crosses currencies. Nothing is
    stored.
    """
    clock, schedule = await services.clocks.find(params.id, caller)
    at = params.at or clock.frozen_time
    ledger = (await services.ledgers.get(clock, schedule)).ledger
    faults, account, currency = _select(params, ledger)
    reject(range_faults("at", at, clock) + faults)
    observed = params.observed
    find_booked = RowIds(schedule).booked
    compared = Comparison(ShownItems((), ()), (), 0, find_booked)
    if observed.transactions is not UNSET:
        shown = shown_items(await services.ledgers.bank_view(clock, schedule), at, account, currency)
        compared = Comparison(shown, observed.transactions, params.tolerance_days, find_booked)
        for _ in compared.run():
            await gate.pause()
    divergences = [
        *(Divergence(item.at, "missing") for item in compared.missing),
        *(Divergence(item.expected.at, "changed") for item in compared.changed),
        *(Divergence(item.at, "duplicated") for item in compared.duplicated),
        *(Divergence(item.at, "unexpected") for item in compared.unexpected),
    ]
    balance: ComparedBalance[Number] | UnsetType = UNSET
    if observed.balance is not UNSET:
        balance = ComparedBalance(_balance(ledger, at, account, currency), observed.balance)
        if balance.expected != balance.observed:
            divergences.append(Divergence(at, "balance"))
    first = min(divergences, key=lambda divergence: divergence.at) if divergences else UNSET
    found = compared.missing, compared.unexpected, compared.duplicated, compared.changed
    return Reconciliation(not divergences, *found, balance, first)


def _balance(ledger: Ledger, at: Instant, account: str | None, currency: str) -> Number:
    name = account or currency
    book, opening = ledger.book(name), ledger.opening_balances(UNSET).get(name, Fraction(0))
    return fraction_to_number(book.balance(book.index_at(at), opening))


def _select(params: ReconcileEntry, ledger: Ledger) -> tuple[list[Fault], str | None, str]:
    """Return the faults of the selection, its account, and its currency, which is empty if the clock has none."""
    currencies = sorted({*ledger.currencies, *ledger.opening_balances(UNSET)})
    if params.account is not UNSET:
        if params.account in ledger.accounts:
            return [], params.account, ledger.accounts[params.account].currency
        return [unknown_account("account", params.account, ledger.accounts)], None, ""
    if params.currency is not UNSET and params.currency not in currencies:
        hint = suggest(params.currency, currencies, fallback=f"currencies: {', '.join(currencies) or 'none'}")
        fault = Fault("currency", "currency", f"must be a currency of the clock{hint}", params.currency)
        return [fault], None, ""
    if params.currency is UNSET and len(currencies) > 1:
        message = f"must be there, because the clock has several currencies ({', '.join(currencies)}), or account"
        return [Fault("currency", "required", message)], None, ""
    return [], None, params.currency or "".join(currencies)
