"""Connections: how many a clock may have, their settings and logins, and how often a program may call."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, Literal

from msgspec import UNSET, json
from msgspec.structs import replace

from tickover.api.connections import ConnectionCall
from tickover.api.limits import MAX_CONNECTION_CALLS
from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.storage import statements
from tickover.server.storage.rows import connection_of, decode_calls, decode_settings, encode_settings, owner_values
from tickover.server.storage.rules.steps import Call, Lock, Rule, owner_lock, read, write
from tickover.server.storage.store import Created, Owner, Repair, StoredConnection, TooManyConnections

_DAY: Final = timedelta(days=1) // timedelta(microseconds=1)
_Calls = dict[str, list[tuple[int, int]]]
"""The instants of calls, and their number, by account."""
_decode_calls: Final = json.Decoder(_Calls).decode


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
    webhook = new.webhook and new.webhook.url
    yield write(Call(statements.INSERT_CONNECTION, (new.key, clock_key, *values, setup_digest, webhook)))
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


def update_connection(
    key: bytes, clock_key: bytes, owner: Owner, changes: Mapping[str, Any]
) -> Rule[StoredConnection | Literal[False] | None]:
    yield owner_lock(owner)
    [found] = yield read(Call(statements.FIND_CONNECTION_OF_CLOCK, (*owner_values(owner), clock_key, key)))
    if found is None:
        return None
    if found[0] is None:
        return False
    stored = connection_of(*found)
    settings = {name: change for name, change in changes.items() if name != "webhook"}
    webhook = changes.get("webhook", stored.webhook)
    updated = replace(stored, settings=replace(stored.settings, **settings), webhook=webhook)
    values = key, encode_settings(updated.settings), webhook and webhook.url
    written = yield write(Call(statements.UPDATE_SETTINGS, values))
    return updated if written else False


def count_bank_call(key: bytes, account: str, now: Instant) -> Rule[bool | None]:
    yield Lock(f"connection {key.hex()}", used_at=to_micros(now))
    [found] = yield read(Call(statements.FIND_RECENT_CALLS, (key,)))
    if found is None:
        return None
    at, settings, recent_calls = found
    limit = decode_settings(settings).calls_per_day
    if limit is UNSET:
        return True
    calls: _Calls = _decode_calls(recent_calls) if recent_calls else {}
    recent = {each: count for each, count in calls.get(account, ()) if each > at - _DAY}
    if sum(recent.values()) >= limit:
        return False
    recent[at] = recent.get(at, 0) + 1
    calls[account] = list(recent.items())
    written = yield write(Call(statements.SET_RECENT_CALLS, (key, json.encode(calls).decode())))
    return True if written else None


def add_bank_calls(key: bytes, calls: Sequence[ConnectionCall], now: Instant) -> Rule[None]:
    yield Lock(f"connection {key.hex()}", used_at=to_micros(now))
    [found] = yield read(Call(statements.FIND_LAST_CALLS, (key,)))
    if found is not None:
        # Other servers may have added later ones.
        last = sorted([*decode_calls(found[0]), *calls], key=lambda call: call.at)[-MAX_CONNECTION_CALLS:]
        yield write(Call(statements.SET_LAST_CALLS, (key, json.encode(last).decode())))
