"""The view: what a caller sees of a schedule at an instant."""

from typing import Final

from tickover.api import ids
from tickover.api.timestamps import Instant
from tickover.server.schedule.encoded import ENCODER, Pieces, encode_items
from tickover.server.schedule.schedule import Schedule

_encode: Final = ENCODER.encode


def view(frozen_time: Instant, schedule: Schedule, names: bytes = b"", *, details: bool = False) -> bytes:
    """Return the clock at `frozen_time` as JSON. `names` has the members of `encode_names`.

    With `details`, each goal has its initial amount.
    """
    beside = vars(schedule)
    frame = beside.get("frame")
    if frame is None:
        frame = beside["frame"] = _encode_frame(schedule)
        # A schedule that a cache doesn't keep has one view, and no pieces.
        items = encode_items(schedule, frozen_time, details=details)
    else:
        pieces = beside.get("pieces")
        if pieces is None:
            pieces = beside["pieces"] = Pieces(schedule)
        items = pieces.select(frozen_time, details=details)
    before, after = frame
    joined = [before, _encode(frozen_time), after, names]
    if schedule.opening_balances is not None:
        joined += (b',"openingBalances":', _encode(schedule.opening_balances))
    if schedule.expectations is not None:
        joined += (b',"expectations":', _encode(schedule.expectations))
    if schedule.bank_defaults is not None:
        joined += (b',"bankDefaults":', _encode(schedule.bank_defaults))
    joined += items
    return b"".join(joined)


def _encode_frame(schedule: Schedule) -> tuple[bytes, bytes]:
    """Return the members before and after the frozen time, which are the same at every instant."""
    before = b'{"id":%b,"status":"READY","frozenTime":' % _encode(ids.write("clock", schedule.key))
    bounds = _encode(schedule.max_time), _encode(ids.expires_at(schedule.key))
    return before, b',"maxTime":%b,"expiresAt":%b' % bounds
