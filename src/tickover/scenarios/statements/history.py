"""The history of one or several accounts: payments, and transfers between the accounts."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final

from msgspec import UNSET, Struct, structs
from msgspec.structs import replace

from tickover.api import plans
from tickover.api.clocks import Snapshot, Transaction
from tickover.api.fields import AccountType
from tickover.api.plans import PlannedAccount
from tickover.scenarios.statements.statement import Payment, clean_text

_MAX_TRANSFER_DAYS: Final = timedelta(days=3)
"""A bank books the two ends of a transfer on the same day, or a few days apart."""


_MIN_PENDING: Final = timedelta(seconds=1)
"""A payment that is authorized when it is booked is never pending, and scenarios have no fractions of a second."""


class CardPayment(Payment, frozen=True, kw_only=True):
    """An expense or income that the bank shows as pending before it is booked."""

    at: datetime
    authorized_at: datetime
    authorized_amount: Decimal | None
    authorized_name: str | None


class Movement(Payment, frozen=True, kw_only=True):
    """A transfer between two accounts. Its amount is positive, and in the currency of `account`, which it leaves."""

    account: str
    to: str
    received: Decimal | None = None
    """The amount that arrives, if it is in another currency."""


class History(Struct, frozen=True, kw_only=True):
    """Payments and transfers, each in order of time."""

    payments: Sequence[Payment]
    opening: Mapping[str, Decimal] = {}
    """The balance of each currency before the first payment, where it is known. A history with accounts has none."""
    accounts: Sequence[PlannedAccount] = ()
    movements: Sequence[Movement] = ()
    account_type: AccountType = "CHECKING"
    """The type of the account, if the history is that of a file."""

    @property
    def items(self) -> list[Payment]:
        """All payments and transfers in order of time."""
        return sorted([*self.payments, *self.movements], key=lambda item: item.day)

    def since(self, first: date) -> "History":
        """Return the history from a day on. Opening balances include what was before."""
        opening = dict(self.opening)
        accounts = {account.key: account.opening_balance for account in self.accounts}
        for item in self.items:
            if item.day >= first:
                continue
            if isinstance(item, Movement):
                accounts[item.account] -= item.amount
                accounts[item.to] += item.amount if item.received is None else item.received
            elif item.account is not UNSET:
                accounts[item.account] += item.amount
            elif item.currency in opening:
                opening[item.currency] += item.amount
        return History(
            payments=[item for item in self.payments if item.day >= first],
            opening=opening,
            accounts=[replace(account, opening_balance=accounts[account.key]) for account in self.accounts],
            movements=[item for item in self.movements if item.day >= first],
        )


def history_of_clock(clock: Snapshot) -> History:
    """Return everything that a clock has or will have."""
    payments = [_payment(item) for item in (*clock.transactions, *clock.pending_transactions)]
    movements = [
        Movement(
            at=item.at,
            name=clean_text(item.name),
            amount=item.amount,
            currency=item.currency,
            account=item.from_,
            to=item.to,
            received=item.received,
        )
        for item in (*(clock.transfers or ()), *(clock.pending_transfers or ()))
    ]
    return History(
        payments=sorted(payments, key=_instant),
        opening=clock.opening_balances or {},
        accounts=[
            plans.account(one.key, one.name, one.currency, one.type, one.opening_balance)
            for one in clock.accounts or ()
        ],
        movements=sorted(movements, key=_instant),
    )


def _payment(item: Transaction) -> Payment:
    amount = item.amount if item.type == "INCOME" else -item.amount
    payment = Payment(
        item.at, clean_text(item.name), amount, item.currency, clean_text(item.category or ""), item.account or UNSET
    )
    if item.authorized_at is None or item.at - item.authorized_at < _MIN_PENDING:
        return payment
    return CardPayment(
        **structs.asdict(payment),
        authorized_at=item.authorized_at,
        authorized_amount=item.authorized_amount,
        authorized_name=clean_text(item.authorized_name or "") or None,
    )


def _instant(item: Payment) -> datetime:
    assert isinstance(item.at, datetime), "items of clocks have times"
    return item.at


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
    others, movements = _find_transfers(payments)
    return History(payments=others, accounts=accounts, movements=movements)


def _find_transfers(payments: Sequence[Payment]) -> tuple[list[Payment], list[Movement]]:
    """Return the payments that are no transfers, and the transfers.

    The ends of a transfer have the same amount, in different accounts, within a few days. It has the date and the name
    of the payment that leaves.
    """
    arrivals: dict[tuple[str, Decimal], list[int]] = {}
    for index, item in enumerate(payments):
        if item.amount > 0:
            arrivals.setdefault((item.currency, item.amount), []).append(index)
    movements, ends = [], set[int]()
    for index, item in enumerate(payments):
        candidates = arrivals.get((item.currency, -item.amount), [])
        for arrival in candidates:
            other = payments[arrival]
            if other.account != item.account and abs(other.day - item.day) <= _MAX_TRANSFER_DAYS:
                candidates.remove(arrival)
                ends |= {index, arrival}
                assert item.account, "payments of joined files have accounts"
                assert other.account, "payments of joined files have accounts"
                movements.append(
                    Movement(item.at, item.name, other.amount, item.currency, account=item.account, to=other.account)
                )
                break
    return [item for index, item in enumerate(payments) if index not in ends], movements
