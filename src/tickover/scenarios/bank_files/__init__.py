"""Files of banks and bookkeeping programs: reads their payments, and writes the account registers of clocks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from tickover.api.clocks import Snapshot
from tickover.api.command_arguments import Amount
from tickover.scenarios.bank_files.account_register import AccountRegister, build_registers, clean_text
from tickover.scenarios.bank_files.bank_formats import write_camt053, write_ofx
from tickover.scenarios.bank_files.ledger_formats import write_beancount, write_hledger
from tickover.scenarios.bank_files.table_formats import write_csv, write_json

__all__ = ["FORMATS", "AccountRegister", "build_registers", "export"]


class FileFormat(Struct, frozen=True):
    write: Callable[[Sequence[AccountRegister]], str]
    extension: str
    media_type: str
    clean: Callable[[str], str] = clean_text
    """Returns a name or a category as the file can contain it."""


FORMATS: Final = {
    "csv": FileFormat(write_csv, "csv", "text/csv"),
    "json": FileFormat(write_json, "json", "application/json", clean=str),
    "hledger": FileFormat(write_hledger, "journal", "text/plain"),
    "beancount": FileFormat(write_beancount, "beancount", "text/plain"),
    "ofx": FileFormat(write_ofx, "ofx", "application/x-ofx"),
    "camt053": FileFormat(write_camt053, "xml", "application/xml"),
}


def export(
    clock: Snapshot, format: str, *, opening: Mapping[str, Amount] = {}, pending: bool = False, account: str = ""
) -> str:
    """Return a clock's transactions as a file in one of FORMATS. With `pending`, include scheduled ones.

    With `account`, the file has only the register of this account. Opening balances are for clocks without accounts.
    """
    file_format = FORMATS[format]
    registers = build_registers(clock, opening, pending=pending, clean=file_format.clean)
    return file_format.write([one for one in registers if not account or one.account == account])
