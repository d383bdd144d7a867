"""The text of a clock in the report of a failed test."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from msgspec.structs import replace

from tickover.api.clocks import Account, Contribution, Goal, Snapshot, Transaction, Transfer
from tickover.api.expectations import CheckResult, ExpectationResult, Violation, never_below, posted
from tickover.api.fields import TransactionType
from tickover.api.reconciliation import ComparedBalance, Reconciliation
from tickover.client.timeline import format_clock, format_differences, format_violations

NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    return NEW_YEAR + timedelta(days=number)


def transaction(
    number: int, amount: str, name: str = "Tea", type: TransactionType = "EXPENSE", category: str | None = None
) -> Transaction:
    return Transaction(
        id=f"transaction_{number}", at=day(number), name=name, amount=Decimal(amount), currency="EUR", type=type,
        source="SIMULATED_TEST_CLOCK", category=category,
    )  # fmt: skip


def clock(
    posted: Sequence[Transaction] = (), pending: Sequence[Transaction] = (), goals: Sequence[Goal] = ()
) -> Snapshot:
    return Snapshot(
        id="clock_1", status="READY", frozen_time=day(10), max_time=day(3652), expires_at=day(7),
        transactions=posted, pending_transactions=pending, goals=goals,
    )  # fmt: skip


def test_past_events_come_first_each_group_in_order_of_time() -> None:
    trip = Goal(
        id="goal_1", name="Trip", target_amount=Decimal(3000), current_amount=Decimal(310),
        remaining_amount=Decimal(2690), progress_percent=Decimal("10.33"),
        contributions=[Contribution("contribution_1", day(2), Decimal(310))],
        upcoming_contributions=[Contribution("contribution_2", day(12), Decimal("0.5"))],
    )  # fmt: skip
    posted = [transaction(1, "1150", "Rent"), transaction(3, "2800.10", "Salary", "INCOME")]
    assert format_clock(clock(posted, [transaction(11, "3.50")], [trip])).splitlines() == [
        "clock_1 at 2027-01-11T00:00:00Z",
        "  ● 2027-01-02T00:00:00Z     -1150 EUR  Rent",
        "  ● 2027-01-03T00:00:00Z      +310      Trip (goal)",
        "  ● 2027-01-04T00:00:00Z  +2800.10 EUR  Salary",
        "  ○ 2027-01-12T00:00:00Z     -3.50 EUR  Tea",
        "  ○ 2027-01-13T00:00:00Z     +0.50      Trip (goal)",
    ]


@pytest.mark.parametrize(("count", "first", "last"), [(6, "day 0", "day 5"), (7, "… 1 earlier", "day 6")])
def test_only_the_last_past_events_are_listed(count: int, first: str, last: str) -> None:
    lines = format_clock(clock([transaction(number, "1", f"day {number}") for number in range(count)])).splitlines()[1:]
    assert (lines[0].endswith(first), lines[-1].endswith(last)) == (True, True)
    assert len([line for line in lines if "●" in line]) == 6


def test_first_violation_of_one_instant_is_in_the_summary() -> None:
    rules = [never_below("EUR", 0), posted("Rent", day(3))]
    later, first, second = (Violation(day(at), text, Decimal(0), []) for at, text in ((4, "c"), (3, "a"), (3, "b")))
    for violations, summary in (((first, second), "a"), ((later, second), "b")):
        result = CheckResult(False, day(9), [ExpectationResult(False, violation) for violation in violations])
        assert format_violations(clock([transaction(1, "1")]), rules, result).startswith(f"{summary} 2 of 2")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("n" * 40, "n" * 40), ("n" * 41, "n" * 39 + "…"), ("café 🏠", "café 🏠"), ("\x1b[2J", "�[2J")],
)
def test_names_are_truncated_and_escaped(name: str, expected: str) -> None:
    assert format_clock(clock([transaction(1, "1", name)])).splitlines()[1:] == [
        f"  ● 2027-01-02T00:00:00Z  -1 EUR  {expected}"
    ]


def transfer(number: int, amount: str, accounts: tuple[str, str], received: str | None = None) -> Transfer:
    leaves, arrives = accounts
    return Transfer(
        id=f"tfr_{number}", at=day(number), name="Move", from_=leaves, to=arrives, amount=Decimal(amount),
        currency="EUR", received=Decimal(received) if received else None, received_currency="USD" if received else None,
        source="SIMULATED_TEST_CLOCK",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("account", "currency", "compared"),
    [
        ("main", None, ["-20 EUR  = 80 EUR  Tea (main)", "-50 EUR  = 30 EUR  Move (main → savings)"]),
        (
            "savings",
            None,
            [
                "+50 EUR  = 57 EUR  Move (main → savings)",
                "-3 EUR  = 54 EUR  Fee (savings)",
                "-30 EUR  = 24 EUR  Move (savings → dollars)",
            ],
        ),
        ("dollars", None, ["+40 USD  = 40 USD  Move (savings → dollars)"]),
        (
            None,
            "EUR",
            [
                "-20 EUR  = 87 EUR  Tea (main)",
                "-3 EUR  = 84 EUR  Fee (savings)",
                "-30 EUR  = 54 EUR  Move (savings → dollars)",
            ],
        ),
    ],
)
def test_difference_is_among_what_was_compared(account: str | None, currency: str | None, compared: list[str]) -> None:
    tea, fee = replace(transaction(1, "20"), account="main"), replace(transaction(4, "3", "Fee"), account="savings")
    accounts = [("main", "EUR", Decimal(100)), ("savings", "EUR", Decimal(7)), ("dollars", "USD", Decimal(0))]
    household = replace(
        clock([tea, fee]),
        accounts=[Account(key, key, code, "CHECKING", opening, opening) for key, code, opening in accounts],
        transfers=[transfer(3, "50", ("main", "savings"))],
        pending_transfers=[transfer(12, "30", ("savings", "dollars"), "40")],
    )
    balance = ComparedBalance(Decimal(1), Decimal(2))
    result = Reconciliation[Decimal](False, [], [], [], [], balance)
    lines = format_differences(household, result, day(10), account, currency).splitlines()
    assert [line[24:].strip() for line in lines if line[:3] in ("  ●", "  ○")] == compared
