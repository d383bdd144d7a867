"""Fixtures of this project, built from Tickover's fixtures."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from budget import Budget

from tickover.client import expense, income
from tickover.pytest_plugin import Bank, BankFactory, ClockFactory, Webhooks

PAYMENTS = [
    payment
    for month in ("2027-01", "2027-02", "2027-03")
    for payment in (
        expense("Rent", 900, "EUR", f"{month}-03T00:30:00Z"),
        # Two payments that differ only in their IDs.
        *(expense("Coffee", 3.2, "EUR", f"{month}-05T08:00:00Z") for _ in range(2)),
        # The bank books the final amount two days after the restaurant has authorized another.
        expense("Dinner", 48.75, "EUR", f"{month}-14", authorized_at=f"{month}-12T20:00:00Z", authorized_amount=41.5),
        income("Refund", 19.99, "EUR", f"{month}-20T12:00:00Z"),
        income("Salary", 2800, "EUR", f"{month}-25T23:30:00Z"),
    )
]


@pytest.fixture
def bank(bank: BankFactory, clock: ClockFactory) -> Bank:
    """A bank on 1 January, before three months of payments."""
    return bank(clock(frozen_time="2027-01-01", opening_balances={"EUR": 1000}, transactions=PAYMENTS))


@pytest.fixture
def app(bank: Bank, webhooks: Webhooks, tmp_path: Path) -> Iterator[Budget]:
    """The app, connected to that bank, with a budget of 1,000 a month."""
    budget = Budget(tmp_path / "budget.db", bank.url, 100_000, webhooks.secret)
    with closing(budget.database):
        budget.connect(bank.public_token)
        yield budget
