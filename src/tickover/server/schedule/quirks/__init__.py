"""The quirks of a bank: each is a function that changes what the bank tells of one item. No quirk changes balances."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from tickover.api.connections import Quirk
from tickover.server.schedule.bank_rows import BankConnection, Row
from tickover.server.schedule.quirks.doubles import doubles
from tickover.server.schedule.quirks.holds_as_booked import holds_as_booked
from tickover.server.schedule.quirks.holds_stay import holds_stay
from tickover.server.schedule.quirks.new_ids import new_ids
from tickover.server.schedule.quirks.new_ids_on_relink import new_ids_on_relink
from tickover.server.schedule.quirks.no_ids import no_ids
from tickover.server.schedule.quirks.rewrites_names import rewrites_names
from tickover.server.schedule.quirks.same_id import same_id
from tickover.server.schedule.quirks.short_history import short_history
from tickover.server.schedule.quirks.tells_late import tells_late
from tickover.server.schedule.quirks.unlinked import unlinked

# In the order in which they apply. Those before HOLDS_AS_BOOKED know pending rows by what the rows tell.
QUIRKS: Final[Mapping[Quirk, Callable[[Sequence[Row], BankConnection], Iterable[Row]]]] = {
    "SAME_ID": same_id,
    "UNLINKED": unlinked,
    "HOLDS_STAY": holds_stay,
    "REWRITES_NAMES": rewrites_names,
    "DOUBLES": doubles,
    "HOLDS_AS_BOOKED": holds_as_booked,
    "NEW_IDS": new_ids,
    "NEW_IDS_ON_RELINK": new_ids_on_relink,
    "NO_IDS": no_ids,
    "SHORT_HISTORY": short_history,
    "TELLS_LATE": tells_late,
}


class AppliedQuirks(Struct, frozen=True):
    """The quirks of a connection, and what they need of it. Connections with equal ones show the same rows."""

    names: frozenset[Quirk] = frozenset()
    connection: BankConnection = BankConnection()

    @classmethod
    def of(cls, names: Iterable[Quirk], connection: BankConnection) -> "AppliedQuirks":
        """Leave out what these quirks don't need."""
        names, unknown = frozenset(names), BankConnection()
        key = connection.key if "NEW_IDS_ON_RELINK" in names else unknown.key
        connected_at = connection.connected_at if "SHORT_HISTORY" in names else unknown.connected_at
        return cls(names, BankConnection(key, connected_at))

    def apply(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Return what the bank tells of an item, from the rows that a bank without quirks has for it."""
        for name, quirk in QUIRKS.items():
            if name in self.names:
                rows = list(quirk(rows, self.connection))
        return rows


NO_QUIRKS: Final = AppliedQuirks()
