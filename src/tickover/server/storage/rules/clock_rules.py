"""Creating, renaming, amending and deleting clocks: idempotency, quotas and conflicts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.schedule.clock import Clock
from tickover.server.storage import statements
from tickover.server.storage.rows import (
    RECORD_BYTES,
    existing_clock,
    owner_values,
    rename,
    stored_bytes,
    stored_clock,
)
from tickover.server.storage.rules.steps import Call, Rule, UsageChange, owner_lock, read, write
from tickover.server.storage.store import (
    Amended,
    Amendment,
    Conflict,
    Created,
    ExistingClock,
    IdempotencyRecord,
    Moved,
    NameChanges,
    Owner,
    Quota,
    QuotaExceeded,
    StoredClock,
    user_of,
)

_NO_LIMIT = 2**31
_Existing = Mapping[IdempotencyRecord | None, ExistingClock]


class NewClock(Struct, frozen=True, gc=False):
    clock: Clock
    schedule: bytes
    record: IdempotencyRecord | None = None


class Usage(Struct, frozen=True):
    """The number of an owner's live clocks, their total size, and the key of the oldest one."""

    clocks: int
    size: int
    oldest: bytes | None

    def exceeds(self, quota: Quota) -> Literal["clocks", "bytes"] | None:
        """Return the limit that this usage exceeds, if any."""
        if quota.clocks and self.clocks > quota.clocks:
            return "clocks"
        return "bytes" if quota.bytes and self.size > quota.bytes else None


def create_clocks(
    owner: Owner, new_clocks: Sequence[NewClock], quota: Quota
) -> Rule[list[Created | ExistingClock | QuotaExceeded] | None]:
    """Create the clocks in order, as far as they fit into the quota. Return None if the owner's token was revoked.

    All records are different.
    """
    yield owner_lock(owner)
    records = [new.record for new in new_clocks if new.record is not None]
    existing: _Existing = {}
    outcomes: list[Created | ExistingClock | QuotaExceeded] = []
    for exact in (False, True):
        queries = [_creation(owner, record, quota) for record in records]
        (user, *counted), *found = yield read(_usage(owner, quota, exact), *queries)
        if user is None:
            return None
        existing = {record: existing_clock(*columns) for record, columns in zip(records, found, strict=True) if columns}
        outcomes = _decide(new_clocks, existing, Usage(*counted), quota)
        if not any(isinstance(outcome, QuotaExceeded) for outcome in outcomes):
            break
    created = [new for new, outcome in zip(new_clocks, outcomes, strict=True) if isinstance(outcome, Created)]
    changes = [Call(statements.TOUCH_CREATION, (record.key_digest,)) for record in records if record in existing]
    usage_change = None
    for new in created:
        changes += [
            Call(statements.INSERT_CLOCK, _clock_values(new, user_of(owner))),
            Call(statements.INSERT_SCHEDULE, (new.clock.key, new.schedule)),
            *_insert_creation(new.record, new.clock.key),
        ]
    if created:
        oldest, size = min(new.clock.key for new in created), sum(_size(new) for new in created)
        usage_change = UsageChange(user_of(owner), oldest, len(created), size)
    if changes:
        yield write(*changes, usage=usage_change)
    return outcomes


def _decide(
    new_clocks: Sequence[NewClock],
    existing: Mapping[IdempotencyRecord | None, ExistingClock],
    used: Usage,
    quota: Quota,
) -> list[Created | ExistingClock | QuotaExceeded]:
    """Return for each clock whether it exists or fits, together with the earlier ones that fit."""
    outcomes: list[Created | ExistingClock | QuotaExceeded] = []
    for new in new_clocks:
        key = new.clock.key
        more = Usage(used.clocks + 1, used.size + _size(new), min(used.oldest or key, key))
        if new.record in existing:
            outcomes.append(existing[new.record])
        elif limit := more.exceeds(quota):
            outcomes.append(QuotaExceeded(limit, used.oldest or key))
        else:
            used = more
            outcomes.append(Created())
    return outcomes


def _size(new: NewClock) -> int:
    return stored_bytes(new.clock, new.schedule)


def update_clock(
    key: bytes, owner: Owner, changes: NameChanges, quota: Quota, known_revision: int | None
) -> Rule[StoredClock | QuotaExceeded | None]:
    yield owner_lock(owner)
    exact = False
    while True:
        queries = [Call(statements.FIND_CLOCK, (*owner_values(owner), key, known_revision))]
        queries += [_usage(owner, _only_bytes(quota), exact)] if quota.bytes else []
        found, *counted = yield read(*queries)
        if found is None:
            return None
        stored = stored_clock(key, *found)
        new = rename(stored.clock, changes)
        growth = stored_bytes(new) - stored_bytes(stored.clock)
        if counted and growth > 0 and (over := _exceeded(counted[0], growth, quota)):
            if exact:
                return over
            exact = True
            continue
        if updated := (
            yield write(
                Call(statements.UPDATE_NAMES, (key, growth, new.name, new.labels)),
                usage=UsageChange(user_of(owner), key, 0, growth),
            )
        ):
            return StoredClock(replace(new, frozen_time=from_micros(updated[0][0])), stored.schedule)


