"""Reads payments from files of banks in CSV and OFX. It needs no network and no XML parser."""

import codecs
import csv
import html
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import islice, product
from typing import Final, Literal

from msgspec.structs import replace

from tickover.api import timestamps
from tickover.api.command_arguments import add_exactly, to_exact_decimal
from tickover.api.fields import CURRENCY, AccountType
from tickover.api.limits import MAX_AMOUNT, MAX_OPENING_BALANCE
from tickover.scenarios.bank_files.account_register import clean_text
from tickover.scenarios.bank_files.bank_formats import OFX_OPENING
from tickover.scenarios.bank_files.history import History, Payment
from tickover.scenarios.bank_files.table_formats import unescape_formulas

MAX_BANK_FILE_BYTES: Final = 4 * 1024 * 1024
MAX_PAYMENTS: Final = 20_000
MAX_LINES: Final = 100_000
"""Of a CSV file. Banks write more lines than payments."""
_HEADERS: Final[Mapping[str, tuple[str, ...]]] = {
    "date": (
        "at", "date", "booking date", "transaction date", "posting date", "posted date", "posted", "completed date",
        "buchungstag", "buchungsdatum", "buchung", "datum des abschlusses", "datum", "valutadatum", "wertstellung",
        "date de comptabilisation", "fecha", "data",
    ),
    "name": (
        "name", "payee", "merchant", "partner name", "counter party", "counterparty", "empfänger",
        "zahlungsempfänger*in", "auftraggeber/empfänger", "auftraggeber / begünstigter",
        "begünstigter/zahlungspflichtiger", "begünstigter / auftraggeber",
        "beguenstigter/zahlungspflichtiger", "name zahlungsbeteiligter", "naam",
        "description", "transaction description", "beschreibung", "libellé", "concepto", "descrizione", "omschrijving",
        "narrative", "buchungstext", "verwendungszweck", "payment reference", "reference", "memo", "details", "vorgang",
    ),
    "payer": ("zahlungspflichtige*r",),
    "amount": (
        "amount", "transaction amount", "betrag", "value", "umsatz", "gross", "montant", "importe", "importo", "bedrag",
    ),
    "debit": ("debit", "debit amount", "money out", "paid out", "withdrawal", "withdrawals", "soll", "débit", "cargo"),
    "credit": ("credit", "credit amount", "money in", "paid in", "deposit", "deposits", "haben", "crédit", "abono"),
    "direction": (
        "debit/credit", "credit/debit", "debit or credit", "credit or debit", "credit debit indicator", "dr/cr",
        "cr/dr", "d/c", "c/d", "soll/haben", "s/h", "af bij", "af/bij", "transaction type", "type",
    ),
    "fee": ("fee", "gebühr"),
    "balance": (
        "balance", "running balance", "running bal.", "account balance", "saldo", "kontostand", "saldo nach buchung",
        "solde",
    ),
    "state": ("state", "status"),
    "currency": ("currency", "währung", "waehrung", "ccy", "devise", "divisa"),
    "category": ("category", "kategorie", "spending category"),
}  # fmt: skip
"""Headers of banks, in lower case and without a currency, in the order of preference."""
COLUMNS: Final = tuple(_HEADERS)
_DEBITS: Final = ("debit", "dbit", "dr", "d", "soll", "s", "af", "out")
"""The directions of an expense. In some files, only the direction tells it from an income."""
_NOT_BOOKED: Final = ("reverted", "declined", "failed", "cancelled", "canceled", "pending", "vorgemerkt")
_BALANCES: Final = ("opening", "closing")
"""The types of rows with a balance."""
_CURRENCY_OF_HEADER: Final = re.compile(r" ?(?:\((€|£|[A-Z]{3})\)| in ([A-Z]{3}))$")
_AMOUNT_COLUMNS: Final = ("amount", "debit", "credit")
_SYMBOLS: Final = {"€": "EUR", "£": "GBP"}
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MAX_SPAN: Final = timedelta(days=9 * 365)
_NUMBER: Final = re.compile(
    r"[+-]?[0-9]{1,3}(?:[.,'’][0-9]{3}){0,5}(?:[.,][0-9]{1,4})?|[+-]?[0-9]{1,15}(?:[.,][0-9]{1,340})?"
)
_NUMERIC_DATE: Final = re.compile(r"([0-9]{1,2})[./-]([0-9]{1,2})[./-]([0-9]{4}|[0-9]{2})(?![0-9])")
_NAMED_MONTH_DATE: Final = re.compile(r"([0-9]{1,2})[ -]([A-Za-z]{3})[a-z]*[ -]([0-9]{4}|[0-9]{2})(?![0-9])")
_OFX_ACCOUNT: Final = re.compile(r"<(CCACCTFROM)>|<ACCTTYPE>\s*([A-Z]+)")
"""What tells the type of an account. Credit cards have an element of their own."""
_OFX_ACCOUNT_TYPES: Final[Mapping[str, AccountType]] = {
    "CCACCTFROM": "CREDIT_CARD", "CREDITLINE": "CREDIT_CARD", "SAVINGS": "SAVINGS", "MONEYMRKT": "SAVINGS",
    "CD": "SAVINGS",
}  # fmt: skip
_OFX_OPENING: Final = re.compile(
    rf"<CURDEF>([A-Z]{{3}})<|<DESC>{OFX_OPENING}</DESC><BALTYPE>DOLLAR</BALTYPE><VALUE>([^<]+)<"
)
_OFX_TIME: Final = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})(?:([0-9]{2})([0-9]{2})([0-9]{2})(\.[0-9]{1,6})?)?")
_OFX_TAG: Final = re.compile(r"<(/?)([A-Z0-9.]{1,32})>([^<\r\n]*)")


