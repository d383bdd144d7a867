"""`reconcile` compares the books of an app with what the bank showed."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tickover.client import BooksDiffer, Clock, Tickover, expense, income

CSV = "\ufeffat,amount,name\n2027-01-03T09:00:00+01:00,-0.10,Coffee\n\n2027-01-25, 2800 ,Salary\n"
ROWS = [("2027-01-03T08:00:00Z", -0.1, "Coffee", None), ("2027-01-25", 2800, "Salary", None)]


@pytest.fixture
def clock(client: Tickover) -> Clock:
    coffee = expense("Coffee", Decimal("0.10"), "EUR", "2027-01-03T08:00:00Z")
    salary = income("Salary", 2800, "EUR", "2027-01-25T08:00:00Z")
    created = client.create_clock(frozen_time="2027-01-01", transactions=[coffee, salary])
    created.advance(months=1)
    return created


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.execute("CREATE TABLE payments (at TEXT, amount REAL, name TEXT, id TEXT)")
        opened.executemany("INSERT INTO payments VALUES (?, ?, ?, ?)", ROWS)
        yield opened


def csv_file(folder: Path) -> Path:
    path = folder / "books.csv"
    path.write_text(CSV, "utf-8")
    return path


@pytest.mark.parametrize(
    "books",
    [
        lambda _: [
            {"at": datetime(2027, 1, 3, tzinfo=UTC), "amount": -0.1},
            {"date": date(2027, 1, 25), "amount": "2800"},
        ],
        lambda _: CSV.removeprefix("\ufeff"),
        csv_file,
        lambda _: StringIO(CSV.removeprefix("\ufeff")),
    ],
)
def test_books_can_be_rows_or_csv(clock: Clock, tmp_path: Path, books: Callable[[Path], Any]) -> None:
    assert clock.reconcile(books(tmp_path), balance=Decimal("2799.90")).ok


@pytest.mark.parametrize(
    "row_factory",
    [
        None,
        sqlite3.Row,
        lambda cursor, row: dict(zip((one[0] for one in cursor.description), row, strict=True)),
    ],
)
def test_books_can_be_a_cursor_or_its_rows(clock: Clock, database: sqlite3.Connection, row_factory: Any) -> None:
    database.row_factory = row_factory
    assert clock.reconcile(database.execute("SELECT * FROM payments"), balance=Decimal("2799.90")).ok
    if row_factory is not None:
        rows = database.execute("SELECT * FROM payments").fetchall()
        assert clock.reconcile(rows, balance=Decimal("2799.90")).ok


@pytest.mark.parametrize(
    ("books", "message"),
    [
        ("books.csv", "no column for the amount; columns: at or date, amount, and optionally name and id"),
        ("", "no column for the amount"),
        ("amount\n1", "no column for the time"),
        ([{"at": "2027-01-03", "amount": 1, "nmae": "x"}], "row 1: unknown column 'nmae'; did you mean name"),
        ("at,amount\n2027-01-03 09:00:00,1", "row 1: '2027-01-03 09:00:00' must be an RFC 3339 timestamp"),
        ("at,amount\n2027-01-03,1\n2027-01-03", "row 2: invalid amount ''"),
        ("at,amount\n2027-01-03,1,50", "row 1: a cell without a column"),
        ("at,amount\n2027-01-03,1e999999999", "row 1: invalid amount '1e999999999'"),
        ('at,amount\n2027-01-03,"' + "1" * 200_000, "line 2: field larger than field limit"),
        ([{"at": "2027-01-03", "amount": True}], "row 1: invalid amount True"),
        ([{"at": datetime(2027, 1, 3), "amount": 1}], "row 1: 2027-01-03T00:00:00 has no time zone"),  # noqa: DTZ001
        ([{"at": None, "amount": 1}], "row 1: invalid time None"),
        ([("2027-01-03", 1)], "row 1: tuple has no column names"),
    ],
)
def test_invalid_books_are_rejected(clock: Clock, books: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        clock.reconcile(books)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("CREATE TABLE other (id)", "the cursor has no rows"),
        ("SELECT amount, at, 1 AS cents FROM payments", "row 1: unknown column 'cents'"),
    ],
)
def test_invalid_cursor_is_rejected(clock: Clock, database: sqlite3.Connection, query: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        clock.reconcile(database.execute(query))


def test_unknown_columns_of_csv_are_ignored_with_a_warning(clock: Clock) -> None:
    csv = "at,cents,amount,name\n2027-01-03,10,-0.1,Coffee\n2027-01-25,1,2800,Salary\n"
    with pytest.warns(UserWarning, match="ignored the unknown columns 'cents'; columns: at or date") as warned:
        assert clock.reconcile(csv, balance=Decimal("2799.90")).ok
    assert len(warned) == 1


def test_other_balance_is_a_difference(clock: Clock) -> None:
    with pytest.raises(BooksDiffer, match="The balance is 1 instead of"):
        clock.reconcile(balance=1)
