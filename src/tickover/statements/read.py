"""Reads payments from bank statements in CSV and OFX. It needs no network and no XML parser."""

import csv
import html
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Final

from msgspec import Struct

from tickover.api import timestamps
from tickover.api.arguments import to_exact_decimal
from tickover.api.limits import MAX_AMOUNT
from tickover.statements.statement import clean_text

MAX_STATEMENT_BYTES: Final = 4 * 1024 * 1024
MAX_PAYMENTS: Final = 20_000
COLUMNS: Final = ("date", "name", "amount", "debit", "credit", "currency", "category")

_HEADERS: Final[Mapping[str, tuple[str, ...]]] = {
    "date": (
        "at", "date", "booking date", "transaction date", "posting date", "posted date", "posted", "completed date",
        "buchungstag", "buchungsdatum", "buchung", "datum",
    ),
    "name": (
        "name", "payee", "merchant", "description", "transaction description", "details", "narrative",
        "counter party", "empfänger", "zahlungsempfänger*in", "auftraggeber/empfänger",
        "begünstigter/zahlungspflichtiger", "beguenstigter/zahlungspflichtiger", "name zahlungsbeteiligter",
    ),
    "amount": ("amount", "betrag", "value", "betrag (€)", "betrag (eur)", "amount (eur)", "umsatz", "gross"),
    "debit": ("debit", "debit amount", "money out", "paid out", "withdrawals", "soll"),
    "credit": ("credit", "credit amount", "money in", "paid in", "deposits", "haben"),
    "currency": ("currency", "währung", "waehrung", "ccy"),
    "category": ("category", "kategorie"),
}  # fmt: skip
_SYMBOLS: Final = {"€": "EUR", "£": "GBP"}
_MAX_SPAN: Final = timedelta(days=9 * 365)
_AMOUNT: Final = re.compile(r"[+-]?[0-9]{1,3}(?:[., '’][0-9]{3})*(?:[.,][0-9]{1,4})?|[+-]?[0-9]+(?:[.,][0-9]{1,10})?")
_NUMERIC_DATE: Final = re.compile(r"([0-9]{1,2})[./-]([0-9]{1,2})[./-]([0-9]{4}|[0-9]{2})(?![0-9])")
_OFX_TAG: Final = re.compile(r"<(/?)([A-Z0-9.]{1,32})>([^<\r\n]*)")


class StatementError(Exception):
    """A statement can't be read. The message says which line, and how to fix it."""


class Payment(Struct, frozen=True):
    """A row of a statement. Expenses are negative. `at` has a time only if the statement has one."""

    at: datetime | date
    name: str
    amount: Decimal
    currency: str
    category: str = ""

    @property
    def day(self) -> date:
        return self.at.date() if isinstance(self.at, datetime) else self.at


