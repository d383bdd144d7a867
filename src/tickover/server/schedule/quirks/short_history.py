from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from tickover.server.schedule.bank_rows import BankConnection, Row

_HISTORY: Final = timedelta(days=90)


def short_history(rows: Sequence[Row], connection: BankConnection) -> Iterator[Row]:
    """Only rows are told whose date is at most 90 days before the bank's time when the clock was connected."""
    first_day = (connection.connected_at - _HISTORY).date()
    for row in rows:
        if row.content.at.date() >= first_day:
            yield row
