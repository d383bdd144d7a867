"""Account statements of clocks in the formats of banks and bookkeeping programs."""

from collections.abc import Mapping
from typing import Final

from tickover.api.arguments import Amount
from tickover.api.results import Snapshot
from tickover.statements.bank_formats import write_camt053, write_ofx
from tickover.statements.ledger_formats import write_beancount, write_hledger
from tickover.statements.statement import Statement, build_statements
from tickover.statements.table_formats import write_csv, write_json

__all__ = ["FORMATS", "Statement", "build_statements", "export"]

FORMATS: Final = {
    "csv": write_csv,
    "json": write_json,
    "hledger": write_hledger,
    "beancount": write_beancount,
    "ofx": write_ofx,
    "camt053": write_camt053,
}


def export(clock: Snapshot, format: str, *, opening: Mapping[str, Amount] = {}, pending: bool = False) -> str:
    """Return a clock's transactions as a file in one of FORMATS. With `pending`, include scheduled ones."""
    if format not in FORMATS:
        raise ValueError(f"unknown format {format!r}; available formats: {', '.join(FORMATS)}")
    return FORMATS[format](build_statements(clock, opening, pending=pending))
