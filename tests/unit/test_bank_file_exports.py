"""Exports of random clocks: other programs read every format, and agree on IDs, amounts and balances.

The tests import these programs, because every worker imports this module, and the imports take a second.
"""

import csv
import io
import json
import re
from datetime import timedelta
from decimal import Decimal
from importlib.metadata import distribution
from random import Random
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from tests.support.random_snapshots import START, random_opening, random_snapshot, snapshot_with_accounts
from tickover.api.clocks import Snapshot
from tickover.scenarios.bank_files import FORMATS, AccountRegister, build_registers, export
from tickover.scenarios.bank_files.account_register import Entry
from tickover.scenarios.bank_files.bank_file_reader import read_bank_file


class Exported(NamedTuple):
    clock: Snapshot
    opening: dict[str, Decimal]
    pending: bool

    @property
    def registers(self) -> list[AccountRegister]:
        return build_registers(self.clock, self.opening, pending=self.pending)

    @property
    def entries(self) -> list[Entry]:
        return [entry for register in self.registers for entry in register.entries]

    def text(self, format: str) -> str:
        return export(self.clock, format, opening=self.opening, pending=self.pending)


def random_clock(seed: int) -> Exported:
    random = Random(seed)
    return Exported(random_snapshot(random), random_opening(random), pending=random.random() < 0.5)


@pytest.fixture(params=[*range(5), "accounts"])
def exported(request: pytest.FixtureRequest) -> Exported:
    if request.param == "accounts":
        return Exported(snapshot_with_accounts(), {}, pending=False)
    return random_clock(request.param)


@pytest.mark.parametrize("seed", range(5))
def test_registers_have_every_transaction_and_the_balances(seed: int) -> None:
    exported = clock, opening, pending = random_clock(seed)
    items = [*clock.transactions, *(clock.pending_transactions if pending else [])]
    assert sorted(entry.id for entry in exported.entries) == sorted(item.id for item in items)
    for register in exported.registers:
        amounts = [
            item.amount if item.type == "INCOME" else -item.amount
            for item in items
            if item.currency == register.currency
        ]
        assert register.opening == opening.get(register.currency, 0)
        assert register.closing == sum(amounts, start=register.opening)
        assert [entry.amount for entry in register.entries] == amounts
        assert [entry.pending for entry in register.entries] == [
            entry.at > clock.frozen_time for entry in register.entries
        ]


@pytest.mark.parametrize("seed", range(5))
def test_csv_has_every_transaction_and_the_balances(seed: int) -> None:
    exported = random_clock(seed)
    rows = list(csv.DictReader(io.StringIO(exported.text("csv"))))
    assert [row["id"] for row in rows if row["type"] == "transaction"] == [entry.id for entry in exported.entries]
    for register in exported.registers:
        mine = [row for row in rows if row["currency"] == register.currency]
        assert (mine[0]["type"], mine[-1]["type"]) == ("opening", "closing")
        assert Decimal(mine[0]["balance"]) == register.opening
        assert Decimal(mine[-1]["balance"]) == Decimal(mine[-2]["balance"]) == register.closing


def test_beancount_accepts_the_file(exported: Exported) -> None:
    from beancount import loader
    from beancount.core.data import Balance

    entries, errors, _ = loader.load_string(exported.text("beancount"))
    assert errors == []
    checked: list[Any] = [entry for entry in entries if isinstance(entry, Balance)]
    closing = [(one.currency, one.closing) for one in exported.registers]
    assert sorted((one.amount.currency, one.amount.number) for one in checked) == sorted(closing)
    read: list[Any] = [entry for entry in entries if "id" in entry.meta]
    found = {
        entry.meta["id"]: (entry.date, entry.flag, entry.narration, entry.postings[0].units.number) for entry in read
    }
    assert found == {
        one.id: (one.at.date(), "!" if one.pending else "*", one.name, one.amount) for one in exported.entries
    }


