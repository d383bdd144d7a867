"""Amended schedules: they show what one creation with the same items would show."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tickover.api.clocks import (
    AddedContributionEntry,
    AddEntry,
    ContributionEntry,
    GoalEntry,
    NewClock,
    TransactionEntry,
)
from tickover.api.errors import Reason, Rejection
from tickover.api.ids import uuid7
from tickover.api.limits import MAX_CLOCK_CURRENCIES
from tickover.api.timestamps import Instant, years_after
from tickover.server.schedule.amend_schedule import NextSchedule, amend
from tickover.server.schedule.clock import Clock
from tickover.server.schedule.schedule import Schedule, decode_stored, encode_stored, fork_schedule, new_schedule
from tickover.server.schedule.view import view

_NOW = datetime(2027, 1, 1, 12, tzinfo=UTC)
_START = datetime(2027, 3, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_MICROSECOND = timedelta(microseconds=1)
_KEY = uuid7(_NOW, bytes(10))
_HEX = _KEY.hex()
_CLOCK = Clock(_KEY, _START, _START, years_after(_START))

_instants = st.sampled_from([_START + days * _DAY for days in range(4)])
_amounts = st.sampled_from([1, 0.1, 0.2, 2.5, 1e-9, 10**9, 1e9, 3.0])
_transactions = st.lists(
    st.builds(
        TransactionEntry, _instants, st.sampled_from(["Rent", '"amount":1.0}\n']), _amounts, st.just("EUR"),
        st.just("INCOME"),
    ),
    max_size=4,
)  # fmt: skip
_contributions = st.lists(st.builds(ContributionEntry, _instants, _amounts), max_size=4)
_goals = st.lists(
    st.builds(GoalEntry, st.just("Trip"), st.just(10**9), st.sampled_from([0, 0.3]), _contributions), max_size=3
)


def _to(goal: int, items: Sequence[ContributionEntry[Any]]) -> list[AddedContributionEntry]:
    return [AddedContributionEntry(item.at, item.amount, goal_id=f"goal_{_HEX}_{goal}") for item in items]


def _amend(
    schedule: Schedule, *, at: Instant = _START, add: AddEntry | None = None, cancel: Sequence[str] = ()
) -> NextSchedule:
    clock = Clock(_KEY, _START, at, _CLOCK.max_time)
    return amend(clock, schedule, add or AddEntry(), cancel)


def _stored(schedule: Schedule) -> Schedule:
    """Return the schedule as the store returns it."""
    return decode_stored(encode_stored(schedule))


@given(_transactions, _goals, _transactions, _goals, _contributions, _instants)
def test_added_items_are_shown_as_if_the_clock_was_created_with_them(
    transactions: list[TransactionEntry[Any]],
    goals: list[GoalEntry[Any, Any]],
    more: list[TransactionEntry[Any]],
    more_goals: list[GoalEntry[Any, Any]],
    contributions: list[ContributionEntry[Any]],
    at: Instant,
) -> None:
    created = new_schedule(_CLOCK, NewClock(transactions=transactions, goals=goals))
    add = AddEntry(more, more_goals, _to(0, contributions) if goals else [])
    amended = _stored(_amend(_stored(created), add=add).schedule)
    if goals:
        first = goals[0]
        grown = GoalEntry(first.name, first.target_amount, first.initial_amount, [*first.contributions, *contributions])
        goals = [grown, *goals[1:]]
    whole = NewClock(transactions=transactions + more, goals=goals + more_goals)
    assert view(at, amended) == view(at, new_schedule(_CLOCK, whole))


@given(_transactions, _contributions, _instants, st.sets(st.integers(0, 3)), st.sets(st.integers(0, 3)))
def test_cancelled_items_disappear_and_the_others_stay(
    transactions: list[TransactionEntry[Any]],
    contributions: list[ContributionEntry[Any]],
    at: Instant,
    dropped: set[int],
    dropped_contributions: set[int],
) -> None:
    goals = [GoalEntry("Trip", 10**9, 0.1, contributions)]
    created = new_schedule(_CLOCK, NewClock(transactions=transactions, goals=goals))
    # A clock before its start: everything is pending.
    before = _START - _DAY
    cancel = [f"txn_{_HEX}_{number}" for number in dropped if number < len(transactions)]
    cancel += [f"ctb_{_HEX}_0_{number}" for number in dropped_contributions if number < len(contributions)]
    amended = _amend(created, at=before, cancel=cancel).schedule
    expected, seen = (msgspec.json.decode(view(at, one)) for one in (created, amended))
    for items in ("transactions", "pendingTransactions"):
        assert seen[items] == [item for item in expected[items] if item["id"] not in cancel]
    [goal], [was] = seen["goals"], expected["goals"]
    for items in ("contributions", "upcomingContributions"):
        assert goal[items] == [item for item in was[items] if item["id"] not in cancel]
    current = Fraction(Decimal("0.1")) + sum(Fraction(Decimal(str(item["amount"]))) for item in goal["contributions"])
    assert goal["currentAmount"] == float(current)


def _rent(number: int, count: int = 1) -> list[TransactionEntry[Any]]:
    return [TransactionEntry(_START + number * _DAY, "Rent", 1, "EUR", "EXPENSE")] * count


def _ids(schedule: Schedule) -> list[str]:
    clock = msgspec.json.decode(view(_START, schedule))
    items = clock["transactions"] + clock["pendingTransactions"]
    items += [item for goal in clock["goals"] for item in goal["contributions"] + goal["upcomingContributions"]]
    return [item["id"].replace(_HEX, "k") for item in items]


def test_ids_are_never_used_again() -> None:
    goals = [GoalEntry("Trip", 100, 0, [ContributionEntry(_START + _DAY, 1)])]
    schedule = new_schedule(_CLOCK, NewClock(transactions=_rent(1, 2), goals=goals))
    more = AddEntry(_rent(2), [], _to(0, [ContributionEntry(_START + _DAY, 2)]))
    for _ in range(2):
        last = [id.replace("k", _HEX) for id in _ids(schedule) if id in ("txn_k_1", "ctb_k_0_0")]
        schedule = _stored(_amend(schedule, add=more, cancel=last).schedule)
    assert _ids(schedule) == ["txn_k_0", "txn_k_2", "txn_k_3", "ctb_k_0_1", "ctb_k_0_2"]
    # A fork continues the numbers.
    fork = Clock(uuid7(_NOW, bytes(9) + b"1"), _START, _START, _CLOCK.max_time)
    forked = fork_schedule(schedule, fork)
    assert forked.transactions.next_number == 4
    assert forked.goals[0].contributions.next_number == 3


@pytest.mark.parametrize(
    ("add", "cancel", "valid_until"),
    [
        ([_START + 2 * _DAY, _START + _DAY], [], _START + _DAY),
        ([], [1, 0], _START + _DAY - _MICROSECOND),
        ([_START], [0], _START),
        ([], [], _CLOCK.max_time),
    ],
)
def test_amendment_is_valid_until_its_earliest_item(
    add: list[Instant], cancel: list[int], valid_until: Instant
) -> None:
    schedule = new_schedule(_CLOCK, NewClock(transactions=_rent(1) + _rent(3)))
    added = [TransactionEntry(at, "Tea", 1, "EUR", "EXPENSE") for at in add]
    ids = [f"txn_{_HEX}_{number}" for number in cancel]
    assert _amend(schedule, add=AddEntry(added), cancel=ids).valid_until == valid_until


@pytest.mark.parametrize("late", ["goals", "contributions", "transactions"])
def test_contributions_and_authorizations_limit_the_validity_too(late: str) -> None:
    schedule = new_schedule(_CLOCK, NewClock(goals=[GoalEntry("Trip", 1)]))
    items = [ContributionEntry(_START + _DAY, 1)]
    authorized = [msgspec.structs.replace(item, authorized_at=_START + _DAY) for item in _rent(3)]
    lists: dict[str, Any] = {
        "goals": [GoalEntry("Car", 1, 0, items)],
        "contributions": _to(0, items),
        "transactions": authorized,
    }
    assert _amend(schedule, add=AddEntry(**{late: lists[late]})).valid_until == _START + _DAY


# Faults


def _rejected(schedule: Schedule, **amendment: Any) -> Rejection:
    with pytest.raises(Rejection) as raised:
        _amend(schedule, **amendment)
    return raised.value


def _faults(schedule: Schedule, **amendment: Any) -> list[tuple[str, str]]:
    rejection = _rejected(schedule, **amendment)
    assert rejection.reason is Reason.INVALID_PARAMS
    return [(fault.path, fault.rule) for fault in rejection.faults]


_SAMPLE = NewClock(
    transactions=_rent(1) + _rent(3), goals=[GoalEntry("Trip", 100, 0, [ContributionEntry(_START + 2 * _DAY, 1)])]
)
_SCHEDULE = new_schedule(_CLOCK, _SAMPLE)


def test_all_faults_are_reported_with_their_paths() -> None:
    past, future = _START + _DAY - _MICROSECOND, _CLOCK.max_time + _MICROSECOND
    add = AddEntry(
        [*_rent(2), TransactionEntry(past, "Tea", 1, "EUR", "EXPENSE")],
        [GoalEntry("Car", 1, 0, [ContributionEntry(future, 1)])],
        [
            AddedContributionEntry(past, 1, goal_id=f"goal_{_HEX}_0"),
            AddedContributionEntry(_START + _DAY, 1, goal_id="x"),
        ],
    )
    posted, pending = f"txn_{_HEX}_0", f"txn_{_HEX}_1"
    cancel = [posted, pending, pending, f"goal_{_HEX}_0", f"txn_{_HEX}_2", f"txn_{'0' * 32}_0", ""]
    assert _faults(_SCHEDULE, at=_START + _DAY, add=add, cancel=cancel) == [
        ("add.transactions[1].at", "range"),
        ("add.goals[0].contributions[0].at", "range"),
        ("add.contributions[0].at", "range"),
        ("add.contributions[1].goalId", "unknown"),
        ("cancel[2]", "unique"),
        ("cancel[3]", "goal"),
        ("cancel[4]", "unknown"),
        ("cancel[5]", "unknown"),
        ("cancel[6]", "unknown"),
        ("cancel[0]", "pending"),
    ]


@pytest.mark.parametrize("at", [_START + 2 * _DAY, _START + 3 * _DAY])
def test_items_that_have_happened_cannot_be_cancelled(at: Instant) -> None:
    ids = [f"txn_{_HEX}_1", f"ctb_{_HEX}_0_0", f"txn_{_HEX}_0"]
    rejection = _rejected(_SCHEDULE, at=at, cancel=ids)
    assert rejection.reason is Reason.ITEM_NOT_PENDING
    happened = [f"txn_{_HEX}_0", f"ctb_{_HEX}_0_0"]
    assert set(rejection.details["itemIds"]) == set(happened if at < _START + 3 * _DAY else ids)


# Totals. tests/rpc/test_amend_test_clock.py grows a clock up to the number of its items.


def _in_currencies(numbers: range) -> list[TransactionEntry[Any]]:
    """Return a transaction in each of these currencies. Their names and categories look like other currencies."""
    odd = ',"currency":"ZZZ"'
    return [
        TransactionEntry(_START + _DAY, odd, 1, f"A{chr(65 + number // 26)}{chr(65 + number % 26)}", "EXPENSE", odd)
        for number in numbers
    ]


def test_currencies_are_limited() -> None:
    schedule = new_schedule(_CLOCK, NewClock(transactions=_in_currencies(range(MAX_CLOCK_CURRENCIES - 1))))
    full = _amend(schedule, add=AddEntry(_in_currencies(range(MAX_CLOCK_CURRENCIES)))).schedule
    more = _in_currencies(range(MAX_CLOCK_CURRENCIES, MAX_CLOCK_CURRENCIES + 1))
    assert _faults(full, add=AddEntry(more)) == [("add.transactions", "count")]
    # The last currency has one transaction, and the others two.
    _amend(full, add=AddEntry(more), cancel=[f"txn_{_HEX}_{2 * MAX_CLOCK_CURRENCIES - 2}"])
    assert _faults(full, add=AddEntry(more), cancel=[f"txn_{_HEX}_0"]) == [("add.transactions", "count")]


def test_currencies_of_withdrawn_payments_count() -> None:
    payments = [replace(item, authorized_at=_START) for item in _in_currencies(range(MAX_CLOCK_CURRENCIES))]
    schedule = new_schedule(_CLOCK, NewClock(transactions=payments))
    first, last = (f"txn_{_HEX}_{number}" for number in (0, MAX_CLOCK_CURRENCIES - 1))
    more = AddEntry(_in_currencies(range(MAX_CLOCK_CURRENCIES, MAX_CLOCK_CURRENCIES + 1)))
    assert _faults(schedule, add=more, cancel=[first]) == [("add.transactions", "count")]
    withdrawn = _amend(schedule, cancel=[first, last]).schedule
    assert _faults(withdrawn, add=more) == [("add.transactions", "count")]
    _amend(withdrawn, add=AddEntry(payments[:1]))
