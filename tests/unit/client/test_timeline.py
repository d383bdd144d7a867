"""The text of a clock in the report of a failed test."""

from decimal import Decimal

import pytest
from msgspec.structs import replace

from tests.unit.snapshots import ID, contribution, day, goal, snapshot, transaction
from tickover.api.clocks import Account, Transaction, Transfer
from tickover.api.expectations import CheckResult, ExpectationResult, Violation, never_below, posted
from tickover.api.fields import TransactionType
from tickover.api.reconciliation import ComparedBalance, Reconciliation
from tickover.client.timeline import format_clock, format_differences, format_violations

NOW = day(1, 11)


def tea(number: int, amount: str = "1", name: str = "Tea", type: TransactionType = "EXPENSE") -> Transaction:
    """Return a transaction on this day of January."""
    return transaction(day(1, number), name, amount, type)


def test_past_events_come_first_each_group_in_order_of_time() -> None:
    trip = goal(NOW, "Trip", "3000", contributions=[contribution(day(1, 3), "310"), contribution(day(1, 13), "0.5")])
    items = [tea(2, "1150", "Rent"), tea(4, "2800.10", "Salary", "INCOME"), tea(12, "3.50")]
    assert format_clock(snapshot(NOW, items, [trip])).splitlines() == [
        f"{ID} at 2027-01-11T00:00:00Z",
        "  ● 2027-01-02T00:00:00Z     -1150 EUR  Rent",
        "  ● 2027-01-03T00:00:00Z      +310      Trip (goal)",
        "  ● 2027-01-04T00:00:00Z  +2800.10 EUR  Salary",
        "  ○ 2027-01-12T00:00:00Z     -3.50 EUR  Tea",
        "  ○ 2027-01-13T00:00:00Z     +0.50      Trip (goal)",
    ]


@pytest.mark.parametrize(("count", "first", "last"), [(6, "day 0", "day 5"), (7, "… 1 earlier", "day 6")])
def test_only_the_last_past_events_are_listed(count: int, first: str, last: str) -> None:
    items = [tea(number + 1, name=f"day {number}") for number in range(count)]
    lines = format_clock(snapshot(NOW, items)).splitlines()[1:]
    assert (lines[0].endswith(first), lines[-1].endswith(last)) == (True, True)
    assert len([line for line in lines if "●" in line]) == 6


def test_first_violation_of_one_instant_is_in_the_summary() -> None:
    rules = [never_below("EUR", 0), posted("Rent", day(1, 4))]
    later, first, second = (Violation(day(1, at), text, Decimal(0), []) for at, text in ((4, "c"), (3, "a"), (3, "b")))
    for violations, summary in (((first, second), "a"), ((later, second), "b")):
        result = CheckResult(False, day(1, 10), [ExpectationResult(False, violation) for violation in violations])
        assert format_violations(snapshot(NOW, [tea(2)]), rules, result).startswith(f"{summary} 2 of 2")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("n" * 40, "n" * 40), ("n" * 41, "n" * 39 + "…"), ("café 🏠", "café 🏠"), ("\x1b[2J", "�[2J")],
)
def test_names_are_truncated_and_escaped(name: str, expected: str) -> None:
    assert format_clock(snapshot(NOW, [tea(2, name=name)])).splitlines()[1:] == [
        f"  ● 2027-01-02T00:00:00Z  -1 EUR  {expected}"
    ]


def transfer(number: int, amount: str, accounts: tuple[str, str], received: str | None = None) -> Transfer:
    leaves, arrives = accounts
    return Transfer(
        id=f"tfr_{number}", at=day(1, number), name="Move", from_=leaves, to=arrives, amount=Decimal(amount),
        currency="EUR", received=Decimal(received) if received else None, received_currency="USD" if received else None,
        source="SIMULATED_TEST_CLOCK",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("account", "currency", "compared"),
    [
        ("main", None, ["-20 EUR  = 80 EUR  Tea (main)", "-50 EUR  = 30 EUR  Move (main → savings)"]),
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
    spent, fee = replace(tea(2, "20"), account="main"), replace(tea(5, "3", "Fee"), account="savings")
    accounts = [("main", "EUR", Decimal(100)), ("savings", "EUR", Decimal(7)), ("dollars", "USD", Decimal(0))]
    household = replace(
        snapshot(NOW, [spent, fee]),
        accounts=[Account(key, key, code, "CHECKING", opening, opening) for key, code, opening in accounts],
        transfers=[transfer(4, "50", ("main", "savings"))],
        pending_transfers=[transfer(13, "30", ("savings", "dollars"), "40")],
    )
    balance = ComparedBalance(Decimal(1), Decimal(2))
    result = Reconciliation[Decimal](False, [], [], [], [], balance)
    lines = format_differences(household, result, NOW, account, currency).splitlines()
    assert [line[24:].strip() for line in lines if line[:3] in ("  ●", "  ○")] == compared