Missing = Literal["columns", "name", "currency", "order"]
"""What a caller can tell about a file: its columns, the one with names, its currency, or the order in its dates."""


class BankFileError(Exception):
    """A bank file can't be read. The message says which line, and what is wrong."""

    def __init__(self, message: str, missing: Missing | None = None) -> None:
        super().__init__(message)
        self.missing = missing
        """What to pass, if that helps. Each caller has its own words for it."""


class _CurrencyMissing(ValueError):
    """Neither the file nor the caller tells the currency."""


def read_bank_file(
    content: bytes,
    name: str,
    columns: Mapping[str, str] = {},
    currency: str = "",
    is_day_first: bool | None = None,
) -> History:
    """Return the payments of a CSV or OFX file. Raise BankFileError if it can't be read.

    The history has opening balances if a CSV file has balances, or if an OFX file is an export of a clock.
    `is_day_first` says whether 03/04/2027 is 3 April.
    """
    if len(content) > MAX_BANK_FILE_BYTES:
        raise BankFileError(f"{name}: the file must have at most {MAX_BANK_FILE_BYTES:,} bytes; split it")
    text = _decode(content)
    if "\0" in text:
        raise BankFileError(f"{name}: the file is binary; export a CSV or OFX file")
    if "<OFX>" in text[:10_000].upper():
        found = list(islice(_read_ofx(text, name, currency), MAX_PAYMENTS + 1))
        history = History(payments=found, opening=_ofx_opening(text), account_type=_ofx_account_type(text))
    else:
        history = _read_csv(text, name, columns, currency, is_day_first)
    payments = sorted(history.payments, key=lambda payment: payment.day)
    if len(payments) > MAX_PAYMENTS:
        raise BankFileError(f"{name}: more than {MAX_PAYMENTS:,} payments; split the file")
    if not payments:
        raise BankFileError(f"{name}: the file has no payments")
    first, last = payments[0].day, payments[-1].day
    if last - first > _MAX_SPAN or not 1900 <= first.year <= last.year <= 2200:
        raise BankFileError(
            f"{name}: the payments are from {first} to {last}; they must span at most 9 years between 1900 and 2200"
        )
    return replace(history, payments=payments)


