"""Files in the dialects of banks."""

from datetime import date
from decimal import Decimal

import pytest

from tickover.scenarios.bank_files.bank_file_reader import MAX_BANK_FILE_BYTES, MAX_LINES, BankFileError, read_bank_file


def amounts(content: str, currency: str = "EUR") -> list[Decimal]:
    history = read_bank_file(content.encode(), "bank.csv", currency=currency)
    return [*history.opening.values(), *(payment.amount for payment in history.payments)]


def dates(*texts: str) -> list[date]:
    rows = "\n".join(f'"{text}",Rent,-1' for text in texts)
    payments = read_bank_file(f"Date,Name,Amount\n{rows}\n".encode(), "bank.csv", currency="EUR").payments
    return [payment.day for payment in payments]


def test_another_amount_decides_about_a_dot() -> None:
    """A dot groups thousands if another amount has a decimal comma."""
    assert amounts("Datum;Empfänger;Betrag\n03.01.2026;Miete;-840,50\n28.01.2026;Lohn;2.800\n") == [
        Decimal("-840.5"),
        2800,
    ]


@pytest.mark.parametrize(
    ("header", "debit", "credit"),
    [
        ("Debit/Credit", "Debit", "Credit"),
        ("Credit Debit Indicator", "DBIT", "CRDT"),
        ("Af Bij", "Af", "Bij"),
    ],
)
def test_sign_is_only_in_a_column_of_its_own(header: str, debit: str, credit: str) -> None:
    rows = f"2026-01-13,Gas,45.00,{debit},955.00\n2026-01-14,Salary,2000.00,{credit},2955.00"
    assert amounts(f"Date,Name,Amount,{header},Balance\n{rows}\n") == [1000, -45, 2000]


def test_direction_of_a_signed_amount_changes_nothing() -> None:
    rows = "2026-01-13,Gas,-45.00,DEBIT\n2026-01-14,Refund,-5,CREDIT\n2026-01-15,Salary,2000,BGC"
    assert amounts(f"Date,Name,Amount,Type\n{rows}\n") == [-45, -5, 2000]


@pytest.mark.parametrize(
    ("balances", "opening"),
    [
        (("955.00", "2955.00"), [1000]),
        (("-45.00", "1955.00"), []),
        (("955.00", "2954.99"), []),
        (("0.00", "2000.00"), [45]),
    ],
)
def test_opening_balance_needs_balances_that_follow_from_each_other(
    balances: tuple[str, str], opening: list[int]
) -> None:
    rows = [f"13/01/2026,Gas,-45.00,{balances[0]}", f"14/01/2026,Salary,2000.00,{balances[1]}"]
    for ordered in (rows, rows[::-1]):
        assert amounts("\n".join(["Date,Name,Amount,Balance", *ordered])) == [*opening, -45, 2000]


def test_opening_balance_with_too_many_digits_is_left_out() -> None:
    amount = Decimal("-0.0000000001")
    assert amounts(f"Date,Name,Amount,Balance\n2027-01-03,Fee,{amount:f},999999999\n") == [amount]


def test_opening_balance_of_each_currency() -> None:
    rows = "2026-01-01,a,-1,EUR,9\n2026-01-02,b,-1,USD,19\n2026-01-03,c,-1,EUR,8"
    history = read_bank_file(f"Date,Name,Amount,Currency,Balance\n{rows}\n".encode(), "bank.csv")
    assert history.opening == {"EUR": 10, "USD": 20}


@pytest.mark.parametrize(
    ("amount", "fee", "problem"),
    [
        (5, "5", "the fee '5' leaves no amount; remove the row"),
        (5, "-999999999", "the amount '1000000004' exceeds 1,000,000,000"),
        (999999999, "0.0000000001", "too many digits"),
    ],
)
def test_a_fee_must_leave_a_valid_amount(amount: int, fee: str, problem: str) -> None:
    with pytest.raises(BankFileError, match=f"line 2: .*{problem}"):
        amounts(f"Date,Name,Amount,Fee\n2027-01-03,Rent,{amount},{fee}\n")


