from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Final

from msgspec.structs import replace

from tickover.api.timestamps import Instant
from tickover.server.schedule import row_ids
from tickover.server.schedule.bank_rows import BankConnection, Row

_RECENT: Final = timedelta(days=30)

_Ids = list[tuple[Instant, str]]
"""The IDs of a row, and from when on each is told."""


def new_ids(rows: Sequence[Row], connection: BankConnection) -> Iterator[Row]:
    """On the first of each month, rows of the last 30 days get another ID. A booked row names its hold's last one."""
    told: dict[str, _Ids] = {}
    for row in rows:
        # A booked row may have the ID of its hold. It keeps the last one.
        ids = told.setdefault(row.id, [(row.since, row.id)])
        ids += [
            (first, row_ids.renewed(row.id, first))
            for first in _firsts_after(row.content.at)
            if first > ids[-1][0] and (row.until is None or first < row.until)
        ]
    for row in rows:
        pending_id = row.content.pending_id
        holds = told[pending_id] if pending_id else []
        changes = {at for at, _ in (*told[row.id], *holds) if row.since < at and (row.until is None or at < row.until)}
        begins = sorted({row.since, *changes})
        for since, until in zip(begins, [*begins[1:], row.until], strict=True):
            content = replace(row.content, pending_id=_id_at(since, holds)) if holds else row.content
            yield replace(row, id=_id_at(since, told[row.id]), content=content, since=since, until=until)


def _id_at(at: Instant, ids: _Ids) -> str:
    return ids[bisect_right(ids, at, key=itemgetter(0)) - 1][1]


def _firsts_after(at: Instant) -> Iterator[Instant]:
    """Return the first days of months that are at most 30 days after the date."""
    day = datetime(at.year, at.month, at.day, tzinfo=UTC)
    first = day.replace(day=1)
    while (first := (first + timedelta(days=31)).replace(day=1)) - _RECENT <= day:
        yield first
