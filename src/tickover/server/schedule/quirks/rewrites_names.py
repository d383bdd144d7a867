from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final
from zlib import crc32

from msgspec.structs import replace

from tickover.server.schedule.bank_rows import BankConnection, Row

_DELAY: Final = timedelta(days=1)


def rewrites_names(rows: Sequence[Row], connection: BankConnection) -> Iterator[Row]:
    """A booked row is first told as a card terminal writes it, for one day: `BAKERY *0412`, without a category."""
    for row in rows:
        if row.content.is_pending:
            yield row
            continue
        own_name_at = row.since + _DELAY
        name = f"{row.content.name.upper()} *{crc32(row.id.encode()) % 10_000:04}"
        yield replace(row, content=replace(row.content, name=name, category=None), until=own_name_at)
        yield replace(row, since=own_name_at)