@pytest.mark.parametrize(("is_day_first", "day"), [(True, date(2027, 4, 3)), (False, date(2027, 3, 4))])
def test_order_of_ambiguous_dates_can_be_given(is_day_first: bool, day: date) -> None:
    content = b"Date,Name,Amount\n03/04/2027,Rent,-1\n"
    [payment] = read_bank_file(content, "bank.csv", currency="EUR", is_day_first=is_day_first).payments
    assert payment.day == day
    with pytest.raises(BankFileError, match=r"ambiguous, such as '03/04/2027'$"):
        read_bank_file(content, "bank.csv", currency="EUR")


def test_error_about_columns_names_those_of_the_file() -> None:
    with pytest.raises(BankFileError, match=r"columns found: Date, Amount, Extra$"):
        amounts("Date,Amount,Extra\n2027-01-01,1,x\n")


def test_named_column_of_a_name_is_the_only_one() -> None:
    content = '"Buchungsdatum";"Zahlungspflichtige*r";"Zahlungsempfänger*in";"Betrag (€)"\n"28.01.26";"ACME";"Me";"1"'
    [payment] = read_bank_file(content.encode(), "a.csv", {"name": "Zahlungsempfänger*in"}).payments
    assert payment.name == "Me"


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1.234", "1.234"),
        ("1,234", "1234"),
        ("1.234.567,5", "1234567.5"),
        ("1'234.50", "1234.50"),
        ("1 234,50", "1234.50"),
        ("($1,200.00)", "-1200"),
        ("¥12,345", "12345"),
    ],
)
def test_single_amount(text: str, amount: str) -> None:
    assert amounts(f'Date,Name,Amount\n2026-01-15,Rent,"{text}"\n') == [Decimal(amount)]


@pytest.mark.parametrize("text", ["1,2.3,4", "--5", "(-5)", "1e400", "NaN", "9" * 5000, "1,234.567,89", "()"])
def test_invalid_amount_has_its_line(text: str) -> None:
    with pytest.raises(BankFileError, match=r"^bank\.csv, line 3: invalid amount '.{0,30}'; use a number"):
        amounts(f'Date,Name,Amount\n2026-01-15,Rent,1\n2026-01-15,Rent,"{text}"\n')


def test_dates_in_the_forms_of_banks() -> None:
    forms = ["15 Jan 2026", "15-Jan-26", "15 January 2026", "2026/01/15", "2026-01-15 10:00:00", "20260115"]
    assert dates(*forms) == [date(2026, 1, 15)] * len(forms)
    with pytest.raises(BankFileError, match="line 2: invalid date '15 Foo 2026'"):
        dates("15 Foo 2026")


def test_line_of_an_error_counts_the_lines_of_quoted_cells() -> None:
    with pytest.raises(BankFileError, match="line 4: invalid amount 'x'"):
        amounts('Date,Name,Amount\n2026-01-15,"two\nlines",1\n2026-01-16,Rent,x\n')


def test_files_with_too_many_lines_are_rejected_early() -> None:
    with pytest.raises(BankFileError, match="more than 100,000 lines; split the file"):
        amounts("Date,Name,Amount\n" + "\n" * MAX_LINES)


def test_balances_are_no_payments() -> None:
    rows = "opening,2026-01-01,Balance,90\ntransfer,2026-01-02,Rent,-5\nclosing,2026-01-31,Balance,85\n"
    assert amounts(f"type,date,name,amount\n{rows}") == [-5]


@pytest.mark.parametrize(("default", "currency"), [("", "CHF"), ("<CURDEF>", "CHF"), ("<CURDEF>EUR", "EUR")])
def test_ofx_without_a_currency_has_the_given_one(default: str, currency: str) -> None:
    entry = "<STMTTRN><DTPOSTED>20260115<TRNAMT>-5<NAME>Tea</STMTTRN>"
    [payment] = read_bank_file(f"<OFX>{default}{entry}</OFX>".encode(), "bank.ofx", currency="CHF").payments
    assert payment.currency == currency