def read_statement(content: bytes, name: str, columns: Mapping[str, str] = {}, currency: str = "") -> list[Payment]:
    """Return the payments of a CSV or OFX file, in order of time. Raise StatementError if it can't be read."""
    if len(content) > MAX_STATEMENT_BYTES:
        raise StatementError(f"{name}: the file must have at most {MAX_STATEMENT_BYTES:,} bytes; split it")
    if b"\0" in content:
        raise StatementError(f"{name}: the file is binary; export a CSV or OFX file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    is_ofx = "<OFX>" in text[:10_000].upper()
    read = _read_ofx(text, name) if is_ofx else _read_csv(text, name, columns, currency)
    payments = []
    for payment in read:
        payments.append(payment)
        if len(payments) > MAX_PAYMENTS:
            raise StatementError(f"{name}: more than {MAX_PAYMENTS:,} payments; split the file")
    if not payments:
        raise StatementError(f"{name}: the file has no payments")
    payments.sort(key=lambda payment: payment.day)
    first, last = payments[0].day, payments[-1].day
    if last - first > _MAX_SPAN or not 1900 <= first.year <= last.year <= 2200:
        raise StatementError(
            f"{name}: the payments are from {first} to {last}; they must span at most 9 years between 1900 and 2200"
        )
    return payments


def _read_ofx(text: str, name: str) -> Iterator[Payment]:
    currency = ""
    fields: dict[str, str] = {}
    for closing, tag, value in _OFX_TAG.findall(text.replace("\r\n", "\n")):
        if tag == "STMTTRN" and not closing:
            fields = {}
        elif tag == "STMTTRN":
            yield _ofx_payment(fields, currency, name)
        elif not closing:
            fields[tag] = html.unescape(value.strip())
            currency = fields[tag] if tag == "CURDEF" else currency


def _ofx_payment(fields: Mapping[str, str], currency: str, name: str) -> Payment:
    label, memo = clean_text(fields.get("NAME", "")), clean_text(fields.get("MEMO", ""))
    digits = fields.get("DTPOSTED", "")[:14]
    try:
        if not re.fullmatch("[A-Z]{3}", currency):
            raise ValueError
        day = datetime.strptime(digits[:8], "%Y%m%d").date()  # noqa: DTZ007 - a date has no zone
        amount = _parse_amount(fields.get("TRNAMT", ""))
        at = datetime.combine(day, _parse_time(digits[8:]), UTC) if len(digits) == 14 else day
    except ValueError:
        shown = fields.get("FITID", "?")[:40]
        raise StatementError(f"{name}: transaction {shown!r} has an invalid date, amount or currency") from None
    # NAME has at most 32 characters, so a longer name is in MEMO.
    is_truncated = len(memo) > 32 and memo.startswith(label)
    return Payment(at, (memo if is_truncated else label or memo or "Payment")[:120], amount, currency, "")


def _parse_time(digits: str) -> time:
    hour, minute, second = (int(digits[index : index + 2]) for index in (0, 2, 4))
    return time(hour, minute, second)


def _read_csv(text: str, name: str, columns: Mapping[str, str], currency: str) -> Iterator[Payment]:
    lines = text.splitlines()
    delimiter = max(",;\t", key=text[:5000].count)
    header_line, header = _find_header(lines, delimiter, columns, name)
    positions = _find_columns(header, columns, name)
    currency = currency or _currency_of(header)
    reader = csv.reader(io.StringIO("\n".join(lines[header_line:])), delimiter=delimiter)
    try:
        rows = list(reader)
    except csv.Error:
        line = header_line + reader.line_num
        raise StatementError(f"{name}, line {line:,}: a cell is too long; check the quotes before it") from None
    is_day_first = _is_day_first([row[positions["date"]] for row in rows if len(row) > positions["date"]], name)
    for number, row in enumerate(rows, header_line + 1):
        if not _is_balance_row(row, header) and _has_amount(row, positions):
            yield _csv_payment(row, positions, is_day_first, currency, f"{name}, line {number:,}")


def _find_header(lines: Sequence[str], delimiter: str, columns: Mapping[str, str], name: str) -> tuple[int, list[str]]:
    """Return the number of lines up to the header, and its cells. Banks put other lines before it."""
    for number, line in enumerate(lines[:30], 1):
        cells = [cell.strip().strip('"').strip() for cell in line.split(delimiter)]
        lowered = {cell.lower() for cell in cells}
        found = {key for key in COLUMNS if lowered.intersection(_header_names(key, columns))}
        if "date" in found and ("amount" in found or {"debit", "credit"} <= found):
            return number, cells
    raise StatementError(
        f"{name}: no line has the headers of a date and an amount; name them with --columns date=HEADER,amount=HEADER, "
        "or with debit=HEADER,credit=HEADER for two columns"
    )


def _header_names(key: str, columns: Mapping[str, str]) -> tuple[str, ...]:
    return (columns[key].lower(),) if key in columns else _HEADERS[key]


def _find_columns(header: Sequence[str], columns: Mapping[str, str], name: str) -> dict[str, int]:
    lowered = [cell.lower() for cell in header]
    positions = {}
    for key in COLUMNS:
        found = [lowered.index(one) for one in _header_names(key, columns) if one in lowered]
        if key in columns and not found:
            raise StatementError(f"{name}: no column {columns[key]!r}; available columns: {_list_names(header)}")
        if found:
            positions[key] = found[0]
    if "name" not in positions:
        raise StatementError(
            f"{name}: no column has a name; use --columns name=HEADER with one of: {_list_names(header)}"
        )
    return positions


def _list_names(header: Sequence[str]) -> str:
    names = ", ".join(filter(None, header))[:300]
    return "".join(char if char.isprintable() else "?" for char in names)


def _currency_of(header: Sequence[str]) -> str:
    """Return the currency in a header such as `Betrag (€)` or `Amount (GBP)`, if any."""
    codes = re.findall(r"\((€|£|[A-Z]{3})\)", " ".join(header))
    return _SYMBOLS.get(codes[0], codes[0]) if codes else ""


def _has_amount(row: Sequence[str], positions: Mapping[str, int]) -> bool:
    """Return whether the row has an amount other than 0. Banks also write balances and notes."""
    cells = [row[positions[key]] for key in ("amount", "debit", "credit") if positions.get(key, len(row)) < len(row)]
    return any(re.search(r"[^0\s.,+-]", cell) for cell in cells)


def _is_balance_row(row: list[str], header: Sequence[str]) -> bool:
    """Return whether the row is the opening or closing balance of an exported clock."""
    return header[0] == "type" and row[:1] in (["opening"], ["closing"])


def _is_day_first(dates: Sequence[str], name: str) -> bool:
    """Return whether 03/04/2027 is 3 April. Raise StatementError if the dates don't tell."""
    pairs = [(int(match[1]), int(match[2])) for match in map(_NUMERIC_DATE.match, dates) if match]
    if not pairs or any("." in one for one in dates):
        return True
    is_day_first, is_month_first = any(a > 12 for a, _ in pairs), any(b > 12 for _, b in pairs)
    if is_day_first == is_month_first:
        raise StatementError(
            f"{name}: the dates are ambiguous, such as {dates[0].strip()[:20]!r}; write them as 2027-01-31"
        )
    return is_day_first


def _csv_payment(
    row: Sequence[str], positions: Mapping[str, int], is_day_first: bool, currency: str, where: str
) -> Payment:
    cells = {key: row[index].strip() if index < len(row) else "" for key, index in positions.items()}
    try:
        at = _parse_date(cells["date"], is_day_first)
        amount = _row_amount(cells)
    except ValueError as error:
        raise StatementError(f"{where}: {error}") from None
    code = cells.get("currency") or currency
    if not re.fullmatch("[A-Z]{3}", code):
        raise StatementError(f"{where}: the currency is missing; use --currency EUR")
    name = clean_text(cells["name"]).removeprefix("'")[:120]
    return Payment(at, name or "Payment", amount, code, clean_text(cells.get("category", "")).removeprefix("'")[:80])


def _row_amount(cells: Mapping[str, str]) -> Decimal:
    """Return the amount, or the credit, or the negative debit."""
    if cells.get("amount"):
        return _parse_amount(cells["amount"])
    if any(char in "123456789" for char in cells.get("credit", "")):
        return abs(_parse_amount(cells["credit"]))
    return -abs(_parse_amount(cells.get("debit", "")))


def _parse_date(text: str, is_day_first: bool) -> datetime | date:
    try:
        numeric = _NUMERIC_DATE.match(text)
        if numeric:
            first, second = int(numeric[1]), int(numeric[2])
            day, month = (first, second) if is_day_first else (second, first)
            year = int(numeric[3])
            return date(year if year > 99 else 2000 + year, month, day)
        return timestamps.parse(text) if len(text) > 10 and "T" in text else date.fromisoformat(text[:10])
    except ValueError:
        raise ValueError(f"invalid date {text[:30]!r}; use a date such as 2027-01-31") from None


def _parse_amount(text: str) -> Decimal:
    """Parse 1,234.56 and 1.234,56. The last separator is the decimal one if one or two digits follow it."""
    digits = re.sub(r"[€$£\s]|[A-Z]{3}", "", text).replace("−", "-")
    if not _AMOUNT.fullmatch(digits) or not any(char in "123456789" for char in digits):
        raise ValueError(f"invalid amount {text[:30]!r}; use a number other than 0, such as -12.50")
    comma, dot = digits.rfind(","), digits.rfind(".")
    if comma > dot and not (dot < 0 and len(digits) - comma == 4):
        digits = digits.replace(".", "").replace(",", ".")
    amount = to_exact_decimal(Decimal(re.sub("[,'’]", "", digits)))
    if abs(amount) > MAX_AMOUNT:
        raise ValueError(f"the amount {text[:30]!r} exceeds {MAX_AMOUNT:,}")
    return amount
