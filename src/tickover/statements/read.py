"""Reads payments from bank statements in CSV and OFX. It needs no network and no XML parser."""

import codecs
import csv
import html
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Final

from msgspec import Struct

from tickover.api import timestamps
from tickover.api.arguments import to_exact_decimal
from tickover.api.limits import MAX_AMOUNT
from tickover.statements.statement import clean_text
from tickover.statements.table_formats import unescape_formulas

MAX_STATEMENT_BYTES: Final = 4 * 1024 * 1024
MAX_PAYMENTS: Final = 20_000
MAX_LINES: Final = 100_000
"""Of a CSV file. Banks write more lines than payments."""
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
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MAX_SPAN: Final = timedelta(days=9 * 365)
_AMOUNT: Final = re.compile(
    r"[+-]?[0-9]{1,3}(?:[.,'’][0-9]{3}){0,5}(?:[.,][0-9]{1,4})?|[+-]?[0-9]{1,15}(?:[.,][0-9]{1,10})?"
)
_NUMERIC_DATE: Final = re.compile(r"([0-9]{1,2})[./-]([0-9]{1,2})[./-]([0-9]{4}|[0-9]{2})(?![0-9])")
_ZERO: Final = re.compile(r"[+-]?0+(?:[.,]0*)?")
_NAMED_MONTH_DATE: Final = re.compile(r"([0-9]{1,2})[ -]([A-Za-z]{3})[a-z]*[ -]([0-9]{4}|[0-9]{2})(?![0-9])")
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
    text = _decode(content)
    if "\0" in text:
        raise StatementError(f"{name}: the file is binary; export a CSV or OFX file")
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


