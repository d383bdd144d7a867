"""The JSON of a schedule at an instant: encoded as a whole, or joined from pieces, which are never cut or changed.

Both are the same, byte for byte. Pieces take longer to encode, and a schedule with pieces is encoded much faster.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Final, Literal, NamedTuple

from msgspec import Struct, field, json
from msgspec.structs import astuple

from tickover.api.fields import AccountType, TransactionType
from tickover.api.timestamps import Instant
from tickover.server.schedule.items import (
    StoredAccount,
    StoredContribution,
    StoredTransaction,
    StoredTransfer,
    id_prefix,
)
from tickover.server.schedule.money import Amount, Savings, compute_progress, to_common_unit, to_number
from tickover.server.schedule.schedule import Schedule

Source = Literal["SIMULATED_TEST_CLOCK"]
_SOURCE: Final = "SIMULATED_TEST_CLOCK"
ENCODER: Final = json.Encoder()
_encode: Final = ENCODER.encode


class TransactionJson(Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """A transaction as responses have it."""

    id: str
    at: Instant
    name: str
    amount: Amount
    currency: str
    type: TransactionType
    category: str | None = None
    account: str | None = None
    authorized_at: Instant | None = None
    authorized_amount: Amount | None = None
    authorized_name: str | None = None
    source: Source | None = None
    """Always there."""


class TransferJson(Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """A transfer as responses have it."""

    id: str
    at: Instant
    name: str
    from_: str = field(name="from")
    to: str
    amount: Amount
    currency: str
    received: Amount | None = None
    received_currency: str | None = None
    source: Source | None = None
    """Always there."""


class ContributionJson(Struct, frozen=True, gc=False):
    """A contribution as responses have it."""

    id: str
    at: Instant
    amount: Amount


def transaction_json(id: str, item: StoredTransaction) -> TransactionJson:
    return TransactionJson(
        id,
        item.at,
        item.name,
        item.amount,
        item.currency,
        item.type,
        item.category,
        item.account,
        item.authorized_at,
        item.authorized_amount,
        item.authorized_name,
        _SOURCE,
    )


def transfer_json(id: str, item: StoredTransfer) -> TransferJson:
    return TransferJson(
        id,
        item.at,
        item.name,
        item.from_,
        item.to,
        item.amount,
        item.currency,
        item.received,
        item.received_currency,
        _SOURCE,
    )


def contributions_json(id_prefix: str, items: Sequence[StoredContribution]) -> list[ContributionJson]:
    return [ContributionJson(f"{id_prefix}{item.number}", item.at, item.amount) for item in items]


class GoalJson(Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """A goal as responses have it."""

    id: str
    name: str
    target_amount: Amount
    current_amount: Amount
    remaining_amount: Amount
    progress_percent: Amount
    contributions: Sequence[ContributionJson]
    upcoming_contributions: Sequence[ContributionJson]
    initial_amount: Amount | None = None


class AccountJson(Struct, frozen=True, rename="camel", gc=False):
    """An account as responses have it."""

    key: str
    name: str
    currency: str
    type: AccountType
    opening_balance: Amount
    balance: Amount


def encode_items(schedule: Schedule, at: Instant, *, details: bool) -> list[bytes]:
    """Return the members of a clock from its accounts on, encoded as a whole."""
    encoded: list[bytes] = []
    if schedule.accounts:
        prefix, transfers = id_prefix("tfr", schedule.key), schedule.transfers.all
        encoded_transfers = [transfer_json(f"{prefix}{item.number}", item) for item in transfers]
        accounts = [
            _account_json(account, balances.at(at))
            for account, balances in zip(schedule.accounts, _account_balances(schedule), strict=True)
        ]
        count = schedule.transfers.count_until(at)
        encoded += (b',"accounts":', _encode(accounts), b',"transfers":', _encode(encoded_transfers[:count]))
        encoded += (b',"pendingTransfers":', _encode(encoded_transfers[count:]))
    prefix = id_prefix("txn", schedule.key)
    transactions = [transaction_json(f"{prefix}{item.number}", item) for item in schedule.transactions.all]
    goals = [_goal_json(schedule, index, at, details) for index in range(len(schedule.goals))]
    count = schedule.transactions.count_until(at)
    encoded += (b',"transactions":', _encode(transactions[:count]))
    encoded += (b',"pendingTransactions":', _encode(transactions[count:]), b',"goals":', _encode(goals), b"}")
    return encoded


def _goal_json(schedule: Schedule, index: int, at: Instant, details: bool) -> GoalJson:
    goal, prefix = schedule.goals[index], schedule.contribution_prefix(index)
    contributions = contributions_json(prefix, goal.contributions.all)
    count = goal.contributions.count_until(at)
    posted, upcoming = (contributions[:count], contributions[count:]) if count else ([], contributions)
    progress = compute_progress(goal.target_amount, [goal.initial_amount, *[item.amount for item in posted]])
    return GoalJson(
        schedule.goal_id(index),
        goal.name,
        goal.target_amount,
        *progress,
        posted,
        upcoming,
        goal.initial_amount if details else None,
    )


def _account_json(account: StoredAccount, balance: Amount) -> AccountJson:
    return AccountJson(account.key, account.name, account.currency, account.type, account.opening_balance, balance)


class _AccountBalances(NamedTuple):
    instants: Sequence[Instant]
    """Of the account's transactions and transfers."""
    unit: int
    sums: Sequence[int]
    """The opening balance, and the balance after each of them, as integers of 1/unit."""

    def at(self, at: Instant) -> Amount:
        return to_number(self.sums[bisect_right(self.instants, at)], self.unit)


