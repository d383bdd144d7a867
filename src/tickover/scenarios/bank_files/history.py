"""The history of one or several accounts: payments, and transfers between the accounts."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Final

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from tickover.api import plans
from tickover.api.clocks import Snapshot, Transaction
from tickover.api.connections import BankSettings
from tickover.api.fields import AccountType
from tickover.api.plans import PlannedAccount
from tickover.scenarios.timings import DEFAULT_TIME

_MAX_TRANSFER_DAYS: Final = timedelta(days=3)
"""A bank books the two ends of a transfer on the same day, or a few days apart."""


class Payment(Struct, frozen=True):
    """A payment of an account. Expenses are negative. `at` has a time only if the file has one."""

    at: datetime | date
    name: str
    amount: Decimal
    currency: str
    category: str = ""
    account: str | UnsetType = UNSET
    """The key of its account, if there are accounts."""
    to: str | UnsetType = UNSET
    """The key of the account in which a transfer arrives. Its amount is positive, and in the currency it leaves in."""
    received: Decimal | UnsetType = UNSET
    """The amount of a transfer that arrives, if it is in another currency."""
    authorized_at: datetime | UnsetType = UNSET
    """When the bank shows a card payment as pending, before it is booked."""
    authorized_amount: Decimal | UnsetType = UNSET
    authorized_name: str | UnsetType = UNSET

    @property
    def day(self) -> date:
        return self.at.date() if isinstance(self.at, datetime) else self.at

    @property
    def instant(self) -> datetime:
        return self.at if isinstance(self.at, datetime) else datetime.combine(self.at, DEFAULT_TIME, UTC)


class History(Struct, frozen=True, kw_only=True):
    payments: Sequence[Payment]
    """Payments and transfers in order of time."""
    opening: Mapping[str, Decimal] = {}
    """The balance of each currency before the first payment, where it is known. A history with accounts has none."""
    accounts: Sequence[PlannedAccount] = ()
    account_type: AccountType = "CHECKING"
    """The type of the account, if the history is that of a file."""
    latest: datetime | None = None
    """The last instant of the clock, if the history is that of a clock."""
    bank_defaults: BankSettings | None = None
    """How the bank of a clock behaves for connections that an app makes itself."""

    def since(self, first: date) -> "History":
        """Return the history from a day on. Opening balances include what was before."""
        opening = dict(self.opening)
        accounts = {account.key: account.opening_balance for account in self.accounts}
        for item in self.payments:
            if item.day >= first:
                continue
            if item.to is not UNSET:
                accounts[item.to] += item.amount if item.received is UNSET else item.received
            if item.account is not UNSET:
                accounts[item.account] += item.amount if item.to is UNSET else -item.amount
            elif item.currency in opening:
                opening[item.currency] += item.amount
        return History(
            payments=[item for item in self.payments if item.day >= first],
            opening=opening,
            accounts=[replace(account, opening_balance=accounts[account.key]) for account in self.accounts],
            latest=self.latest,
            bank_defaults=self.bank_defaults,
        )


def history_of_clock(clock: Snapshot) -> History:
    """Return everything that a clock has or will have."""
    payments = [_payment(item) for item in (*clock.transactions, *clock.pending_transactions)]
    payments += [
        Payment(
            at=item.at,
            name=item.name,
            amount=item.amount,
            currency=item.currency,
            account=item.from_,
            to=item.to,
            received=UNSET if item.received is None else item.received,
        )
        for item in (*clock.transfers, *clock.pending_transfers)
    ]
    return History(
        payments=sorted(payments, key=lambda payment: payment.at),
        opening=clock.opening_balances or {},
        accounts=[
            plans.account(one.key, one.name, one.currency, one.type, one.opening_balance) for one in clock.accounts
        ],
        latest=clock.max_time,
        bank_defaults=clock.bank_defaults,
    )


def _payment(item: Transaction) -> Payment:
    return Payment(
        at=item.at,
        name=item.name,
        amount=item.signed_amount,
        currency=item.currency,
        category=item.category or "",
        account=item.account or UNSET,
        authorized_at=item.authorized_at or UNSET,
        authorized_amount=UNSET if item.authorized_amount is None else item.authorized_amount,
        authorized_name=item.authorized_name or UNSET,
    )


def join_accounts(histories: Mapping[str, History]) -> History:
    """Return the history of several accounts from the file of each, by its key. Find the transfers between them.

    Raise ValueError if the payments of an account have several currencies.
    """
    accounts, payments = [], []
    for key, history in histories.items():
        currencies = sorted({item.currency for item in history.payments})
        if len(currencies) > 1:
            raise ValueError(f"the payments of {key} have several currencies: {', '.join(currencies)}")
        opening = history.opening.get(currencies[0], Decimal(0))
        accounts.append(plans.account(key, key.capitalize(), currencies[0], history.account_type, opening))
        payments += [replace(item, account=key) for item in history.payments]
    payments.sort(key=lambda item: item.day)
    return History(payments=_join_transfers(payments), accounts=accounts)


def _join_transfers(payments: Sequence[Payment]) -> list[Payment]:
    """Return the payments, with one transfer instead of its two ends.

    The ends have the same amount, in different accounts, within a few days. The transfer has the date and the name of
    the payment that leaves.
    """
    arrivals: dict[tuple[str, Decimal], list[int]] = {}
    for index, item in enumerate(payments):
        if item.amount > 0:
            arrivals.setdefault((item.currency, item.amount), []).append(index)
    joined, arrived = list(payments), set[int]()
    for index, item in enumerate(payments):
        candidates = arrivals.get((item.currency, -item.amount), [])
        for arrival in candidates:
            other = payments[arrival]
            if other.account != item.account and abs(other.day - item.day) <= _MAX_TRANSFER_DAYS:
                candidates.remove(arrival)
                arrived.add(arrival)
                joined[index] = replace(item, amount=other.amount, category="", to=other.account)
                break
    return [item for index, item in enumerate(joined) if index not in arrived]