def amend_clock(
    key: bytes, owner: Owner, amendment: Amendment, quota: Quota
) -> Rule[Amended | Conflict | ExistingClock | QuotaExceeded | None]:
    yield owner_lock(owner)
    record, latest = amendment.record, to_micros(amendment.valid_until)
    exact = False
    while True:
        queries = [Call(statements.FIND_CLOCK_TO_AMEND, (*owner_values(owner), key, amendment.revision, latest))]
        queries += [_creation(owner, record, quota)] if record is not None else []
        queries += [_usage(owner, _only_bytes(quota), exact)] if quota.bytes else []
        found, *others = yield read(*queries)
        if record is not None and others[0]:
            yield write(Call(statements.TOUCH_CREATION, (record.key_digest,)))
            return existing_clock(*others[0])
        if found is None:
            return None
        old_size, *columns = found
        stored = stored_clock(key, *columns)
        clock = stored.clock
        if clock.revision != amendment.revision or clock.frozen_time > amendment.valid_until:
            return Conflict(stored)
        amended = replace(rename(clock, amendment.names), revision=clock.revision + 1)
        growth = stored_bytes(amended, amendment.schedule) - stored_bytes(clock) - old_size + RECORD_BYTES
        # A smaller schedule always fits.
        if quota.bytes and growth >= RECORD_BYTES and (over := _exceeded(others[-1], growth, quota)):
            if exact:
                return over
            exact = True
            continue
        if moved := (
            yield write(
                Call(statements.AMEND_CLOCK, (key, growth, amended.name, amended.labels, amendment.revision, latest)),
                Call(statements.AMEND_SCHEDULE, (key, amendment.schedule)),
                *_insert_creation(record, key),
                usage=UsageChange(user_of(owner), key, 0, growth),
            )
        ):
            return Amended(replace(amended, frozen_time=from_micros(moved[0][0])))
        # The clock was advanced or deleted since the read.


def move_clock(
    key: bytes,
    owner: Owner,
    target: Callable[[Clock], Instant | None],
    quota: Quota,
    record: IdempotencyRecord | None,
    known_revision: int | None,
) -> Rule[Moved | ExistingClock | QuotaExceeded | None]:
    yield owner_lock(owner)
    growth = 0 if record is None else RECORD_BYTES
    exact = False
    while True:
        queries = [Call(statements.FIND_CLOCK, (*owner_values(owner), key, known_revision))]
        queries += [_creation(owner, record, quota)] if record is not None else []
        queries += [_usage(owner, _only_bytes(quota), exact)] if growth and quota.bytes else []
        found, *others = yield read(*queries)
        if record is not None and others[0]:
            yield write(Call(statements.TOUCH_CREATION, (record.key_digest,)))
            return existing_clock(*others[0])
        if found is None:
            return None
        stored = stored_clock(key, *found)
        clock = stored.clock
        to = target(clock)
        if to is None or not clock.frozen_time <= to <= clock.max_time:
            return Moved(clock.frozen_time, stored)
        if growth and quota.bytes and (over := _exceeded(others[-1], growth, quota)):
            if exact:
                return over
            exact = True
            continue
        if (
            yield write(
                Call(statements.MOVE_CLOCK, (key, growth, to_micros(clock.frozen_time), to_micros(to))),
                *_insert_creation(record, key),
                usage=UsageChange(user_of(owner), key, 0, growth),
            )
        ):
            return Moved(clock.frozen_time, StoredClock(replace(clock, frozen_time=to), stored.schedule))
        # The clock was advanced or deleted since the read.


def delete_clock(key: bytes, owner: Owner) -> Rule[bool]:
    yield owner_lock(owner)
    deleted = yield write(
        Call(statements.DELETE_CLOCK, (*owner_values(owner), key)),
        Call(statements.DELETE_SCHEDULE, (key,)),
        Call(statements.DELETE_CREATIONS, (key,)),
        Call(statements.DELETE_CONNECTIONS, (key,)),
        usage=UsageChange(user_of(owner), None),
    )
    return bool(deleted)


def delete_clocks_of_user(user: bytes, limit: int) -> Rule[bool]:
    """Delete some clocks of a deleted user. Return False if there are none."""
    yield owner_lock(user)
    # A creation that has found the user's token has written before this read, or does nothing.
    [found] = yield read(Call(statements.FIND_CLOCK_OF_USER, (user,)))
    if found is None:
        return False
    changes = [Call(statement, (user, limit)) for statement in statements.DELETE_CLOCKS_OF_USER]
    yield write(Call(statements.HAS_CLOCKS, (user,)), *changes, usage=UsageChange(user, None))
    return True


def _usage(owner: Owner, quota: Quota, exact: bool) -> Call:
    max_clocks = quota.clocks or (_NO_LIMIT if quota.bytes else 0)
    return Call(statements.USAGE, (*owner_values(owner), quota.min_live_key, max_clocks), exact)


def _only_bytes(quota: Quota) -> Quota:
    return Quota(0, quota.bytes, quota.min_live_key)


def _exceeded(counted: Sequence[Any], growth: int, quota: Quota) -> QuotaExceeded | None:
    _, clocks, size, oldest = counted
    limit = Usage(clocks, size + growth, oldest).exceeds(_only_bytes(quota))
    return QuotaExceeded(limit, oldest) if limit else None


def _creation(owner: Owner, record: IdempotencyRecord, quota: Quota) -> Call:
    return Call(statements.FIND_CREATION, (*owner_values(owner), record.key_digest, quota.min_live_key))


def _insert_creation(record: IdempotencyRecord | None, key: bytes) -> list[Call]:
    if record is None:
        return []
    return [Call(statements.INSERT_CREATION, (record.key_digest, record.params_digest, key))]


def _clock_values(new: NewClock, user: bytes) -> Sequence[object]:
    clock = new.clock
    instants = to_micros(clock.start_time), to_micros(clock.frozen_time), to_micros(clock.max_time)
    return clock.key, user, *instants, _size(new), clock.name, clock.labels