def _decode(content: bytes) -> str:
    """Return the text of a file in UTF-8, in UTF-16 with a byte order mark, or in Windows-1252."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _read_ofx(text: str, name: str, currency: str) -> Iterator[Payment]:
    fields: dict[str, str] = {}
    for closing, tag, value in _OFX_TAG.findall(_escape_cdata(text.replace("\r\n", "\n"))):
        if tag == "STMTTRN" and not closing:
            fields = {}
        elif tag == "STMTTRN":
            if _parse_number(fields.get("TRNAMT", "")) != 0:
                try:
                    yield _payment(_ofx_cells(fields, currency))
                except ValueError as error:
                    id = fields.get("FITID", "?")[:40]
                    raise BankFileError(f"{name}, transaction {id!r}: {error}", _missing(error)) from None
        elif not closing:
            fields[tag] = html.unescape(value.strip())
            currency = (tag == "CURDEF" and fields[tag]) or currency


def _ofx_account_type(text: str) -> AccountType:
    found = _OFX_ACCOUNT.search(text)
    return _OFX_ACCOUNT_TYPES.get(found[1] or found[2], "CHECKING") if found else "CHECKING"


def _ofx_opening(text: str) -> dict[str, Decimal]:
    """Return the opening balance of each currency. Only exports of clocks have them."""
    opening: dict[str, Decimal] = {}
    currency = ""
    for code, value in _OFX_OPENING.findall(text):
        currency = code or currency
        balance = _parse_number(value)
        if balance:
            opening[currency] = add_exactly(opening.get(currency, Decimal(0)), balance)
    return {code: amount for code, amount in opening.items() if _is_opening_balance(amount)}


def _escape_cdata(text: str) -> str:
    """Replace CDATA sections by escaped text."""
    first, *others = text.split("<![CDATA[")
    parts = [part.partition("]]>") for part in others]
    return first + "".join(f"{html.escape(content)}{rest}" for content, _, rest in parts)


def _ofx_cells(fields: Mapping[str, str], currency: str) -> dict[str, str]:
    """Return the fields of a transaction as cells of a CSV file."""
    label, memo = clean_text(fields.get("NAME", "")), clean_text(fields.get("MEMO", ""))
    # NAME has at most 32 characters, so a longer name is in MEMO.
    is_truncated = len(memo) > 32 and memo.startswith(label)
    return {
        **dict.fromkeys(COLUMNS, ""),
        "date": _ofx_date(fields.get("DTPOSTED", "")),
        "name": memo if is_truncated else label or memo,
        "amount": fields.get("TRNAMT", ""),
        "currency": currency,
    }


def _ofx_date(text: str) -> str:
    """Return a date, or a timestamp if it has a time, as a CSV file has them."""
    found = _OFX_TIME.match(text)
    if not found:
        return text
    year, month, day, hour, minute, second, fraction = found.groups("")
    return f"{year}-{month}-{day}" + (f"T{hour}:{minute}:{second}{fraction}Z" if hour else "")


def _read_csv(text: str, name: str, columns: Mapping[str, str], currency: str, is_day_first: bool | None) -> History:
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        raise BankFileError(f"{name}: more than {MAX_LINES:,} lines; split the file")
    delimiter, header_line, header, positions = _find_header(lines, columns, name)
    currency = currency or _currency_of(header[(positions["amount"] or positions["debit"])[0]])
    reader = csv.reader(io.StringIO("\n".join(lines[header_line:])), delimiter=delimiter)
    try:
        # A quoted cell can have several lines.
        rows = [(header_line + reader.line_num, _cells(row, positions)) for row in reader]
    except csv.Error:
        line = header_line + reader.line_num
        raise BankFileError(f"{name}, line {line:,}: a cell is too long; check the quotes before it") from None
    found = [(line, cells) for line, cells in rows if _is_payment(cells)]
    if is_day_first is None:
        is_day_first = _is_day_first([cells["date"] for _, cells in found], name)
    decimal_mark = _decimal_mark(cells[key] for _, cells in found for key in _AMOUNT_COLUMNS)
    payments = []
    for line, cells in found:
        try:
            payments.append(_payment(cells, is_day_first, decimal_mark, currency))
        except ValueError as error:
            raise BankFileError(f"{name}, line {line:,}: {error}", _missing(error)) from None
    balances = [_parse_number(cells["balance"], decimal_mark) for _, cells in found]
    return History(payments=payments, opening=_opening_balances(payments, balances))


def _cells(row: Sequence[str], positions: Mapping[str, Sequence[int]]) -> dict[str, str]:
    """Return the first cell of each column that isn't empty. Several columns can have a name."""
    cells = {
        key: (unescape_formulas(row[index].strip()) for index in found if index < len(row))
        for key, found in positions.items()
    }
    return {key: next(filter(None, found), "") for key, found in cells.items()}