def test_ofx_with_cdata_and_an_amount_of_zero() -> None:
    entry = "<STMTTRN><DTPOSTED>20260115</DTPOSTED><TRNAMT>{}</TRNAMT><NAME>{}</NAME></STMTTRN>"
    zero, rent = entry.format("0.00", "Note"), entry.format("-5", "<![CDATA[A & B <home>]]>")
    [payment] = read_bank_file(f"<OFX><CURDEF>EUR</CURDEF>{zero}{rent}</OFX>".encode(), "bank.ofx").payments
    assert (payment.name, payment.amount) == ("A & B <home>", Decimal(-5))


@pytest.mark.parametrize(
    ("account", "type"),
    [
        ("<BANKACCTFROM><ACCTID>1<ACCTTYPE>SAVINGS</BANKACCTFROM>", "SAVINGS"),
        ("<BANKACCTFROM><ACCTTYPE>CREDITLINE</ACCTTYPE></BANKACCTFROM>", "CREDIT_CARD"),
        ("<BANKACCTFROM><ACCTTYPE>CHECKING</ACCTTYPE></BANKACCTFROM>", "CHECKING"),
        ("<CCACCTFROM><ACCTID>1</CCACCTFROM><BANKACCTTO><ACCTTYPE>SAVINGS</BANKACCTTO>", "CREDIT_CARD"),
        ("", "CHECKING"),
    ],
)
def test_ofx_tells_the_type_of_the_account(account: str, type: str) -> None:
    entry = "<STMTTRN><DTPOSTED>20260115<TRNAMT>-5<NAME>Tea</STMTTRN>"
    history = read_bank_file(f"<OFX><CURDEF>EUR{account}\n{entry}</OFX>".encode(), "bank.ofx")
    assert history.account_type == type


UMLAUT = "Bäckerei Öz"
DIALECTS = {
    # Headers and number formats of real banks. Each file has the same two payments.
    "Sparkasse": (
        '"Auftragskonto";"Buchungstag";"Valutadatum";"Beguenstigter/Zahlungspflichtiger";"Betrag";"Waehrung";"Info"\n'
        '"DE1";"28.01.26";"29.01.26";"ACME; Lohn";"2.834,17";"EUR";"x"\n'
        f'"DE1";"03.01.26";"";"{UMLAUT}";"-4,20";"EUR";""'
    ),
    "DKB": (
        '"Girokonto";"DE12"\n"Kontostand vom 30.06.2026:";"1.234,56 €"\n""\n'
        '"Buchungsdatum";"Status";"Zahlungspflichtige*r";"Zahlungsempfänger*in";"Betrag (€)"\n'
        f'"29.01.26";"Vorgemerkt";"x";"y";"-9"\n'
        f'"28.01.26";"Gebucht";"ACME; Lohn";"x";"2.834,17"\n"03.01.26";"Gebucht";"x";"{UMLAUT}";"-4,2"'
    ),
    "ING": (
        "Umsatzanzeige;Datei erstellt am: 01.07.2026 10:00\n\nIBAN;DE12\nSaldo;1.234,56;EUR\n\n"
        "Buchung;Valuta;Auftraggeber/Empfänger;Saldo;Währung;Betrag;Währung\n"
        f'28.01.2026;28.01.2026;"ACME; Lohn";1,00;EUR;2.834,17;EUR\n03.01.2026;;{UMLAUT};1,00;EUR;-4,20;EUR'
    ),
    "Lloyds": (
        "Transaction Date,Transaction Type,Transaction Description,Debit Amount,Credit Amount,Balance\n"
        f'28/01/2026,BGC,"ACME;\n Lohn",,2834.17,100.00\n03/01/2026,DEB,{UMLAUT},4.20,,100.00'
    ),
    "Chase": (
        "Details,Posting Date,Description,Amount,Type,Balance,Check or Slip #\n"
        f"CREDIT,01/28/2026,ACME; Lohn,2834.17,ACH,100.00,,\nDEBIT,01/03/2026,{UMLAUT},-4.20,ACH,100.00,,"
    ),
    "Bank of America": (
        'Description,,Summary Amt.\nBeginning balance as of 01/01/2026,,"1,000.00"\n\n'
        "Date,Description,Amount,Running Bal.\n"
        '01/01/2026,Beginning balance as of 01/01/2026,,"1,000.00"\n'
        f'01/03/2026,"{UMLAUT}","-4.20","1,000.00"\n01/28/2026,"ACME; Lohn","2,834.17","1,000.00"'
    ),
    "Revolut": (
        "Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance\n"
        f"CARD_PAYMENT,Current,2026-01-02 10:00:00,2026-01-03 11:12:13,{UMLAUT},-4.00,0.20,EUR,COMPLETED,-4.20\n"
        "CARD_PAYMENT,Current,2026-01-04 10:00:00,,Shop,-5.00,0.00,EUR,REVERTED,\n"
        "TOPUP,Current,2026-01-28 10:00:00,2026-01-28 11:12:13,ACME; Lohn,2834.17,0.00,EUR,COMPLETED,2829.97"
    ),
    "N26": (
        '"Booking Date","Value Date","Partner Name",Type,"Payment Reference","Amount (EUR)","Original Amount"\n'
        f'2026-01-03,2026-01-03,"{UMLAUT}",Presentment,,-4.20,-4.20\n'
        '2026-01-28,2026-01-28,,Income,"ACME; Lohn",2834.17,'
    ),
}  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("bank", DIALECTS)
def test_dialects_of_banks_are_read(bank: str, encoding: str) -> None:
    payments = read_bank_file(DIALECTS[bank].encode(encoding), "a.csv", currency="EUR").payments
    assert [(str(one.day), one.name, one.amount, one.currency) for one in payments] == [
        ("2026-01-03", UMLAUT, Decimal("-4.20"), "EUR"),
        ("2026-01-28", "ACME; Lohn", Decimal("2834.17"), "EUR"),
    ]


