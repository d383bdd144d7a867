"""Statements in the dialects of banks."""

from datetime import date
from decimal import Decimal

import pytest

from tickover.scenarios.statements.read import MAX_LINES, StatementError, read_statement

GERMAN = """\
Umsatzanzeige;Datei erstellt am: 14.11.2026 12:00
Saldo;1.234,56;EUR

Buchung;Auftraggeber/Empfänger;Saldo;Währung;Betrag
03.01.2026;Hausverwaltung Müller;1.200,00;EUR;-840,50
28.01.2026;ACME GmbH;3.200,00;EUR;2.800
"""
AMERICAN = """\
Date,Description,Debit,Credit,Balance
01/15/2026,"PAYROLL, ACME INC",,"2,345.67","3,345.67"
01/16/2026,RENT,"1,200",,"2,145.67"
01/17/2026,"COFFEE
SHOP",4.5,,2141.17
01/18/2026,FEE,(12.00),,2129.17
"""
BRITISH = """\
Date,Type,Description,Paid out,Paid in,Balance
13/01/2026,DD,British Gas,£45.00,,£955.00
14/01/2026,BGC,Salary,,"£2,000.00","£2,955.00"
"""


def amounts(content: str, currency: str = "EUR") -> list[Decimal]:
    return [payment.amount for payment in read_statement(content.encode(), "bank.csv", currency=currency)]


def dates(*texts: str) -> list[date]:
    rows = "\n".join(f'"{text}",Rent,-1' for text in texts)
    payments = read_statement(f"Date,Name,Amount\n{rows}\n".encode(), "bank.csv", currency="EUR")
    return [payment.day for payment in payments]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_german_statement_in_every_encoding(encoding: str) -> None:
    rent, salary = read_statement(GERMAN.encode(encoding), "bank.csv")
    assert (rent.day, rent.name, rent.amount) == (date(2026, 1, 3), "Hausverwaltung Müller", Decimal("-840.50"))
    assert (salary.amount, salary.currency) == (Decimal(2800), "EUR"), "a dot groups thousands in this file"


def test_american_statement_with_debit_and_credit() -> None:
    opening, *payments = read_statement(AMERICAN.encode(), "bank.csv", currency="usd")
    assert (opening.day, opening.name, opening.amount) == (date(2026, 1, 15), "Opening balance", Decimal(1000))
    assert [payment.amount for payment in payments] == [Decimal("2345.67"), -1200, Decimal("-4.5"), -12]
    assert [payment.name for payment in payments][2:] == ["COFFEE SHOP", "FEE"]
    assert {payment.currency for payment in payments} == {"USD"}


def test_british_statement_with_balances() -> None:
    assert amounts(BRITISH, "GBP") == [1000, -45, 2000]


@pytest.mark.parametrize(
    ("header", "debit", "credit"),
    [
        ("Debit/Credit", "Debit", "Credit"),
        ("Credit Debit Indicator", "DBIT", "CRDT"),
        ("Transaction Type", "debit", "credit"),
        ("Soll/Haben", "S", "H"),
        ("Af Bij", "Af", "Bij"),
    ],
)
def test_sign_is_only_in_a_column_of_its_own(header: str, debit: str, credit: str) -> None:
    rows = f"2026-01-13,Gas,45.00,{debit},955.00\n2026-01-14,Salary,2000.00,{credit},2955.00"
    assert amounts(f"Date,Name,Amount,{header},Balance\n{rows}\n") == [1000, -45, 2000]


def test_direction_of_a_signed_amount_changes_nothing() -> None:
    rows = "2026-01-13,Gas,-45.00,DEBIT\n2026-01-14,Refund,-5,CREDIT\n2026-01-15,Salary,2000,BGC"
    assert amounts(f"Date,Name,Amount,Type\n{rows}\n") == [-45, -5, 2000]


def test_newest_row_can_be_first() -> None:
    header, *rows = BRITISH.splitlines()
    assert amounts("\n".join([header, *reversed(rows)]), "GBP") == [1000, -45, 2000]


@pytest.mark.parametrize(
    ("balances", "opening"),
    [
        (("955.00", "2955.00"), [1000]),
        (("-45.00", "1955.00"), []),
        (("955.00", "2954.99"), []),
        (("955.00", ""), []),
        (("955.00", "?"), []),
        (("0.00", "2000.00"), [45]),
        (("-1045.00", "955.00"), [-1000]),
    ],
)
def test_opening_balance_needs_balances_that_follow_from_each_other(
    balances: tuple[str, str], opening: list[int]
) -> None:
    rows = f"13/01/2026,Gas,-45.00,{balances[0]}\n14/01/2026,Salary,2000.00,{balances[1]}"
    assert amounts(f"Date,Name,Amount,Balance\n{rows}\n") == [*opening, -45, 2000]