def _decode(content: bytes) -> str:
    """Return the text of a file in UTF-8, in UTF-16 with a byte order mark, or in Windows-1252."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _read_ofx(text: str, name: str) -> Iterator[Payment]:
    currency = ""
    fields: dict[str, str] = {}
    for closing, tag, value in _OFX_TAG.findall(_escape_cdata(text.replace("\r\n", "\n"))):
        if tag == "STMTTRN" and not closing:
            fields = {}
        elif tag == "STMTTRN":
            if not _ZERO.fullmatch(fields.get("TRNAMT", "")):
                yield _ofx_payment(fields, currency, name)
        elif not closing:
            fields[tag] = html.unescape(value.strip())
            currency = fields[tag] if tag == "CURDEF" else currency


def _escape_cdata(text: str) -> str:
    """Replace CDATA sections by escaped text."""
    first, *others = text.split("<![CDATA[")
    parts = [part.partition("]]>") for part in others]
    return first + "".join(f"{html.escape(content)}{rest}" for content, _, rest in parts)


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
    if len(lines) > MAX_LINES:
        raise StatementError(f"{name}: more than {MAX_LINES:,} lines; split the file")
    delimiter = max(",;\t", key=text[:5000].count)
    header_line, header = _find_header(lines, delimiter, columns, name)
    positions = _find_columns(header, columns, name)
    currency = currency or _currency_of(header)
    reader = csv.reader(io.StringIO("\n".join(lines[header_line:])), delimiter=delimiter)
    try:
        # A quoted cell can have several lines.
        rows = [(header_line + reader.line_num, row) for row in reader]
    except csv.Error:
        line = header_line + reader.line_num
        raise StatementError(f"{name}, line {line:,}: a cell is too long; check the quotes before it") from None
    rows = [(line, row) for line, row in rows if not _is_balance_row(row, header) and _has_amount(row, positions)]
    is_day_first = _is_day_first([row[positions["date"]] for _, row in rows if len(row) > positions["date"]], name)
    decimal_mark = _decimal_mark(cell for _, row in rows for cell in _amount_cells(row, positions))
    for line, row in rows:
        cells = {key: row[index].strip() if index < len(row) else "" for key, index in positions.items()}
        try:
            yield _csv_payment(cells, is_day_first, decimal_mark, currency)
        except ValueError as error:
            raise StatementError(f"{name}, line {line:,}: {error}") from None


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
    return any(re.search(r"[^0\s.,+-]", cell) for cell in _amount_cells(row, positions))


def _amount_cells(row: Sequence[str], positions: Mapping[str, int]) -> list[str]:
    return [row[positions[key]] for key in ("amount", "debit", "credit") if positions.get(key, len(row)) < len(row)]


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


def _csv_payment(cells: Mapping[str, str], is_day_first: bool, decimal_mark: str, currency: str) -> Payment:
    at = _parse_date(cells["date"], is_day_first)
    amount = _row_amount(cells, decimal_mark)
    code = (cells.get("currency") or currency).upper()
    code = _SYMBOLS.get(code, code)
    if not code:
        raise ValueError("the currency is missing; use --currency EUR")
    if not re.fullmatch("[A-Z]{3}", code):
        raise ValueError(f"invalid currency {code[:30]!r}; use three letters, such as EUR")
    name = unescape_formulas(clean_text(cells["name"]))[:120]
    category = unescape_formulas(clean_text(cells.get("category", "")))[:80]
    return Payment(at, name or "Payment", amount, code, category)


def _row_amount(cells: Mapping[str, str], decimal_mark: str) -> Decimal:
    """Return the amount, or the credit, or the negative debit."""
    if cells.get("amount"):
        return _parse_amount(cells["amount"], decimal_mark)
    if any(char in "123456789" for char in cells.get("credit", "")):
        return abs(_parse_amount(cells["credit"], decimal_mark))
    return -abs(_parse_amount(cells.get("debit", ""), decimal_mark))


def _parse_date(text: str, is_day_first: bool) -> datetime | date:
    try:
        numeric = _NUMERIC_DATE.match(text)
        if numeric:
            first, second = int(numeric[1]), int(numeric[2])
            day, month = (first, second) if is_day_first else (second, first)
            return date(_full_year(numeric[3]), month, day)
        named = _NAMED_MONTH_DATE.match(text)
        if named:
            return date(_full_year(named[3]), _MONTHS.index(named[2].lower()) + 1, int(named[1]))
        if len(text) > 10 and "T" in text:
            return timestamps.parse(text)
        return date.fromisoformat(text[:10].replace("/", "-"))
    except ValueError:
        raise ValueError(f"invalid date {text[:30]!r}; use a date such as 2027-01-31") from None


def _full_year(digits: str) -> int:
    return int(digits) + (2000 if len(digits) == 2 else 0)


def _parse_amount(text: str, decimal_mark: str = ".") -> Decimal:
    """Parse 1,234.56 and 1.234,56. `decimal_mark` decides about 1,234 and 1.234."""
    digits = _plain_digits(text)
    mark = _mark_of(digits) or decimal_mark
    number = re.sub(f"[^0-9{mark}+-]", "", digits).replace(mark, ".")
    is_valid = _AMOUNT.fullmatch(digits) and number.count(".") <= 1
    if not is_valid or not any(char in "123456789" for char in digits):
        raise ValueError(f"invalid amount {text[:30]!r}; use a number other than 0, such as -12.50")
    amount = to_exact_decimal(Decimal(number))
    if abs(amount) > MAX_AMOUNT:
        raise ValueError(f"the amount {text[:30]!r} exceeds {MAX_AMOUNT:,}")
    return amount


def _plain_digits(text: str) -> str:
    """Return an amount without its currency. Parentheses, and a minus sign at the end, mean a negative amount."""
    digits = re.sub(r"[€$£¥₹\s]|[A-Z]{3}", "", text).replace("−", "-")
    if digits.startswith("(") and digits.endswith(")"):
        return f"-{digits[1:-1]}"
    return f"-{digits[:-1]}" if digits.endswith("-") else digits


def _decimal_mark(amounts: Iterable[str]) -> str:
    """Return the decimal mark of a column, in which 1.234 can mean 1234."""
    marks = {_mark_of(_plain_digits(amount)) for amount in amounts} - {""}
    return marks.pop() if len(marks) == 1 else "."


def _mark_of(digits: str) -> str:
    """Return the decimal mark of an amount, or nothing if it has none or could also group thousands."""
    commas, dots = digits.count(","), digits.count(".")
    if commas and dots:
        return "," if digits.rfind(",") > digits.rfind(".") else "."
    if commas > 1 or dots > 1:
        return "." if commas else ","
    whole, mark, decimals = digits.partition("," if commas else ".")
    return "" if len(decimals) == 3 and whole.lstrip("+-") != "0" else mark
