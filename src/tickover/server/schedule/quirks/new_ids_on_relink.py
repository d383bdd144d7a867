from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from tickover.server.schedule import row_ids
from tickover.server.schedule.bank_rows import BankConnection, Row


def new_ids_on_relink(rows: Sequence[Row], connection: BankConnection) -> Iterator[Row]:
    """The IDs of rows are those of one connection. `BankView` has the same rule for accounts."""
    for row in rows:
        pending_id, content = row.content.pending_id, row.content
        if pending_id is not None:
            content = replace(content, pending_id=row_ids.of_connection(pending_id, connection.key))
        yield replace(row, id=row_ids.of_connection(row.id, connection.key), content=content)
