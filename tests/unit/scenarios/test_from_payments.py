"""Scenarios from statements: exports come back with the same payments, and bad files give one clear error."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tickover.api.clocks import Snapshot, Transaction
from tickover.scenarios import load, names, read
from tickover.scenarios.from_payments import _nominal_days, write_scenario
from tickover.scenarios.recurrences import Recurrence
from tickover.scenarios.statements import export
from tickover.scenarios.statements.read import MAX_STATEMENT_BYTES, StatementError, read_statement
from tickover.scenarios.statements.statement import Payment

START = datetime(2027, 1, 1, tzinfo=UTC)


def snapshot(name: str) -> Snapshot:
    plan = load(name).plan(START)
    items = [
        Transaction(
            id=f"transaction_{number}", at=one.at, name=one.name, amount=one.amount, currency=one.currency,
            type=one.type, category=one.category or None, source="SIMULATED_TEST_CLOCK",
        )
        for number, one in enumerate(plan.transactions)
    ]  # fmt: skip
    return Snapshot(
        id="clock_1", status="READY", frozen_time=START, max_time=START.replace(year=2037), expires_at=START,
        transactions=[], pending_transactions=items, goals=[],
    )  # fmt: skip


def counted(items: Any) -> Counter[tuple[Any, ...]]:
    return Counter((item.at, item.name, item.amount, item.type, item.currency) for item in items)


@pytest.mark.parametrize("format", ["csv", "ofx"])
@pytest.mark.parametrize("name", names())
def test_an_exported_scenario_comes_back_with_the_same_payments(name: str, format: str) -> None:
    payments = read_statement(export(snapshot(name), format, pending=True).encode(), f"a.{format}")
    scenario = read(write_scenario(payments, title="a"), "toml")
    assert counted(scenario.plan().transactions) == counted(load(name).plan(START).transactions)


def test_blank_lines_of_an_exported_clock_are_ignored() -> None:
    text = export(snapshot("salary-and-rent"), "csv", pending=True)
    assert read_statement(text.replace("\n", "\n\n").encode(), "a.csv") == read_statement(text.encode(), "a.csv")


def test_the_recurrences_come_back() -> None:
    payments = read_statement(export(snapshot("salary-and-rent"), "csv", pending=True).encode(), "a.csv")
    text = write_scenario(payments, title="a")
    for phrase in ("month on the 25th", "week on Saturday", "month on the 3rd", "month on the second Friday"):
        assert f'every = "{phrase}"' in text, text
    assert "opening = {EUR = 2240.55}" in text


BANK = """\
"Konto 123";;;
"Zeitraum: 01.01.2027 - 31.03.2027";;;

