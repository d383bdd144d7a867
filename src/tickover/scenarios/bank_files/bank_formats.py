"""Account registers in the formats of banks: OFX 2.1.1 and ISO 20022 camt.053.001.02."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from html import escape
from typing import Any, Final

from tickover.scenarios.bank_files.account_register import AccountRegister, Entry, plain_number

_OFX_HEADER: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>\n'
)
_OFX_ACCOUNT_TYPES: Final = {"SAVINGS": "SAVINGS", "CREDIT_CARD": "CREDITLINE", "LOAN": "CREDITLINE"}
"""All other accounts are CHECKING."""
OFX_OPENING: Final = "The balance before the first transaction"
"""Describes the balance that a register begins with. OFX itself has only closing balances."""
_OFX_STATUS: Final = {"CODE": "0", "SEVERITY": "INFO"}
_CAMT_DOCUMENT: Final = 'Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"'
_MAX_CAMT_DECIMALS: Final = 5
_MAX_CAMT_DIGITS: Final = 18


def _xml(name: str, content: Any) -> str:
    """Return an element with text, or with the elements of a dictionary. A list repeats it."""
    if isinstance(content, list):
        return "".join(_xml(name, one) for one in content)
    is_text = isinstance(content, str)
    inner = escape(content, quote=False) if is_text else "".join(_xml(key, one) for key, one in content.items())
    return f"<{name}>{inner}</{name.partition(' ')[0]}>"


def write_ofx(registers: Sequence[AccountRegister]) -> str:
    """Return an OFX file with the registers."""
    _require_any(registers)
    sign_on = {"STATUS": _OFX_STATUS, "DTSERVER": _ofx_time(registers[0].end), "LANGUAGE": "ENG"}
    responses = [
        {"TRNUID": str(number), "STATUS": _OFX_STATUS, "STMTRS": _ofx_register(register, number)}
        for number, register in enumerate(registers, 1)
    ]
    document = {"SIGNONMSGSRSV1": {"SONRS": sign_on}, "BANKMSGSRSV1": {"STMTTRNRS": responses}}
    return f"{_OFX_HEADER}{_xml('OFX', document)}\n"


def _require_any(registers: Sequence[AccountRegister]) -> None:
    if not registers:
        raise ValueError("the clock has no transactions, and this format needs one; use csv")


def _ofx_register(register: AccountRegister, number: int) -> dict[str, Any]:
    start, end = _ofx_time(register.start), _ofx_time(register.end)
    return {
        "CURDEF": register.currency,
        "BANKACCTFROM": {
            "BANKID": "TICKOVER",
            "ACCTID": _account_id(register, number, 22),
            "ACCTTYPE": _OFX_ACCOUNT_TYPES.get(register.account_type, "CHECKING"),
        },
        "BANKTRANLIST": {
            "DTSTART": start,
            "DTEND": end,
            "STMTTRN": [_ofx_entry(entry) for entry in register.entries],
        },
        "LEDGERBAL": {"BALAMT": plain_number(register.closing, register.currency), "DTASOF": end},
        "BALLIST": {
            "BAL": {
                "NAME": "Opening balance",
                "DESC": OFX_OPENING,
                "BALTYPE": "DOLLAR",
                "VALUE": plain_number(register.opening, register.currency),
                "DTASOF": start,
            }
        },
    }


def _ofx_entry(entry: Entry) -> dict[str, str]:
    # NAME has at most 32 characters, and MEMO at most 255.
    memo = entry.name if len(entry.name) > 32 else entry.category
    return {
        "TRNTYPE": "CREDIT" if entry.amount > 0 else "DEBIT",
        "DTPOSTED": _ofx_time(entry.at),
        "TRNAMT": plain_number(entry.amount, entry.currency),
        "FITID": entry.id,
        "NAME": (entry.name or "-")[:32].strip(),
        **({"MEMO": memo} if memo else {}),
    }


def _ofx_time(at: datetime) -> str:
    return f"{at:%Y%m%d%H%M%S}.{at.microsecond // 1000:03}[0:GMT]"


def write_camt053(registers: Sequence[AccountRegister]) -> str:
    """Return a camt.053 document with the registers. Raise ValueError for too many decimals."""
    _require_any(registers)
    created = _camt_time(registers[0].end)
    message = {
        "GrpHdr": {"MsgId": _short_id(registers[0].clock_id), "CreDtTm": created},
        "Stmt": [_camt_register(one, number, created) for number, one in enumerate(registers, 1)],
    }
    document = _xml(_CAMT_DOCUMENT, {"BkToCstmrStmt": message})
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n'


def _camt_register(register: AccountRegister, number: int, created: str) -> dict[str, Any]:
    id = _account_id(register, number, 34)
    return {
        "Id": id,
        "CreDtTm": created,
        "FrToDt": {"FrDtTm": _camt_time(register.start), "ToDtTm": _camt_time(register.end)},
        "Acct": {"Id": {"Othr": {"Id": id}}, "Ccy": register.currency},
        "Bal": [
            _camt_balance(register, "OPBD", register.opening, register.start),
            _camt_balance(register, "CLBD", register.booked, register.frozen_time),
        ],
        "Ntry": [_camt_entry(entry) for entry in register.entries],
    }


def _camt_balance(register: AccountRegister, code: str, amount: Decimal, at: datetime) -> dict[str, Any]:
    kind = {"CdOrPrtry": {"Cd": code}}
    return {"Tp": kind, **_camt_amount(amount, register.currency), "Dt": {"Dt": f"{at:%Y-%m-%d}"}}


def _camt_entry(entry: Entry) -> dict[str, Any]:
    return {
        "NtryRef": _short_id(entry.id),
        **_camt_amount(entry.amount, entry.currency),
        "Sts": "PDNG" if entry.pending else "BOOK",
        "BookgDt": {"DtTm": _camt_time(entry.at)},
        "ValDt": {"Dt": f"{entry.at:%Y-%m-%d}"},
        "AcctSvcrRef": _short_id(entry.id),
        "BkTxCd": {"Prtry": {"Cd": (entry.category or "Other")[:35]}},
        "NtryDtls": {"TxDtls": {"RmtInf": {"Ustrd": entry.name or "-"}}},
    }


def _camt_amount(amount: Decimal, currency: str) -> dict[str, str]:
    digits = plain_number(abs(amount), currency)
    whole, _, decimals = digits.partition(".")
    if len(decimals) > _MAX_CAMT_DECIMALS or len(whole) + len(decimals) > _MAX_CAMT_DIGITS:
        shown = digits if len(digits) <= 30 else f"{digits[:30]}…"
        raise ValueError(f"camt.053 allows {_MAX_CAMT_DECIMALS} decimals, and {shown} has more; use another format")
    return {f'Amt Ccy="{currency}"': digits, "CdtDbtInd": "DBIT" if amount < 0 else "CRDT"}


def _camt_time(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}+00:00"


def _account_id(register: AccountRegister, number: int, max_length: int) -> str:
    """Return the number of an account: the end of the clock's ID, and the currency or the number of the register."""
    suffix = f"{number:03}" if register.account else register.currency
    return f"{_short_id(register.clock_id)[-(max_length - 4) :]}-{suffix}"


def _short_id(id: str) -> str:
    """Return an ID without its prefix and hyphens, at most 35 characters."""
    return id.partition("_")[2].replace("-", "")[-35:]