def test_ofxtools_reads_the_ofx_file(exported: Exported) -> None:
    from ofxtools.Parser import OFXTree

    tree = OFXTree()
    tree.parse(io.BytesIO(exported.text("ofx").encode()))
    found = tree.convert().statements
    assert len({one.bankacctfrom.acctid for one in found}) == len(found)
    if exported.clock.accounts:
        assert [one.bankacctfrom.accttype for one in found] == ["CHECKING", "CREDITLINE", "CHECKING"]
    for read, register in zip(found, exported.registers, strict=True):
        assert (read.curdef, read.ledgerbal.balamt) == (register.currency, register.closing)
        assert read.ballist[0].value == register.opening
        assert [item.fitid for item in read.transactions] == [entry.id for entry in register.entries]
        assert [item.trnamt for item in read.transactions] == [entry.amount for entry in register.entries]
        assert [item.dtposted for item in read.transactions] == [entry.at for entry in register.entries]
        assert [item.name for item in read.transactions] == [
            (entry.name or "-")[:32].strip() for entry in register.entries
        ]
        assert [item.memo for item in read.transactions] == [
            (entry.name if len(entry.name) > 32 else entry.category) or None for entry in register.entries
        ]
        assert (read.ballist[0].dtasof, read.ledgerbal.dtasof) == (register.start, register.end)


def test_camt053_has_the_elements_of_the_schema(exported: Exported) -> None:
    from pyiso20022.camt.camt_053_001_02 import Document
    from xsdata.formats.dataclass.parsers import XmlParser
    from xsdata.formats.dataclass.parsers.config import ParserConfig

    parser = XmlParser(config=ParserConfig(fail_on_unknown_properties=True, fail_on_converter_warnings=True))
    document: Any = parser.from_string(exported.text("camt053"), Document)
    assert len({read.id for read in document.bk_to_cstmr_stmt.stmt}) == len(exported.registers)
    for read, register in zip(document.bk_to_cstmr_stmt.stmt, exported.registers, strict=True):
        balances = {one.tp.cd_or_prtry.cd.value: signed(one) for one in read.bal}
        booked = sum((entry.amount for entry in register.entries if not entry.pending), start=register.opening)
        assert balances == {"OPBD": register.opening, "CLBD": booked}
        days = {one.tp.cd_or_prtry.cd.value: one.dt.dt.to_date() for one in read.bal}
        assert days == {"OPBD": register.start.date(), "CLBD": exported.clock.frozen_time.date()}
        assert [entry.ntry_dtls[0].tx_dtls[0].rmt_inf.ustrd for entry in read.ntry] == [
            [entry.name or "-"] for entry in register.entries
        ]
        assert [(entry.sts.value, entry.bk_tx_cd.prtry.cd) for entry in read.ntry] == [
            ("PDNG" if entry.pending else "BOOK", (entry.category or "Other")[:35]) for entry in register.entries
        ]
        assert [entry.bookg_dt.dt_tm.to_datetime() for entry in read.ntry] == [
            entry.at.replace(microsecond=0) for entry in register.entries
        ]
        assert [signed(entry) for entry in read.ntry] == [entry.amount for entry in register.entries]
        assert [entry.ntry_ref for entry in read.ntry] == [
            entry.id.partition("_")[2][-35:] for entry in register.entries
        ]
        assert read.acct.ccy == register.currency


@pytest.fixture(scope="module")
def camt053_schema() -> Any:
    from xmlschema import XMLSchema

    return XMLSchema(str(distribution("camt053").locate_file("camt053/xsd/camt.053.001.02.xsd")))


def test_camt053_is_valid_by_its_public_schema(exported: Exported, camt053_schema: Any) -> None:
    camt053_schema.validate(exported.text("camt053"))


def signed(read: Any) -> Decimal:
    amount: Decimal = read.amt.value
    return -amount if read.cdt_dbt_ind.value == "DBIT" else amount


def test_too_many_decimals_are_an_error_in_camt053() -> None:
    clock = random_snapshot(Random(1))
    with pytest.raises(ValueError, match=r"camt\.053 allows 5 decimals, and 0\.000001 has more"):
        export(clock, "camt053", opening={"EUR": Decimal("0.000001")})
    assert export(clock, "camt053", opening={"EUR": Decimal("0.00001")})


