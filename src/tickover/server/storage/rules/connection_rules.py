"""Connections: how many a clock may have."""

from tickover.api.timestamps import to_micros
from tickover.server.storage import statements
from tickover.server.storage.rows import encode_settings, owner_values
from tickover.server.storage.rules.steps import Call, Rule, owner_lock, read, write
from tickover.server.storage.store import Created, Owner, StoredConnection, TooManyConnections


def create_connection(
    new: StoredConnection, setup_digest: bytes, clock_key: bytes, owner: Owner, limit: int
) -> Rule[Created | TooManyConnections | None]:
    yield owner_lock(owner)
    [counted] = yield read(Call(statements.COUNT_CONNECTIONS, (*owner_values(owner), clock_key)))
    if counted is None:
        return None
    if counted[0] >= limit:
        return TooManyConnections()
    institution = None if new.has_clock_institution else new.institution
    values = new.protocol, institution, to_micros(new.created_at), encode_settings(new.settings)
    yield write(Call(statements.INSERT_CONNECTION, (new.key, clock_key, *values, setup_digest)))
    return Created()


def delete_connection(key: bytes, clock_key: bytes, owner: Owner) -> Rule[bool | None]:
    yield owner_lock(owner)
    [counted] = yield read(Call(statements.COUNT_CONNECTIONS, (*owner_values(owner), clock_key)))
    if counted is None:
        return None
    deleted = yield write(Call(statements.DELETE_CONNECTION, (key, clock_key)))
    return bool(deleted)
