"""Creating, renaming, amending and deleting clocks: idempotency, quotas and conflicts."""

from collections.abc import Callable, Sequence
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
from tickover.server.storage.rules.steps import Call, Rule, UsageChange, UsageQuery, owner_lock, read, write
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


class NewClock(Struct, frozen=True, gc=False):
    clock: Clock
    schedule: bytes


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
    owner: Owner, new_clocks: Sequence[NewClock], quota: Quota, record: IdempotencyRecord | None = None
) -> Rule[list[Created | ExistingClock | QuotaExceeded] | None]:
    """Create the clocks in order, as they fit into the quota. Return None if the owner's token was revoked.

    With a record, there is only one clock.
    """
    yield owner_lock(owner)
    user = user_of(owner)
    sizes = [stored_bytes(new.clock, new.schedule) for new in new_clocks]
    outcomes: list[Created | ExistingClock | QuotaExceeded] = []
    for exact in (False, True):
        queries = [_usage(owner, quota, exact)] if quota.clocks or quota.bytes else [_find_owner(owner)]
        queries += [_creation(owner, record, quota)] if record is not None else []
        (found_user, *counted), *creations = yield read(*queries)
        if found_user is None:
            return None
        if record is not None and creations[0]:
            yield write(Call(statements.TOUCH_CREATION, (record.key_digest,)))
            return [existing_clock(*creations[0])]
        outcomes = _check_quota(new_clocks, sizes, Usage(*counted) if counted else Usage(0, 0, None), quota)
        if all(isinstance(outcome, Created) for outcome in outcomes):
            break
    accepted = [
        (new, size)
        for new, size, outcome in zip(new_clocks, sizes, outcomes, strict=True)
        if isinstance(outcome, Created)
    ]
    if accepted:
        clocks = [_clock_values(new.clock, user, size) for new, size in accepted]
        yield write(
            Call(statements.INSERT_CLOCKS, clocks, many=True),
            Call(statements.INSERT_SCHEDULES, [(new.clock.key, new.schedule) for new, _ in accepted], many=True),
            *_insert_creation(record, new_clocks[0].clock.key),
            usage=UsageChange(
                user, min(new.clock.key for new, _ in accepted), len(accepted), sum(size for _, size in accepted)
            ),
        )
    return outcomes


def _check_quota(
    new_clocks: Sequence[NewClock], sizes: Sequence[int], used: Usage, quota: Quota
) -> list[Created | ExistingClock | QuotaExceeded]:
    """Return for each clock whether it fits, together with the earlier ones that fit."""
    outcomes: list[Created | ExistingClock | QuotaExceeded] = []
    for new, size in zip(new_clocks, sizes, strict=True):
        key = new.clock.key
        more = Usage(used.clocks + 1, used.size + size, min(used.oldest or key, key))
        if limit := more.exceeds(quota):
            outcomes.append(QuotaExceeded(limit, used.oldest or key))
        else:
            used = more
            outcomes.append(Created())
    return outcomes


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


def _usage(owner: Owner, quota: Quota, exact: bool) -> Call:
    values = *owner_values(owner), quota.min_live_key, quota.clocks or _NO_LIMIT
    return UsageQuery(statements.USAGE, values, exact=exact)


def _find_owner(owner: Owner) -> Call:
    return Call(statements.FIND_OWNER, owner_values(owner))


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


def _clock_values(clock: Clock, user: bytes, size: int) -> Sequence[object]:
    instants = to_micros(clock.start_time), to_micros(clock.frozen_time), to_micros(clock.max_time)
    return clock.key, user, *instants, size, clock.name, clock.labels
