"""Connections: how many a clock may have, and the login that a bank requires."""

from tickover.api.timestamps import from_micros, to_micros
from tickover.server.storage import statements
from tickover.server.storage.rows import decode_settings, encode_settings, owner_values
from tickover.server.storage.rules.steps import Call, Rule, owner_lock, read, write
from tickover.server.storage.store import Created, Owner, Repair, StoredConnection, TooManyConnections


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


def repair_login(
    access_digest: bytes, setup_digest: bytes, owner: Owner, min_live_key: bytes, repair: Repair
) -> Rule[bool]:
    yield owner_lock(owner)
    [found] = yield read(Call(statements.FIND_LOGIN, (*owner_values(owner), access_digest, min_live_key)))
    if found is None:
        return False
    settings, frozen_time = found
    repaired = encode_settings(repair(decode_settings(settings), from_micros(frozen_time)))
    done = yield write(Call(statements.REPAIR_LOGIN, (access_digest, repaired, frozen_time, setup_digest)))
    return bool(done)