def test_opening_balance_of_each_currency() -> None:
    rows = "2026-01-01,a,-1,EUR,9\n2026-01-02,b,-1,USD,19\n2026-01-03,c,-1,EUR,8"
    payments = read_statement(f"Date,Name,Amount,Currency,Balance\n{rows}\n".encode(), "bank.csv")
    openings = [(str(one.day), one.currency, one.amount) for one in payments if one.name == "Opening balance"]
    assert openings == [("2026-01-01", "EUR", Decimal(10)), ("2026-01-01", "USD", Decimal(20))]


@pytest.mark.parametrize(("is_day_first", "day"), [(True, date(2027, 4, 3)), (False, date(2027, 3, 4))])
def test_order_of_ambiguous_dates_can_be_given(is_day_first: bool, day: date) -> None:
    content = b"Date,Name,Amount\n03/04/2027,Rent,-1\n"
    [payment] = read_statement(content, "bank.csv", currency="EUR", is_day_first=is_day_first)
    assert payment.day == day
    with pytest.raises(StatementError, match="ambiguous, such as '03/04/2027'; use --day-first or --month-first"):
        read_statement(content, "bank.csv", currency="EUR")


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (
            "Date,Amount,Extra",
            "no column has the name or the description of a payment; name it with --columns name=HEADER",
        ),
        ("When,Name,Extra", "no line has the headers of a date and an amount; name them with --columns date=HEADER"),
    ],
)
def test_error_about_columns_names_those_of_the_file(header: str, problem: str) -> None:
    with pytest.raises(StatementError) as caught:
        amounts(f"{header}\n2027-01-01,1,x\n")
    assert problem in str(caught.value)
    assert str(caught.value).endswith(f"; columns found: {header.replace(',', ', ')}")


def test_named_column_of_a_name_is_the_only_one() -> None:
    content = '"Buchungsdatum";"Zahlungspflichtige*r";"Zahlungsempfänger*in";"Betrag (€)"\n"28.01.26";"ACME";"Me";"1"'
    [payment] = read_statement(content.encode(), "a.csv", {"name": "Zahlungsempfänger*in"})
    assert payment.name == "Me"


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1.234", "1.234"),
        ("1,234", "1234"),
        ("0,125", "0.125"),
        ("12.345.678", "12345678"),
        ("1,234,567.5", "1234567.5"),
        ("1.234.567,5", "1234567.5"),
        ("1'234.50", "1234.50"),
        ("1 234,50", "1234.50"),
        ("($1,200.00)", "-1200"),
        ("5.00-", "-5"),
        ("-$5", "-5"),
        ("¥12,345", "12345"),
        ("+3 EUR", "3"),
    ],
)
def test_single_amount(text: str, amount: str) -> None:
    assert amounts(f'Date,Name,Amount\n2026-01-15,Rent,"{text}"\n') == [Decimal(amount)]


@pytest.mark.parametrize("text", ["1,2.3,4", "--5", "(-5)", "1e400", "NaN", "9" * 5000, "1,234.567,89", "()"])
def test_invalid_amount_has_its_line(text: str) -> None:
    with pytest.raises(StatementError, match=r"^bank\.csv, line 3: invalid amount '.{0,30}'; use a number"):
        amounts(f'Date,Name,Amount\n2026-01-15,Rent,1\n2026-01-15,Rent,"{text}"\n')


def test_dates_in_the_forms_of_banks() -> None:
    forms = ["15 Jan 2026", "15-Jan-26", "15 January 2026", "2026/01/15", "2026-01-15 10:00:00", "20260115"]
    assert dates(*forms) == [date(2026, 1, 15)] * len(forms)
    with pytest.raises(StatementError, match="line 2: invalid date '15 Foo 2026'"):
        dates("15 Foo 2026")


def test_line_of_an_error_counts_the_lines_of_quoted_cells() -> None:
    with pytest.raises(StatementError, match="line 4: invalid amount 'x'"):
        amounts('Date,Name,Amount\n2026-01-15,"two\nlines",1\n2026-01-16,Rent,x\n')


def test_invalid_currency_is_named() -> None:
    with pytest.raises(StatementError, match="line 2: invalid currency 'EURO'; use three letters, such as EUR"):
        amounts("Date,Name,Amount,Currency\n2026-01-15,Rent,1,euro\n")


def test_files_with_too_many_lines_are_rejected_early() -> None:
    with pytest.raises(StatementError, match="more than 100,000 lines; split the file"):
        amounts("Date,Name,Amount\n" + "\n" * MAX_LINES)


def test_ofx_with_cdata_and_an_amount_of_zero() -> None:
    entry = "<STMTTRN><DTPOSTED>20260115</DTPOSTED><TRNAMT>{}</TRNAMT><NAME>{}</NAME></STMTTRN>"
    zero, rent = entry.format("0.00", "Note"), entry.format("-5", "<![CDATA[A & B <home>]]>")
    [payment] = read_statement(f"<OFX><CURDEF>EUR</CURDEF>{zero}{rent}</OFX>".encode(), "bank.ofx")
    assert (payment.name, payment.amount) == ("A & B <home>", Decimal(-5))
