"""Statements in the formats of banks: OFX 2.1.1 and ISO 20022 camt.053.001.02."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from html import escape
from typing import Final

from tickover.scenarios.statements.statement import Entry, Statement, plain_number

_OFX_HEADER: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>\n'
)
_OFX_ACCOUNT_TYPES: Final = {"SAVINGS": "SAVINGS", "CREDIT_CARD": "CREDITLINE", "LOAN": "CREDITLINE"}
"""All other accounts are CHECKING."""
_CAMT_NAMESPACE: Final = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"
_MAX_CAMT_DECIMALS: Final = 5
_MAX_CAMT_DIGITS: Final = 18


def _element(name: str, *content: str, **attributes: str) -> str:
    """Return an XML element. Its content is XML already."""
    written = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    return f"<{name}{written}>{''.join(content)}</{name}>"


def _text(name: str, text: str, max_length: int = 255) -> str:
    return _element(name, escape(text[:max_length], quote=False))


def write_ofx(statements: Sequence[Statement]) -> str:
    """Return an OFX file with the statements."""
    _require_any(statements)
    status = _element("STATUS", _text("CODE", "0"), _text("SEVERITY", "INFO"))
    sign_on = _element("SONRS", status, _text("DTSERVER", _ofx_time(statements[0].end)), _text("LANGUAGE", "ENG"))
    responses = [
        _element("STMTTRNRS", _text("TRNUID", str(number)), status, _ofx_statement(statement, number))
        for number, statement in enumerate(statements, 1)
    ]
    document = _element("OFX", _element("SIGNONMSGSRSV1", sign_on), _element("BANKMSGSRSV1", *responses))
    return f"{_OFX_HEADER}{document}\n"


def _require_any(statements: Sequence[Statement]) -> None:
    if not statements:
        raise ValueError("the clock has no transactions, and this format needs one; use csv, or include pending ones")


def _ofx_statement(statement: Statement, number: int) -> str:
    account = _element(
        "BANKACCTFROM",
        _text("BANKID", "TICKOVER"),
        _text("ACCTID", _account_id(statement, number, 22)),
        _text("ACCTTYPE", _OFX_ACCOUNT_TYPES.get(statement.account_type, "CHECKING")),
    )
    entries = _element(
        "BANKTRANLIST",
        _text("DTSTART", _ofx_time(statement.start)),
        _text("DTEND", _ofx_time(statement.end)),
        *(_ofx_entry(entry, statement.currency) for entry in statement.entries),
    )
    closing = _element(
        "LEDGERBAL",
        _text("BALAMT", plain_number(statement.closing, statement.currency)),
        _text("DTASOF", _ofx_time(statement.end)),
    )
    opening = _element(
        "BAL",
        _text("NAME", "Opening balance"),
        _text("DESC", "The balance before the first transaction"),
        _text("BALTYPE", "DOLLAR"),
        _text("VALUE", plain_number(statement.opening, statement.currency)),
        _text("DTASOF", _ofx_time(statement.start)),
    )
    currency = _text("CURDEF", statement.currency)
    return _element("STMTRS", currency, account, entries, closing, _element("BALLIST", opening))


def _ofx_entry(entry: Entry, currency: str) -> str:
    # NAME has at most 32 characters, and MEMO at most 255.
    memo = entry.name if len(entry.name) > 32 else entry.category
    return _element(
        "STMTTRN",
        _text("TRNTYPE", "CREDIT" if entry.amount > 0 else "DEBIT"),
        _text("DTPOSTED", _ofx_time(entry.at)),
        _text("TRNAMT", plain_number(entry.amount, currency)),
        _text("FITID", entry.id),
        _text("NAME", (entry.name or "-")[:32].strip()),
        *([_text("MEMO", memo)] if memo else []),
    )


def _ofx_time(at: datetime) -> str:
    return f"{at:%Y%m%d%H%M%S}.{at.microsecond // 1000:03}[0:GMT]"


def write_camt053(statements: Sequence[Statement]) -> str:
    """Return a camt.053 document with the statements. Raise ValueError for too many decimals."""
    _require_any(statements)
    created = _text("CreDtTm", _camt_time(statements[0].end))
    header = _element("GrpHdr", _text("MsgId", _short_id(statements[0].clock_id)), created)
    written = [_camt_statement(one, number, created) for number, one in enumerate(statements, 1)]
    message = _element("BkToCstmrStmt", header, *written)
    document = _element("Document", message, xmlns=_CAMT_NAMESPACE)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n'


def _camt_statement(statement: Statement, number: int, created: str) -> str:
    period = _element(
        "FrToDt", _text("FrDtTm", _camt_time(statement.start)), _text("ToDtTm", _camt_time(statement.end))
    )
    id = _account_id(statement, number, 34)
    account_id = _element("Id", _element("Othr", _text("Id", id)))
    return _element(
        "Stmt",
        _text("Id", id),
        created,
        period,
        _element("Acct", account_id, _text("Ccy", statement.currency)),
        _camt_balance(statement, "OPBD", statement.opening, statement.start),
        _camt_balance(statement, "CLBD", statement.closing, statement.end),
        *(_camt_entry(statement, entry) for entry in statement.entries),
    )


def _camt_balance(statement: Statement, code: str, amount: Decimal, at: datetime) -> str:
    kind = _element("Tp", _element("CdOrPrtry", _text("Cd", code)))
    return _element("Bal", kind, *_camt_amount(statement, amount), _element("Dt", _text("Dt", f"{at:%Y-%m-%d}")))


def _camt_entry(statement: Statement, entry: Entry) -> str:
    remittance = _element("RmtInf", _text("Ustrd", entry.name or "-", 140))
    return _element(
        "Ntry",
        _text("NtryRef", _short_id(entry.id)),
        *_camt_amount(statement, entry.amount),
        _text("Sts", "PDNG" if entry.pending else "BOOK"),
        _element("BookgDt", _text("DtTm", _camt_time(entry.at))),
        _element("ValDt", _text("Dt", f"{entry.at:%Y-%m-%d}")),
        _text("AcctSvcrRef", _short_id(entry.id)),
        _element("BkTxCd", _element("Prtry", _text("Cd", entry.category or "Other", 35))),
        _element("NtryDtls", _element("TxDtls", remittance)),
    )


def _camt_amount(statement: Statement, amount: Decimal) -> Iterator[str]:
    digits = plain_number(abs(amount), statement.currency)
    whole, _, decimals = digits.partition(".")
    if len(decimals) > _MAX_CAMT_DECIMALS or len(whole) + len(decimals) > _MAX_CAMT_DIGITS:
        shown = digits if len(digits) <= 30 else f"{digits[:30]}…"
        raise ValueError(f"camt.053 allows {_MAX_CAMT_DECIMALS} decimals, and {shown} has more; use another format")
    yield _element("Amt", digits, Ccy=statement.currency)
    yield _text("CdtDbtInd", "DBIT" if amount < 0 else "CRDT")


def _camt_time(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}+00:00"


def _account_id(statement: Statement, number: int, max_length: int) -> str:
    """Return the number of an account: the end of the clock's ID, and the currency or the number of the statement."""
    suffix = f"{number:03}" if statement.account else statement.currency
    return f"{_short_id(statement.clock_id)[-(max_length - 4) :]}-{suffix}"


def _short_id(id: str) -> str:
    """Return an ID without its prefix and hyphens, at most 35 characters."""
    return id.partition("_")[2].replace("-", "")[-35:]
