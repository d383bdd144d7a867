"""Payments of a statement on the command line."""

from datetime import UTC, date, datetime
from decimal import Decimal

from tickover.cli.load_statement import trim_history
from tickover.scenarios.statements.history import History
from tickover.scenarios.statements.statement import Payment


def test_opening_balance_includes_the_payments_that_are_ignored() -> None:
    payments = [
        Payment(date(2027, 1, 1), "Rent", Decimal("-40.50"), "EUR"),
        Payment(date(2027, 1, 2), "Rent", Decimal(-7), "USD"),
        Payment(date(2027, 2, 1), "Rent", Decimal(-40), "EUR"),
    ]
    history = History(payments=payments, opening={"EUR": Decimal(100)})
    kept = trim_history(history, datetime(2027, 2, 1, 9, tzinfo=UTC))
    assert (kept.payments, kept.opening) == (payments[2:], {"EUR": Decimal("59.50")})
    assert trim_history(history, None) == history
