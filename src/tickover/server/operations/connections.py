"""Connections as operations return them."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, json

from tickover.api import ids
from tickover.api.connections import BankFault, Connection
from tickover.server.storage.store import StoredConnection

decode_faults: Final = json.Decoder(Sequence[BankFault]).decode


def to_result(stored: StoredConnection) -> Connection:
    faults = UNSET if stored.faults is None else decode_faults(stored.faults)
    id = ids.write("conn", stored.key)
    return Connection(id, stored.protocol, stored.institution, stored.created_at, faults, stored.is_claimed)
