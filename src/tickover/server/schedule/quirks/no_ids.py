from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from tickover.server.schedule.bank_rows import BankConnection, Row


def no_ids(rows: Sequence[Row], connection: BankConnection) -> Iterator[Row]:
    """The bank doesn't tell the IDs of rows."""
    for row in rows:
        yield replace(row, content=replace(row.content, has_id=False))