def _account_balances(schedule: Schedule) -> list[_AccountBalances]:
    if not schedule.accounts:
        return []
    changes: dict[str, list[tuple[Instant, Amount]]] = {account.key: [] for account in schedule.accounts}
    for transaction in schedule.transactions.all:
        assert transaction.account is not None, "a clock with accounts assigns one to each transaction"
        changes[transaction.account].append((transaction.at, transaction.sign * transaction.amount))
    for transfer in schedule.transfers.all:
        changes[transfer.from_].append((transfer.at, -transfer.amount))
        changes[transfer.to].append((transfer.at, transfer.arriving))
    balances = []
    for account in schedule.accounts:
        ordered = sorted(changes[account.key], key=itemgetter(0))
        counts, unit = to_common_unit([account.opening_balance, *(amount for _, amount in ordered)])
        balances.append(_AccountBalances([at for at, _ in ordered], unit, list(accumulate(counts))))
    return balances


class _EncodedItems(NamedTuple):
    instants: Sequence[Instant]
    pieces: Sequence[bytes]

    def split(self, at: Instant) -> tuple[bytes, bytes]:
        """Return the items until an instant and the rest, each joined by commas."""
        count = bisect_right(self.instants, at)
        return b",".join(self.pieces[:count]), b",".join(self.pieces[count:])


class _EncodedGoal(NamedTuple):
    head: bytes
    """The members that are the same at every instant, and the name of the current amount."""
    savings: Savings
    contributions: _EncodedItems


class Pieces:
    """The JSON of each part of a schedule, for a schedule of which there are several views."""

    def __init__(self, schedule: Schedule) -> None:
        key = schedule.key
        prefix, transactions = id_prefix("txn", key), schedule.transactions.all
        self._transactions = _EncodedItems(
            [item.at for item in transactions],
            _encode_each([transaction_json(f"{prefix}{item.number}", item) for item in transactions]),
        )
        prefix, transfers = id_prefix("tfr", key), schedule.transfers.all
        self._transfers = _EncodedItems(
            [item.at for item in transfers],
            _encode_each([transfer_json(f"{prefix}{item.number}", item) for item in transfers]),
        )
        self._goals = [_encode_goal(schedule, index) for index in range(len(schedule.goals))]
        self._accounts = [
            (b'{"key":%b,"name":%b,"currency":%b,"type":%b,"openingBalance":%b,"balance":' % members, balances)
            for members, balances in zip(
                [tuple(map(_encode, astuple(account))) for account in schedule.accounts],
                _account_balances(schedule),
                strict=True,
            )
        ]

    def select(self, at: Instant, *, details: bool) -> list[bytes]:
        """Return the members of a clock from its accounts on, in pieces."""
        selected: list[bytes] = []
        if self._accounts:
            accounts = b",".join([b"%b%b}" % (head, _encode(balances.at(at))) for head, balances in self._accounts])
            posted, pending = self._transfers.split(at)
            selected += (b',"accounts":[', accounts, b'],"transfers":[', posted, b'],"pendingTransfers":[', pending)
            selected.append(b"]")
        posted, pending = self._transactions.split(at)
        selected += (b',"transactions":[', posted, b'],"pendingTransactions":[', pending, b'],"goals":[')
        comma = b""
        for head, savings, contributions in self._goals:
            count = bisect_right(contributions.instants, at)
            current, remaining, percent = savings.progress(count)
            posted, pending = b",".join(contributions.pieces[:count]), b",".join(contributions.pieces[count:])
            selected += (comma, head, _encode(current), b',"remainingAmount":', _encode(remaining))
            selected += (b',"progressPercent":', _encode(percent), b',"contributions":[', posted)
            selected += (b'],"upcomingContributions":[', pending)
            selected.append(b'],"initialAmount":%b}' % _encode(savings.initial_amount) if details else b"]}")
            comma = b","
        selected.append(b"]}")
        return selected


def _encode_goal(schedule: Schedule, index: int) -> _EncodedGoal:
    goal, prefix = schedule.goals[index], schedule.contribution_prefix(index)
    members = _encode(schedule.goal_id(index)), _encode(goal.name), _encode(goal.target_amount)
    items = goal.contributions.all
    pieces = _encode_each(contributions_json(prefix, items))
    return _EncodedGoal(
        b'{"id":%b,"name":%b,"targetAmount":%b,"currentAmount":' % members,
        goal.savings,
        _EncodedItems([item.at for item in items], pieces),
    )


def _encode_each(items: Sequence[Struct]) -> list[bytes]:
    """Return each item as JSON, which escapes line breaks."""
    return ENCODER.encode_lines(items).split(b"\n")[:-1]
