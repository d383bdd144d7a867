"""Random clocks whose items are at awkward instants: authorizations, transfers, and the whole range of a clock."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Final

from msgspec import UNSET, json
from msgspec.structs import replace

from tests.support.random_bank_files import BankPayment, random_payments
from tickover.api import plans, timestamps
from tickover.api.clocks import NewClock, Snapshot
from tickover.api.ids import uuid7
from tickover.api.plans import Plan, PlannedAccount, PlannedTransaction, encode_json
from tickover.server.rpc.decode import decode
from tickover.server.schedule.clock import new_clock
from tickover.server.schedule.schedule import new_schedule
from tickover.server.schedule.view import view

_ACCOUNTS: Final = (
    plans.account("main", "Main", "EUR", "CHECKING", Decimal("0.1")),
    plans.account("card", "  Card\u2028 ", "EUR", "CREDIT_CARD", Decimal(-20)),
    plans.account("yen", "Yen", "JPY", "CASH"),
)
_STARTS: Final = (
    datetime(2027, 1, 1, tzinfo=UTC),
    datetime(2027, 1, 31, 8, tzinfo=UTC),
    datetime(2028, 2, 28, 23, 0, 0, 5, tzinfo=UTC),
    datetime(2028, 2, 29, 12, tzinfo=UTC),
)
_BEFORE: Final = (
    timedelta(), timedelta(microseconds=1), timedelta(seconds=0.5), timedelta(seconds=1), timedelta(days=2, hours=4),
    timedelta(days=2),
)  # fmt: skip


def clock_of(plan: Plan) -> Snapshot:
    """Return a new clock with the items of the plan, as a server shows it."""
    start = plan.frozen_time
    assert start
    faults, params = decode(NewClock, encode_json(replace(plan, expectations=())), start)
    assert params, faults
    schedule = new_schedule(new_clock(uuid7(start, bytes(10)), params, start), params)
    return json.decode(view(start, schedule), type=Snapshot)


def random_plan(random: Random) -> Plan:
    start = random.choice(_STARTS)
    end = timestamps.years_after(start)
    accounts = _ACCOUNTS if random.random() < 0.5 else ()
    transactions = [_transaction(random, one, start, end, accounts) for one in random_payments(random)]
    if random.random() < 0.3:
        transactions += [plans.expense("  Ends\u2028\x1f ", Decimal(1), "EUR", at) for at in (start, end)]
    transfers = []
    for one in random_payments(random) if accounts else ():
        to, received = random.choice((("card", None), ("yen", Decimal(120))))
        at = min(max(one.instant, start), end)
        transfers.append(plans.transfer(one.name, abs(one.amount), "main", to, at, received))
    opening = UNSET if accounts else {"EUR": Decimal("-0.3"), "JPY": Decimal(5)}
    return Plan(
        frozen_time=start,
        transactions=transactions,
        accounts=accounts,
        transfers=tuple(transfers),
        opening_balances=opening,
    )


def _transaction(
    random: Random, payment: BankPayment, start: datetime, end: datetime, accounts: Sequence[PlannedAccount]
) -> PlannedTransaction:
    at = min(max(payment.instant, start), end)
    keys = [account.key for account in accounts if account.currency == payment.currency]
    item = replace(
        plans.expense(payment.name, abs(payment.amount), payment.currency, at, random.choice((None, "Home"))),
        type="INCOME" if payment.amount > 0 else "EXPENSE",
        account=random.choice(keys) if keys else UNSET,
    )
    if random.random() < 0.6:
        return item
    item = replace(item, authorized_at=max(start, at - random.choice(_BEFORE)))
    if random.random() < 0.5:
        return item
    return replace(item, authorized_amount=Decimal("240.55"), authorized_name="HOTEL \u0085 AM MARKT")
