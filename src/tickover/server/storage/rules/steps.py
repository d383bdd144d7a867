"""The steps of a rule.

A rule is a generator. It yields steps, and a driver executes them on its database:

    yield Lock(...)             Rules with the same lock run one after the other, on all servers.
    row, = yield Read(query)    The driver sends one row for each query, or None if the query finds nothing.
    rows = yield Write(change)  The driver executes all changes or none, and sends the rows that the first one returns.

A rule reads first and writes last, because a driver may run it again from its start until the write.
"""

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple, TypeVar

from tickover.api.timestamps import Instant, to_micros
from tickover.server.storage.statements import Statement
from tickover.server.storage.store import Owner, user_of

_MAX_INTEGER = 2**63 - 1


class Lock(NamedTuple):
    """The write must not happen if another rule with this lock has written since the read."""

    name: str
    token: bytes | None = None
    """The digest of a token that must still exist."""
    used_at: int = _MAX_INTEGER
    """When the lock of an address was used, so that a sweep can delete it."""


def owner_lock(owner: Owner) -> Lock:
    return Lock(user_of(owner).hex(), None if isinstance(owner, bytes) else owner.digest)


def address_lock(email: str, now: Instant) -> Lock:
    return Lock(email, used_at=to_micros(now))


class Call(NamedTuple):
    """A statement with its values."""

    statement: Statement
    values: Sequence[Any]
    exact: bool = True
    """Otherwise the result of `USAGE` may be too high."""


class Read(NamedTuple):
    queries: Sequence[Call]


class UsageChange(NamedTuple):
    """How a write changes what an owner uses of the quota."""

    owner: bytes
    oldest: bytes | None
    """The key of the oldest clock that is created or changed. None if a clock is deleted."""
    clocks: int = 0
    bytes: int = 0


class Write(NamedTuple):
    """If the first change returns no row, the others are not executed."""

    changes: Sequence[Call]
    usage: UsageChange | None = None


Step = Lock | Read | Write
_Outcome = TypeVar("_Outcome")
Rule = Generator[Step, Any, _Outcome]


def read(*queries: Call) -> Read:
    return Read(queries)


def write(*changes: Call, usage: UsageChange | None = None) -> Write:
    return Write(changes, usage)