def test_currency_in_a_header_is_used_unless_another_is_given() -> None:
    content = DIALECTS["DKB"].encode()
    assert {one.currency for one in read_bank_file(content, "a.csv").payments} == {"EUR"}
    assert {one.currency for one in read_bank_file(content, "a.csv", currency="CHF").payments} == {"CHF"}


def test_columns_and_currency_can_be_given() -> None:
    text = b"When,Who,How much\n2027-01-31,Shop,-5\n"
    with pytest.raises(BankFileError, match="no line has the headers"):
        read_bank_file(text, "a.csv")
    columns = {"date": "When", "name": "Who", "amount": "How much"}
    with pytest.raises(BankFileError, match=r"a\.csv, line 2: the currency is missing$"):
        read_bank_file(text, "a.csv", columns)
    assert read_bank_file(text, "a.csv", columns, "EUR").payments[0].amount == -5


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\x89PNG\0\0", "the file is binary; export a CSV or OFX file"),
        (b"date,name,amount\n", "the file has no payments"),
        (b"x" * (MAX_BANK_FILE_BYTES + 1), "the file must have at most 4,194,304 bytes"),
        (b"date,name,amount,currency\n2027-01-01,a,0,EUR\n", "the file has no payments"),
        (b"date,name,amount,currency\n2027-01-01,a,1000000001,EUR\n", "the amount '1000000001' exceeds 1,000,000,000"),
        (b"date,name,amount,currency\n2027-01-01,a,1,EUR\n2040-01-01,a,1,EUR\n", "they must span at most 9 years"),
        (b"<OFX><STMTTRN><TRNAMT>x</STMTTRN></OFX>", "f, transaction '?': invalid date"),
        (b'<!DOCTYPE x [<!ENTITY a "b">]><OFX>&a;</OFX>', "the file has no payments"),
    ],
)  # fmt: skip
def test_bad_files_give_one_clear_error(content: bytes, problem: str) -> None:
    with pytest.raises(BankFileError) as caught:
        read_bank_file(content, "f")
    assert problem in str(caught.value)
