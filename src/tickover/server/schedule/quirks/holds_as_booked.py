from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from tickover.server.schedule.bank_rows import BankConnection, Row


def holds_as_booked(rows: Sequence[Row], connection: BankConnection) -> Iterator[Row]:
    """A pending row says that it is booked. The booked row replaces it, and doesn't name it."""
    for row in rows:
        yield replace(row, content=replace(row.content, is_pending=False, pending_id=None))
