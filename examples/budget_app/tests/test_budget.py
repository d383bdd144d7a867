"""The app over three months: its books equal those of the bank, and its rule uses the bank's time."""

import pytest
from budget import Budget

from tickover.client import ALL_QUIRKS
from tickover.pytest_plugin import Bank, Webhooks

BOOKS = "SELECT id, date, name, cents / 100.0 AS amount FROM payments"


def test_books_are_right_for_three_months(app: Budget, bank: Bank) -> None:
    while bank.clock.next_at:
        bank.clock.advance(days=4)
        app.sync()
        bank.clock.reconcile(app.database.execute(BOOKS))
    [count] = app.database.execute("SELECT count(*) FROM payments").fetchone()
    assert count == len(bank.clock.transactions)


# NO_IDS is for SimpleFIN.
@pytest.mark.parametrize("quirk", [*sorted({*ALL_QUIRKS} - {"NO_IDS"}), "worst"])
def test_books_are_right_whatever_the_habits_of_the_bank(app: Budget, bank: Bank, quirk: str) -> None:
    app.connect(bank.clock.connect("PLAID", quirks=[quirk]).public_token)
    while bank.clock.next_at:
        bank.clock.advance(days=4)
        app.sync()
    # The bank has told everything after some days.
    bank.clock.advance(days=4)
    app.sync()
    bank.clock.reconcile(app.database.execute(BOOKS))


def test_new_login_does_not_double_the_books(app: Budget, bank: Bank) -> None:
    bank.clock.advance(months=2)
    app.sync()
    app.connect(bank.clock.connect("PLAID", quirks=["NEW_IDS_ON_RELINK"]).public_token)
    app.sync()
    bank.clock.reconcile(app.database.execute(BOOKS))


def test_webhooks_keep_the_books_up_to_date(app: Budget, bank: Bank, webhooks: Webhooks) -> None:
    for month in (1, 2, 3):
        bank.clock.advance(months=1)
        answers = webhooks.deliver(bank.clock, app.webhook, duplicate=0.3, reorder=0.3, delay=0.3, seed=month)
        assert {delivery.answer.status for delivery in answers} == {204}
        bank.clock.reconcile(app.database.execute(BOOKS))


def test_forged_webhook_is_rejected(app: Budget, bank: Bank) -> None:
    bank.clock.advance(months=1)
    [first, *_] = bank.clock.deliver(app.webhook, secret="whsec_" + "A" * 32)
    assert first.answer.status == 401
    assert app.database.execute(BOOKS).fetchall() == []


def test_budget_of_a_month_ends_with_the_month(app: Budget, bank: Bank) -> None:
    with bank.clock.freeze():
        app.sync()
        assert app.left_this_month() == 1_000_00
        bank.clock.advance(to="2027-01-13")
        app.sync()
        # The dinner is pending.
        assert app.left_this_month() == 1_000_00 - 900_00 - 2 * 3_20 - 41_50
        bank.clock.advance(to="2027-01-31T23:59:59Z")
        app.sync()
        assert app.left_this_month() == 1_000_00 - 900_00 - 2 * 3_20 - 48_75
        bank.clock.advance(seconds=1)
        assert app.left_this_month() == 1_000_00
