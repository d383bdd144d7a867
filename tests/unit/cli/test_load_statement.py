"""Payments of a statement on the command line."""

from datetime import UTC, date, datetime
from decimal import Decimal

from tickover.cli.load_statement import trim_payments
from tickover.scenarios.statements.statement import Payment


def test_opening_balance_includes_the_payments_that_are_ignored() -> None:
    payments = [
        Payment(date(2027, 1, 1), "Opening balance", Decimal(100), "EUR"),
        Payment(date(2027, 1, 1), "Rent", Decimal("-40.50"), "EUR"),
        Payment(date(2027, 1, 2), "Rent", Decimal(-7), "USD"),
        Payment(date(2027, 2, 1), "Rent", Decimal(-40), "EUR"),
    ]
    kept = trim_payments(payments, datetime(2027, 2, 1, 9, tzinfo=UTC))
    assert [(one.day, one.name, one.amount, one.currency) for one in kept] == [
        (date(2027, 2, 1), "Opening balance", Decimal("59.50"), "EUR"),
        (date(2027, 2, 1), "Rent", Decimal(-40), "EUR"),
    ]
    assert trim_payments(payments, None) == payments