@pytest.mark.parametrize("field", ["name", "category"])
@pytest.mark.parametrize("separator", ["", 'a;"', "a; "])
@pytest.mark.parametrize("start", ["=", "+", "-", "@"])
def test_formula_is_escaped_in_csv_and_read_back(start: str, separator: str, field: str) -> None:
    """Where `;` separates cells, a part of a name is a cell of its own."""
    text = f"{separator}{start}cmd|' /C calc'!A0".strip()
    item = replace(random_snapshot(Random(1)).transactions[0], **{field: text})
    clock = replace(random_snapshot(Random(1)), transactions=[item], pending_transactions=[])
    exported = export(clock, "csv")
    for cell in re.split(r"[;,]", exported):
        assert not re.match(rf"[\s\"]*[{start}]cmd", cell)
    [payment] = read_bank_file(exported.encode(), "a.csv").payments
    assert getattr(payment, field) == text


@pytest.mark.parametrize(
    ("currency", "amount", "expected"),
    [("EUR", "74", "-74.00"), ("EUR", "0.001", "-0.001"), ("JPY", "1200", "-1200"), ("BHD", "1.5", "-1.500")],
)
@pytest.mark.parametrize("format", ["csv", "hledger", "beancount", "ofx", "camt053"])
def test_amount_has_the_decimals_of_its_currency(format: str, currency: str, amount: str, expected: str) -> None:
    item = replace(
        random_snapshot(Random(1)).transactions[0], amount=Decimal(amount), currency=currency, type="EXPENSE"
    )
    clock = replace(random_snapshot(Random(1)), transactions=[item], pending_transactions=[])
    text = export(clock, format)
    written = expected.removeprefix("-") if format == "camt053" else expected
    assert re.search(rf"[ ,>]{re.escape(written)}[ ,<\n]", text), text


@pytest.mark.parametrize("format", FORMATS)
def test_a_clock_without_transactions(format: str) -> None:
    clock = Snapshot(
        id="clock_1", status="READY", frozen_time=START, max_time=START.replace(year=2037), expires_at=START,
        transactions=[], pending_transactions=[], goals=[],
    )  # fmt: skip
    if format in ("ofx", "camt053"):
        with pytest.raises(ValueError, match="the clock has no transactions"):
            export(clock, format)
    else:
        assert export(clock, format)


def test_json_has_names_as_they_are() -> None:
    item = replace(random_snapshot(Random(1)).transactions[0], name="  two  blanks\t", category=" x\u2028y ")
    clock = replace(random_snapshot(Random(1)), transactions=[item], pending_transactions=[])
    [register] = json.loads(export(clock, "json"))["statements"]
    assert [(entry["name"], entry["category"]) for entry in register["entries"]] == [(item.name, item.category)]


@pytest.mark.parametrize("format", FORMATS)
def test_currency_whose_transactions_are_all_scheduled_is_in_the_file(format: str) -> None:
    clock = random_snapshot(Random(1))
    scheduled = replace(clock.transactions[0], currency="GBP", at=clock.frozen_time + timedelta(days=1))
    assert "GBP" in export(replace(clock, transactions=[], pending_transactions=[scheduled]), format)


# Accounts


def test_hledger_rounds_no_account_of_a_currency() -> None:
    clock = snapshot_with_accounts()
    first, second, *others = clock.accounts
    accounts = [replace(first, opening_balance=Decimal("0.12345")), second, *others]
    for ordered in (accounts, accounts[::-1]):
        assert "commodity EUR 1000.00000\n" in export(replace(clock, accounts=ordered), "hledger")


def test_each_account_has_a_register_with_both_ends_of_transfers() -> None:
    found = {one.account: one for one in build_registers(snapshot_with_accounts(), {}, pending=False)}
    balances: dict[str, Any] = {key: (one.opening, one.closing) for key, one in found.items()}
    assert balances == {"main": (100, 40), "card": (-20, Decimal("-44.2")), "usd": (0, 11)}
    assert [(entry.id, entry.amount) for entry in found["card"].entries] == [
        ("txn_1", Decimal("-74.2")),
        ("tfr_1_in", 50),
    ]
