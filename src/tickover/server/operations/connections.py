"""Connections as operations return them."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, json

from tickover.api import ids
from tickover.api.connections import BankFault, Connection
from tickover.api.limits import MAX_BANK_FAULTS, MAX_INSTITUTION
from tickover.server.operations import sizes
from tickover.server.storage.store import StoredConnection

MAX_CONNECTION_SIZE: Final = 256 + sizes.CHARACTER * MAX_INSTITUTION + 128 * MAX_BANK_FAULTS
decode_faults: Final = json.Decoder(Sequence[BankFault]).decode


def to_result(stored: StoredConnection) -> Connection:
    faults = UNSET if stored.faults is None else decode_faults(stored.faults)
    id = ids.write("conn", stored.key)
    return Connection(id, stored.protocol, stored.institution, stored.created_at, faults, stored.is_claimed)
