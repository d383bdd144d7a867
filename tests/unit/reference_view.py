"""A view computed from the parameters in a simple way. The server's view must be the same, byte for byte."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET, json, to_builtins

from tickover.api import ids
from tickover.api.arguments import int_if_whole
from tickover.api.clocks import ContributionEntry, GoalEntry, NewClock, TransactionEntry
from tickover.api.timestamps import Instant
from tickover.server.schedule.accounts import AccountHead, head_of, members_of, with_accounts
from tickover.server.schedule.clocks import Clock
from tickover.server.schedule.items import SOURCE, TransferMembers
from tickover.server.schedule.money import Amount, compute_savings, to_fraction


def reference_view(clock: Clock, params: NewClock, frozen_time: Instant) -> bytes:
    """Return what the view of a new schedule must be."""
    key = clock.key.hex()
    heads = [head_of(account) for account in params.accounts]
    visible, pending = _reference_items("txn", key, with_accounts(params.transactions, heads), frozen_time)
    members: dict[str, Any] = {
        "id": ids.write("clock", clock.key),
        "status": "READY",
        "frozenTime": frozen_time,
        "maxTime": clock.max_time,
        "expiresAt": ids.expires_at(clock.key),
    }
    if params.opening_balances is not UNSET:
        members["openingBalances"] = _whole(params.opening_balances)
    if params.expectations is not UNSET:
        members["expectations"] = _whole(to_builtins(params.expectations))
    if heads:
        currencies = {head.key: head.currency for head in heads}
        transfers = [members_of(transfer, currencies) for transfer in params.transfers]
        members["accounts"] = [
            to_builtins(head) | {"balance": _reference_balance(head, visible, transfers, frozen_time)} for head in heads
        ]
        posted, upcoming = _reference_items("tfr", key, transfers, frozen_time)
        members |= {"transfers": posted, "pendingTransfers": upcoming}
    goals = [_reference_goal(f"{key}_{index}", goal, frozen_time) for index, goal in enumerate(params.goals)]
    return json.encode(members | {"transactions": visible, "pendingTransactions": pending, "goals": goals})


def _reference_balance(
    head: AccountHead, visible: Sequence[Mapping[str, Any]], transfers: Sequence[TransferMembers], at: Instant
) -> Amount:
    """Add up the decimal texts of all amounts."""
    balance = to_fraction(head.opening_balance)
    for item in visible:
        if item["account"] == head.key:
            balance += to_fraction(item["amount"]) * (1 if item["type"] == "INCOME" else -1)
    for transfer in transfers:
        if transfer.at <= at:
            balance -= to_fraction(transfer.amount) if transfer.from_ == head.key else 0
            balance += to_fraction(transfer.arriving) if transfer.to == head.key else 0
    return int_if_whole(float(balance))


def _whole(value: Any) -> Any:
    """Return the JSON value with whole numbers as ints."""
    if isinstance(value, dict):
        return {name: _whole(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_whole(member) for member in value]
    return int_if_whole(value)


def _reference_goal(suffix: str, goal: GoalEntry[Amount, Amount], frozen_time: Instant) -> dict[str, Any]:
    posted, upcoming = _reference_items("ctb", suffix, goal.contributions, frozen_time)
    savings = compute_savings(goal.target_amount, goal.initial_amount, [item["amount"] for item in posted])
    return {
        "id": f"goal_{suffix}",
        "name": goal.name,
        "targetAmount": int_if_whole(goal.target_amount),
        **to_builtins(savings.progress(len(posted))),
        "contributions": posted,
        "upcomingContributions": upcoming,
    }


def _reference_items(
    prefix: str,
    suffix: str,
    items: Sequence[TransactionEntry[Amount] | ContributionEntry[Amount] | TransferMembers],
    frozen_time: Instant,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the items at or before `frozen_time`, and the items after it."""
    passed: list[dict[str, Any]] = []
    remaining: list[dict[str, Any]] = []
    source = {} if prefix == "ctb" else {"source": SOURCE}
    for index, item in sorted(enumerate(items), key=lambda numbered: numbered[1].at):
        members = {"id": f"{prefix}_{suffix}_{index}", **_whole(to_builtins(item)), **source}
        (passed if item.at <= frozen_time else remaining).append(members)
    return passed, remaining
