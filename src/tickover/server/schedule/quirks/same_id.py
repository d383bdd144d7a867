from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from tickover.server.schedule.bank_rows import BankConnection, Row


def same_id(rows: Sequence[Row], connection: BankConnection) -> Iterator[Row]:
    """The booked row keeps the ID of its pending row, and names none."""
    for row in rows:
        pending_id = row.content.pending_id
        yield replace(row, id=pending_id, content=replace(row.content, pending_id=None)) if pending_id else row
