from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from tickover.server.schedule.bank_rows import BankConnection, Row


def unlinked(rows: Sequence[Row], connection: BankConnection) -> Iterator[Row]:
    """The booked row doesn't name its pending row."""
    for row in rows:
        yield replace(row, content=replace(row.content, pending_id=None))