def _opening_balances(payments: Sequence[Payment], balances: Sequence[Decimal | None]) -> dict[str, Decimal]:
    """Return the balance of each currency before its first payment, if each balance follows from the one before."""
    opening = {}
    for currency in dict.fromkeys(one.currency for one in payments):
        pairs = [(one.amount, after) for one, after in zip(payments, balances, strict=True) if one.currency == currency]
        for ordered in (pairs, pairs[::-1]):
            before = [after - amount for amount, after in ordered if after is not None]
            if len(before) == len(pairs) and before[1:] == [after for _, after in ordered[:-1]]:
                if _is_opening_balance(before[0]):
                    opening[currency] = before[0]
                break
    return opening


def _is_opening_balance(balance: Decimal) -> bool:
    """Return whether a clock can have it. Without one, it begins at 0."""
    with suppress(ValueError):
        return 0 < abs(to_exact_decimal(balance)) <= MAX_OPENING_BALANCE
    return False


def _find_header(
    lines: Sequence[str], columns: Mapping[str, str], name: str
) -> tuple[str, int, list[str], dict[str, list[int]]]:
    """Return the delimiter, the number of lines up to the header, its cells, and the positions of each kind of column.

    Banks put other lines before it. The positions are in the order of preference.
    """
    names = {**_HEADERS, **{key: (_plain_header(header),) for key, header in columns.items()}}
    if "name" in columns:
        names["payer"] = ()
    candidates = []
    for (number, line), delimiter in product(enumerate(lines[:30], 1), ",;\t"):
        header = [cell.strip().strip('"').strip() for cell in line.split(delimiter)]
        plain = list(map(_plain_header, header))
        found = {key: [plain.index(one) for one in names[key] if one in plain] for key in COLUMNS}
        if found["date"] and (found["amount"] or (found["debit"] and found["credit"])):
            _check_columns(found, header, columns, name)
            positions = {key: found[key] if key == "name" else found[key][:1] for key in COLUMNS}
            return delimiter, number, header, positions
        candidates.append(header)
    raise BankFileError(
        f"{name}: no line has the headers of a date and an amount; columns found: "
        f"{_list_names(max(candidates, key=len, default=[]))}",
        "columns",
    )


def _check_columns(
    found: Mapping[str, list[int]], header: Sequence[str], columns: Mapping[str, str], name: str
) -> None:
    """Raise BankFileError if a column is missing."""
    for key in columns:
        if not found[key]:
            raise BankFileError(f"{name}: no column {columns[key]!r}; columns found: {_list_names(header)}")
    if not found["name"]:
        raise BankFileError(
            f"{name}: no column has the name or the description of a payment; columns found: {_list_names(header)}",
            "name",
        )


def _plain_header(header: str) -> str:
    """Return a header in lower case, and without a currency as in `Betrag (€)` or `Umsatz in EUR`."""
    return _CURRENCY_OF_HEADER.sub("", header).lower()


def _list_names(header: Sequence[str]) -> str:
    names = ", ".join(filter(None, header))[:300]
    return "".join(char if char.isprintable() else "?" for char in names)


def _currency_of(header: str) -> str:
    """Return the code or the symbol in a header such as `Betrag (€)` or `Amount (GBP)`, if any."""
    found = _CURRENCY_OF_HEADER.search(header)
    return (found[1] or found[2]) if found else ""


def _is_payment(cells: Mapping[str, str]) -> bool:
    """Return whether the row is booked, with an amount other than 0. Banks also write balances and notes."""
    if cells["state"].lower() in _NOT_BOOKED or cells["direction"].lower() in _BALANCES:
        return False
    return any(re.search(r"[^0\s.,+-]", cells[key]) for key in _AMOUNT_COLUMNS)


