from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from tickover.server.schedule.bank_rows import BankConnection, Row

_STAY: Final = timedelta(days=2)


def holds_stay(rows: Sequence[Row], connection: BankConnection) -> Iterator[Row]:
    """A pending row stays for two days beside its booked row."""
    for row in rows:
        yield replace(row, until=row.until + _STAY) if row.content.is_pending and row.until else row
