"""Mistakes of importers, planted in examples/budget_app: `reconcile` finds all of them."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import Program
from tests.support.repository import ROOT
from tickover.client import BooksDiffer, Tickover, expense, income

SOURCE = (ROOT / "examples" / "budget_app" / "budget.py").read_text("utf-8")
WITH_IDS = "SELECT id, date, name, cents / 100.0 AS amount FROM payments"
WITHOUT_IDS = "SELECT date, cents / 100.0 AS amount FROM payments"
CENTS = "-round(each.amount * 100)"
DATE = "each.date.isoformat()"
ADDED = "[*page.added, *page.modified]"
REMOVED = "for each in page.removed"
KEY = "id TEXT PRIMARY KEY, account"
MISTAKES = {
    "wrong sign": {CENTS: "round(each.amount * 100)"},
    "dropped cents": {CENTS: "-int(each.amount) * 100"},
    "date in another time zone": {
        DATE: "each.datetime.astimezone(__import__('zoneinfo').ZoneInfo('America/New_York')).date().isoformat()"
    },
    "payment that was pending is lost": {ADDED: "[each for each in page.added if not each.pending_transaction_id]"},
    "pending payment stays": {REMOVED: "for each in ()"},
    "only the first page": {"PAGE = 100": "PAGE = 3", "for page in pages:": "for page in pages[:1]:"},
    "duplicates after another sync": {KEY: "id TEXT, account", "UPDATE bank SET cursor = ?": "SELECT ?"},
    "equal payments are one": {"pending INTEGER NOT NULL": "pending INTEGER NOT NULL, UNIQUE (date, name, cents)"},
}


def import_books(program: Program, client: Tickover, folder: Path, changes: dict[str, str]) -> dict[str, BooksDiffer]:
    """Run the app with these changes for two months. Return the errors of `reconcile`, with and without bank IDs."""
    source = SOURCE
    for old, new in changes.items():
        assert source.count(old) == 1
        source = source.replace(old, new)
    module: dict[str, Any] = {}
    exec(source, module)
    payments = [
        payment
        for month in ("2027-01", "2027-02")
        for payment in (
            expense("Rent", 900, "EUR", f"{month}-03T00:30:00Z"),
            *(expense("Coffee", 3.2, "EUR", f"{month}-05T08:00:00Z") for _ in range(2)),
            expense(
                "Dinner", 48.75, "EUR", f"{month}-14", authorized_at=f"{month}-12T20:00:00Z", authorized_amount=41.5
            ),
            income("Salary", 2800, "EUR", f"{month}-25T23:30:00Z"),
        )
    ]
    clock = client.create_clock(frozen_time="2027-01-01", transactions=payments)
    app = module["Budget"](folder / "budget.db", f"{program.url}/plaid", 1000)
    errors: dict[str, BooksDiffer] = {}
    with closing(app.database):
        app.connect(clock.connect("PLAID").public_token)
        for to in ("2027-01-13", "2027-01-31", "2027-02-28"):
            clock.advance(to=to)
            app.sync()
            for query in (WITH_IDS, WITHOUT_IDS):
                try:
                    clock.reconcile(app.database.execute(query))
                except BooksDiffer as error:
                    errors.setdefault(query, error)
    return errors


@pytest.mark.parametrize("page", ["PAGE = 100", "PAGE = 1"])
def test_app_without_mistakes_has_complete_books(program: Program, client: Tickover, tmp_path: Path, page: str) -> None:
    assert import_books(program, client, tmp_path, {"PAGE = 100": page}) == {}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_found(program: Program, client: Tickover, tmp_path: Path, mistake: str) -> None:
    errors = import_books(program, client, tmp_path, MISTAKES[mistake])
    assert errors.keys() == {WITH_IDS, WITHOUT_IDS}
