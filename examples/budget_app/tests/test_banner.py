"""The banner, tested with clocks that advance by weeks and months."""

from decimal import Decimal

from budget import Budget

from tickover.client import expense, income
from tickover.pytest_plugin import ClockFactory

SAVINGS = income("Savings", 900, "EUR", "2027-01-01T00:00:00Z")
RENT = expense("Rent", 1150, "EUR", "2027-01-03T08:00:00Z")
SALARY = income("Salary", 2800, "EUR", "2027-01-25T08:00:00Z")


def test_banner_warns_before_the_money_runs_out(budget: Budget, clock: ClockFactory) -> None:
    january = clock(transactions=[SAVINGS, RENT, SALARY])
    assert budget.banner(january.id) == "Rent on 3 January will leave you 250.00 short."

    january.advance(to="2027-01-25T08:00:00Z")
    assert budget.banner(january.id) == "You can spend 2,550.00."


def test_balance_is_exact_to_the_cent(budget: Budget, clock: ClockFactory) -> None:
    coffees = [expense("Coffee", Decimal("0.10"), "EUR", "2027-01-02T08:00:00Z") for _ in range(3)]
    week = clock(transactions=[SAVINGS, *coffees])
    week.advance(weeks=1)
    assert budget.balance(week.id) == Decimal("899.70")


def test_steady_income_causes_no_warning(budget: Budget, clock: ClockFactory) -> None:
    account = clock("salary-and-rent", start="2027-01-01T00:00:00Z")
    while account.next_at:
        assert budget.banner(account.id).startswith("You can spend")
        account.advance(weeks=1)