"Buchungstag";"Empfänger";"Betrag";"Währung"
"04.01.2027";"Hausverwaltung";"-1.150,00";"EUR"
"28.01.2027";"Arbeitgeber GmbH";"2.800,50";"EUR"
"04.02.2027";"Hausverwaltung";"-1.150,00";"EUR"
"17.02.2027";"Bäckerei";"-4,20";"EUR"
"04.03.2027";"Hausverwaltung";"-1.150,00";"EUR"
"""


def test_columns_and_currency_can_be_given() -> None:
    text = b"When,Who,How much\n2027-01-31,Shop,-5\n"
    with pytest.raises(StatementError, match="no line has the headers"):
        read_statement(text, "a.csv")
    columns = {"date": "When", "name": "Who", "amount": "How much"}
    with pytest.raises(StatementError, match=r"a\.csv, line 2: the currency is missing; use --currency EUR"):
        read_statement(text, "a.csv", columns)
    assert read_statement(text, "a.csv", columns, "EUR")[0].amount == -5


def test_summarised_payments_vary() -> None:
    rows = "\n".join(f"2027-01-{day:02},Shop,-{day}.5,EUR" for day in (3, 8, 11, 17, 25))
    payments = read_statement(f"date,name,amount,currency\n{rows}\n".encode(), "a.csv")
    text = write_scenario(payments, title="a", summarise=True)
    assert "amount = {between = [3.50, 25.50]}" in text
    assert len(read(text, "toml").plan().transactions) == 5


def test_anonymised_payments_keep_no_names() -> None:
    payments = read_statement(BANK.encode(), "bank.csv")
    text = write_scenario(payments, title="a", anonymise=True)
    assert not any(one.name in text for one in payments)
    assert "1150" not in text
    assert text.count('every = "month on the 4th"') == 1


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "no line has the headers"),
        (b"\x89PNG\0\0", "the file is binary; export a CSV or OFX file"),
        (b"date,name,amount\n", "the file has no payments"),
        (b"x" * (MAX_STATEMENT_BYTES + 1), "the file must have at most 4,194,304 bytes"),
        (b"date,name,amount,currency\n03/04/2027,a,1,EUR\n", "the dates are ambiguous, such as '03/04/2027'"),
        (b"date,name,amount,currency\n2027-13-01,a,1,EUR\n", "f, line 2: invalid date '2027-13-01'"),
        (b"date,name,amount,currency\n2027-01-01,a,one,EUR\n", "f, line 2: invalid amount 'one'"),
        (b"date,name,amount,currency\n2027-01-01,a,0,EUR\n", "the file has no payments"),
        (b"date,name,amount,currency\n2027-01-01,a,1-2,EUR\n", "f, line 2: invalid amount '1-2'"),
        (b"date,name,amount,currency\n2027-01-01,a,1000000001,EUR\n", "the amount '1000000001' exceeds 1,000,000,000"),
        (b"date,name,amount,currency\n2027-01-01,a,1,EUR\n2040-01-01,a,1,EUR\n", "they must span at most 9 years"),
        (b"date,amount\n2027-01-01,1\n", "no column has the name or the description"),
        (b"<OFX><STMTTRN><TRNAMT>x</STMTTRN></OFX>", "has an invalid date, amount or currency"),
        (b'<!DOCTYPE x [<!ENTITY a "b">]><OFX>&a;</OFX>', "the file has no payments"),
    ],
)  # fmt: skip
def test_bad_files_give_one_clear_error(content: bytes, problem: str) -> None:
    with pytest.raises(StatementError) as caught:
        read_statement(content, "f")
    assert problem in str(caught.value)


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
        f"28/01/2026,BGC,ACME; Lohn,,2834.17,100.00\n03/01/2026,DEB,{UMLAUT},4.20,,100.00"
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
    "Revolut in German": (
        "Art,Produkt,Datum des Beginns,Datum des Abschlusses,Beschreibung,Betrag,Gebühr,Währung,Status,Kontostand\n"
        f"Kartenzahlung,Girokonto,2026-01-02 10:00:00,2026-01-03 11:12:13,{UMLAUT},-4.20,0.00,EUR,ABGESCHLOSSEN,-4.20\n"
        "Aufladung,Girokonto,2026-01-28 10:00:00,2026-01-28 11:12:13,ACME; Lohn,2834.17,0.00,EUR,ABGESCHLOSSEN,2829.97"
    ),
    "comdirect": (
        '"Umsätze Girokonto";"Zeitraum: 30 Tage";\n'
        '"Buchungstag";"Wertstellung (Valuta)";"Vorgang";"Buchungstext";"Umsatz in EUR";\n'
        '"28.01.2026";"28.01.2026";"Gutschrift";"ACME; Lohn";"2.834,17";\n'
        f'"03.01.2026";"03.01.2026";"Karte";"{UMLAUT}";"-4,20";'
    ),
    "N26": (
        '"Booking Date","Value Date","Partner Name",Type,"Payment Reference","Amount (EUR)","Original Amount"\n'
        f'2026-01-03,2026-01-03,"{UMLAUT}",Presentment,,-4.20,-4.20\n'
        '2026-01-28,2026-01-28,,Income,"ACME; Lohn",2834.17,'
    ),
    "Starling": (
        "Date,Counter Party,Reference,Type,Amount (EUR),Balance (EUR),Spending Category\n"
        f"28/01/2026,ACME; Lohn,x,FASTER PAYMENT,2834.17,1.00,INCOME\n03/01/2026,{UMLAUT},x,CARD,-4.20,1.00,EATING_OUT"
    ),
    "Capital One": (
        "Transaction Date,Posted Date,Card No.,Description,Debit,Credit\n"
        f"2026-01-28,2026-01-29,12,ACME; Lohn,0.00,2834.17\n2026-01-03,2026-01-04,12,{UMLAUT},4.20,"
    ),
}  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252"])
@pytest.mark.parametrize("bank", DIALECTS)
def test_dialects_of_banks_are_read(bank: str, encoding: str) -> None:
    payments = read_statement(DIALECTS[bank].encode(encoding), "a.csv", currency="EUR")
    assert [(str(one.day), one.name, one.amount, one.currency) for one in payments] == [
        ("2026-01-03", UMLAUT, Decimal("-4.20"), "EUR"),
        ("2026-01-28", "ACME; Lohn", Decimal("2834.17"), "EUR"),
    ]


def test_currency_in_a_header_is_used_unless_another_is_given() -> None:
    content = DIALECTS["DKB"].encode()
    assert {one.currency for one in read_statement(content, "a.csv")} == {"EUR"}
    assert {one.currency for one in read_statement(content, "a.csv", currency="CHF")} == {"CHF"}


class _Counting(Recurrence, frozen=True):
    """Every day of nine years. It counts the days that are read."""

    read: list[int] = []

    def ordinals(self, first: int, last: int) -> Iterator[int]:
        for day in range(first, first + 9 * 365):
            self.read.append(day)
            yield day


def test_recurrence_is_compared_only_up_to_the_first_difference() -> None:
    """Thousands of names with three payments each are compared with a hundred recurrences each."""
    days = [date(2020, 1, 1), date(2020, 1, 2), date(2028, 1, 1)]
    recurrence = _Counting(read=[])
    assert _nominal_days(recurrence, days, "keep") == []
    assert len(recurrence.read) == 3
    assert _nominal_days(recurrence, days[:2], "keep") == [day.toordinal() for day in days[:2]]


@pytest.mark.parametrize(("gap", "jitter"), [(3, 1), (12, 4), (15, 5), (60, 5), (400, 5)])
def test_jitter_of_irregular_payments_stays_within_the_scenario(gap: int, jitter: int) -> None:
    days = [date(2020, 1, 1) + timedelta(days=gap * number + (number == 1)) for number in range(4)]
    text = write_scenario([Payment(day, "Fuel", Decimal(-40), "EUR") for day in days], title="a", summarise=True)
    assert f"jitter_days = {jitter}\n" in text
    assert len(read(text, "toml").plan().transactions) == 4