def _is_day_first(dates: Sequence[str], name: str) -> bool:
    """Return whether 03/04/2027 is 3 April. Raise BankFileError if the dates don't tell."""
    pairs = [(int(match[1]), int(match[2])) for match in map(_NUMERIC_DATE.match, dates) if match]
    if not pairs or any("." in one for one in dates):
        return True
    is_day_first, is_month_first = any(a > 12 for a, _ in pairs), any(b > 12 for _, b in pairs)
    if is_day_first == is_month_first:
        raise BankFileError(f"{name}: the dates are ambiguous, such as {dates[0][:20]!r}", "order")
    return is_day_first


def _missing(error: ValueError) -> Missing | None:
    return "currency" if isinstance(error, _CurrencyMissing) else None


def _payment(
    cells: Mapping[str, str], is_day_first: bool = True, decimal_mark: str = ".", currency: str = ""
) -> Payment:
    at = _parse_date(cells["date"], is_day_first)
    amount = _row_amount(cells, decimal_mark)
    code = (cells["currency"] or currency).upper()
    code = _SYMBOLS.get(code, code)
    if not code:
        raise _CurrencyMissing("the currency is missing")
    if not CURRENCY.fullmatch(code):
        raise ValueError(f"invalid currency {code[:30]!r}; use three letters, such as EUR")
    # In some files, the owner of the account is the payee of an income.
    label = (cells["payer"] if amount > 0 else "") or cells["name"]
    name = clean_text(label)[:120]
    category = clean_text(cells["category"])[:80]
    return Payment(at, name or "Payment", amount, code, category)


def _row_amount(cells: Mapping[str, str], decimal_mark: str) -> Decimal:
    """Return the amount, or the credit, or the negative debit, without the fee."""
    if cells["amount"]:
        amount = _parse_amount(cells["amount"], decimal_mark)
        if cells["direction"].lower() in _DEBITS:
            amount = -abs(amount)
    elif any(char in "123456789" for char in cells["credit"]):
        amount = abs(_parse_amount(cells["credit"], decimal_mark))
    else:
        amount = -abs(_parse_amount(cells["debit"], decimal_mark))
    fee = _parse_number(cells["fee"], decimal_mark)
    if not fee:
        return amount
    if amount == fee:
        raise ValueError(f"the fee {cells['fee'][:30]!r} leaves no amount; remove the row")
    return _in_range(amount - fee, str(amount - fee))


def _parse_date(text: str, is_day_first: bool) -> datetime | date:
    try:
        numeric, named = _NUMERIC_DATE.match(text), _NAMED_MONTH_DATE.match(text)
        if numeric:
            day, month = (numeric[1], numeric[2]) if is_day_first else (numeric[2], numeric[1])
            return date(_full_year(numeric[3]), int(month), int(day))
        if named:
            return date(_full_year(named[3]), _MONTHS.index(named[2].lower()) + 1, int(named[1]))
        if len(text) > 10 and "T" in text:
            return timestamps.parse(text)
        return date.fromisoformat(text[:10].replace("/", "-"))
    except ValueError:
        raise ValueError(f"invalid date {text[:30]!r}; use a date such as 2027-01-31") from None


def _full_year(digits: str) -> int:
    return int(digits) + (2000 if len(digits) == 2 else 0)


def _parse_amount(text: str, decimal_mark: str) -> Decimal:
    """Parse an amount. Raise ValueError if a clock can't have it."""
    amount = _parse_number(text, decimal_mark)
    if not amount:
        raise ValueError(f"invalid amount {text[:30]!r}; use a number other than 0, such as -12.50")
    return _in_range(amount, text)


def _parse_number(text: str, decimal_mark: str = ".") -> Decimal | None:
    """Parse 1,234.56 and 1.234,56. Return None for other text. `decimal_mark` decides about 1,234 and 1.234."""
    digits = _plain_digits(text)
    mark = _mark_of(digits) or decimal_mark
    number = re.sub(f"[^0-9{mark}+-]", "", digits).replace(mark, ".")
    return Decimal(number) if _NUMBER.fullmatch(digits) and number.count(".") <= 1 else None


def _in_range(amount: Decimal, text: str) -> Decimal:
    """Return the amount if a clock can have it. Raise ValueError with the text that it comes from."""
    if abs(amount) > MAX_AMOUNT:
        raise ValueError(f"the amount {text[:30]!r} exceeds {MAX_AMOUNT:,}")
    return to_exact_decimal(amount)


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
