"""IDs of rows. Each begins with the ID of its item, so every ID that a bank ever told leads to the item."""

import re
from typing import Final

from tickover.api.timestamps import Instant
from tickover.server.schedule.items import id_prefix
from tickover.server.schedule.schedule import Schedule

_SUFFIXES: Final = "(_p)?(_2)?(_[0-9]{6})?(_[0-9a-f]{12})?"
"""What the functions below add, in this order."""


def held(id: str) -> str:
    """Return the ID of a pending row."""
    return f"{id}_p"


def copied(id: str) -> str:
    """Return the ID of the second copy of a row."""
    return f"{id}_2"


def renewed(id: str, since: Instant) -> str:
    """Return the ID that a row gets in a month."""
    return f"{id}_{since:%Y%m}"


def of_connection(id: str, key: bytes) -> str:
    """Return the ID that one connection alone has."""
    return f"{id}_{key.hex()[-12:]}"


def sides(id: str) -> tuple[str, str]:
    """Return the IDs of the two rows of a transfer."""
    return f"{id}_out", f"{id}_in"


class RowIds:
    """Reads the IDs of a clock's rows."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        transaction, transfer = id_prefix("txn", schedule.key), id_prefix("tfr", schedule.key)
        self._id = re.compile(
            rf"(?P<row>{transaction}(?P<transaction>[0-9]{{1,9}})|{transfer}(?P<transfer>[0-9]{{1,9}})(_out|_in)?){_SUFFIXES}"
        )

    def booked(self, id: str) -> str | None:
        """Return the ID that the same row has without quirks when it is booked, or None if it isn't of this clock."""
        found = self._id.fullmatch(id)
        if found is None:
            return None
        number, items = (
            (found["transaction"], self._schedule.transactions)
            if found["transfer"] is None
            else (found["transfer"], self._schedule.transfers)
        )
        return found["row"] if int(number) < items.next_number else None
