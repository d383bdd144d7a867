"""Reads the books of an app: rows as dictionaries, CSV, or the cursor of a database."""

import csv
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from io import StringIO, TextIOBase
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol, TextIO

from tickover.api.command_arguments import to_exact_decimal, to_instant
from tickover.api.limits import MAX_OBSERVED
from tickover.api.suggestions import suggest


class DatabaseCursor(Protocol):
    """A cursor as in DB-API 2.0, after a SELECT."""

    @property
    def description(self) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...


Books = Iterable[Mapping[str, Any]] | DatabaseCursor | str | Path | TextIO
"""Rows, a cursor, CSV as text, or a CSV file or its path."""

_COLUMNS: Final = ("at", "date", "amount", "name", "id")
_HINT: Final = "columns: at or date, amount, and optionally name and id"
_MAX_LISTED: Final = 10


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=2)


def read_books(books: Books, warn: Callable[[str], object] = _warn) -> list[dict[str, Any]]:
    """Return the rows as the server takes them. Raise ValueError for an invalid value.

    An unknown column is an error in rows and cursors. In CSV, `warn` gets a message with all of them, and they are
    ignored.
    """
    if isinstance(books, Path):
        with books.open(encoding="utf-8-sig", newline="") as file:
            return _read_csv(file, warn)
    if isinstance(books, str):
        return _read_csv(StringIO(books, newline=""), warn)
    if isinstance(books, TextIOBase):
        return _read_csv(books, warn)
    if hasattr(books, "description"):
        return _read_rows(_fetch(books))
    return _read_rows(books)


def _read_csv(lines: Iterable[str], warn: Callable[[str], object]) -> list[dict[str, Any]]:
    # A row that is too long has a column without a name.
    reader = csv.DictReader(lines, restkey="", restval="")
    try:
        reader.fieldnames = names = [name.strip() for name in reader.fieldnames or ()]
        # A column without a name is more likely a mistake in the file.
        unknown = {name for name in names if name and name not in _COLUMNS}
        _check_columns([name for name in names if name not in unknown])
        if unknown:
            warn(_ignored(sorted(unknown, key=names.index)))
        return _read_rows({name: cell for name, cell in row.items() if name not in unknown} for row in reader)
    except UnicodeDecodeError:
        raise ValueError("the CSV isn't in UTF-8") from None
    except csv.Error as error:
        raise ValueError(f"line {reader.reader.line_num}: {error}") from None


def _ignored(unknown: Sequence[str]) -> str:
    listed = ", ".join(repr(name[:40]) for name in unknown[:_MAX_LISTED])
    more = f" and {len(unknown) - _MAX_LISTED} more" if len(unknown) > _MAX_LISTED else ""
    return f"ignored the unknown columns {listed}{more}; {_HINT}"


def _fetch(cursor: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a cursor, which are tuples or, depending on the library, like dictionaries."""
    if hasattr(cursor, "__aiter__"):
        raise ValueError("the cursor is asynchronous; pass dictionaries, for example from await cursor.fetchall()")
    if cursor.description is None:
        raise ValueError("the cursor has no rows; execute a SELECT with it first")
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield row if isinstance(row, Mapping) else dict(zip(names, row, strict=True))


def _read_rows(rows: Iterable[Any]) -> list[dict[str, Any]]:
    # The server says how many rows are allowed.
    return [_read_row(number, row) for number, row in enumerate(islice(rows, MAX_OBSERVED + 1), 1)]


def _read_row(number: int, row: Any) -> dict[str, Any]:
    try:
        # Rows of sqlite3 and asyncpg have only the method `keys`.
        if not hasattr(row, "keys"):
            raise ValueError(f"{type(row).__name__} has no column names; use dictionaries, CSV or a cursor")
        cells = dict(row)
        _check_columns(list(cells))
        time: Any = cells.get("at", cells.get("date"))
        at = to_instant(time.strip() if isinstance(time, str) else time)
        read = {"at": at, "amount": _read_amount(cells["amount"])}
        return read | {key: str(cells[key]) for key in ("name", "id") if cells.get(key) not in (None, "")}
    except ValueError as error:
        raise ValueError(f"row {number}: {error}") from None


def _check_columns(names: Sequence[str]) -> None:
    unknown = next((name for name in names if name not in _COLUMNS), None)
    if unknown is not None:
        shown = str(unknown)[:40]
        if not shown:
            raise ValueError(f"a cell without a column; {_HINT}")
        raise ValueError(f"unknown column {shown!r}{suggest(shown, _COLUMNS, fallback=_HINT)}")
    if "amount" not in names or not ("at" in names or "date" in names):
        raise ValueError(f"no column for the {'time' if 'amount' in names else 'amount'}; {_HINT}")
    if len(set(names)) < len(names) or ("at" in names and "date" in names):
        raise ValueError(f"two columns for the same value; {_HINT}")


def _read_amount(value: Any) -> Decimal:
    try:
        return to_exact_decimal(Decimal(value.strip()) if isinstance(value, str) else value)
    except (InvalidOperation, ValueError):
        shown = repr(value)[:40]
        raise ValueError(f"invalid amount {shown}; use a number such as -12.50, negative if money goes out") from None
