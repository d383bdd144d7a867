"""What a bank tells at an instant, computed item by item from the clock that its owner sees.

The server computes lives of rows instead. Here, each quirk is a question about one instant.
"""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from zlib import crc32

Json = Any
_DAY = timedelta(days=1)


class Told(NamedTuple):
    account: str
    """Its key."""
    at: datetime
    name: str
    amount: float
    """Negative if money goes out."""
    category: str | None = None
    is_pending: bool = False
    pending_id: str | None = None


class Connection(NamedTuple):
    connected_at: datetime
    id: str = ""
    quirks: Collection[str] = ()


def told_rows(clock: Json, connection: Connection, at: datetime | None = None) -> dict[str, Told]:
    """Return the rows by their IDs, at the clock's time or earlier."""
    now = at or datetime.fromisoformat(clock["frozenTime"])
    if "TELLS_LATE" in connection.quirks:
        now -= 2 * _DAY
    rows: dict[str, Told] = {}
    for item in clock["transactions"] + clock["pendingTransactions"]:
        rows |= _payment(item, connection, now)
    for item in clock.get("transfers", ()):
        for side, account, amount in (
            ("out", item["from"], -item["amount"]),
            ("in", item["to"], item.get("received", item["amount"])),
        ):
            told = Told(account, datetime.fromisoformat(item["at"]), item["name"], amount)
            rows |= _booked(f"{item['id']}_{side}", told, connection, now)
    if "SHORT_HISTORY" in connection.quirks:
        first = (connection.connected_at - 90 * _DAY).date()
        rows = {id: told for id, told in rows.items() if told.at.date() >= first}
    if "NEW_IDS_ON_RELINK" in connection.quirks:
        own = "_" + connection.id.replace("-", "")[-12:]
        rows = {
            id + own: told._replace(pending_id=told.pending_id and told.pending_id + own) for id, told in rows.items()
        }
    return rows


def _payment(item: Json, connection: Connection, now: datetime) -> dict[str, Told]:
    quirks, account = connection.quirks, item.get("account", item["currency"].lower())
    at, sign = datetime.fromisoformat(item["at"]), 1 if item["type"] == "INCOME" else -1
    authorized_at = datetime.fromisoformat(item.get("authorizedAt", item["at"]))
    booked = Told(account, at, item["name"], sign * item["amount"], item.get("category"))
    if authorized_at == at:
        return _booked(item["id"], booked, connection, now)
    rows = {}
    hold_id, until = f"{item['id']}_p", at + (2 * _DAY if "HOLDS_STAY" in quirks else 0 * _DAY)
    last_hold_id = _renewed(hold_id, authorized_at, connection, min(now, until - timedelta(microseconds=1)))
    if authorized_at <= now < until:
        name, amount = item.get("authorizedName", item["name"]), sign * item.get("authorizedAmount", item["amount"])
        is_pending = "HOLDS_AS_BOOKED" not in quirks
        rows[last_hold_id] = Told(account, authorized_at, name, amount, booked.category, is_pending)
    if "SAME_ID" in quirks:
        return rows | _booked(hold_id, booked, connection, now, last_hold_id)
    if not {"UNLINKED", "HOLDS_AS_BOOKED"} & set(quirks):
        booked = booked._replace(pending_id=last_hold_id)
    return rows | _booked(item["id"], booked, connection, now)


def _booked(id: str, told: Told, connection: Connection, now: datetime, kept: str | None = None) -> dict[str, Told]:
    """Return the rows of an item from when it is booked on. `kept` is the ID that it keeps until it gets its own."""
    quirks = connection.quirks
    if now < told.at:
        return {}
    shown = told
    is_first_day = now < told.at + _DAY
    if "REWRITES_NAMES" in quirks and is_first_day:
        shown = told._replace(name=f"{told.name.upper()} *{crc32(id.encode()) % 10_000:04}", category=None)
    own = _renewed(id, told.at, connection, now)
    rows = {kept if kept and own == id else own: shown}
    number = id.removesuffix("_p").rpartition("_")[2]
    if "DOUBLES" in quirks and is_first_day and number.isdecimal() and int(number) % 10 == 0:
        rows[_renewed(f"{id}_2", told.at, connection, now)] = shown
    return rows


def _renewed(id: str, at: datetime, connection: Connection, now: datetime) -> str:
    if "NEW_IDS" in connection.quirks:
        for first in _firsts():
            if first - 30 * _DAY <= datetime(at.year, at.month, at.day, tzinfo=UTC) < first <= now:
                id = id.rpartition("_")[0] if _is_renewed(id) else id
                id = f"{id}_{first:%Y%m}"
    return id


def _is_renewed(id: str) -> bool:
    return len(id.rpartition("_")[2]) == 6


def _firsts() -> Iterator[datetime]:
    """Return the first days of the months of some years."""
    for year in range(2026, 2030):
        for month in range(1, 13):
            yield datetime(year, month, 1, tzinfo=UTC)
