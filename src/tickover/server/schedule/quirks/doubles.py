from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from tickover.server.schedule import row_ids
from tickover.server.schedule.bank_rows import BankConnection, Row

_DURATION: Final = timedelta(days=1)
_EVERY: Final = 10


def doubles(rows: Sequence[Row], connection: BankConnection) -> Iterator[Row]:
    """Every tenth transaction is told twice for one day after it was booked."""
    yield from rows
    booked = next(row for row in rows if not row.content.is_pending)
    source = booked.source
    if not source.is_transfer and source.number % _EVERY == 0:
        yield replace(booked, id=row_ids.copied(booked.id), until=booked.since + _DURATION)
