"""Executes rules on PostgreSQL, without transactions of several statements.

A read also reads the version of the rule's lock, in one statement. A write changes that version, and does nothing if
another server has changed it since the read. Then the rule starts again. So a rule takes two round trips, holds no
connection in between, and needs nothing that only PostgreSQL has, such as advisory locks.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, suppress
from functools import lru_cache
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

from tickover.server.storage.postgres.database import Database
from tickover.server.storage.rules.steps import Call, Lock, Read, Rule, Write
from tickover.server.storage.store import overloaded

_Outcome = TypeVar("_Outcome")
MAX_WAIT_SECONDS = 3.0

_LIVE_TOKEN: Final = "($3::bytea is null or exists (select from tokens where digest = $3))"  # noqa: S105 - no secret
_INSERT_LOCK: Final = f"""
    insert into locks (name, used_at, version) select $1::text, $2::bigint, nextval('lock_versions') where {_LIVE_TOKEN}
    on conflict (name) do nothing returning name"""
_UPDATE_LOCK: Final = f"""
    update locks set used_at = greatest(used_at, $2), version = nextval('lock_versions')
    where name = $1 and version = $4 and {_LIVE_TOKEN} returning name"""
_TAKE_LOCK: Final = """
    insert into locks (name, used_at, version) values ($1, $2, nextval('lock_versions'))
    on conflict (name) do update set used_at = greatest(locks.used_at, excluded.used_at), version = excluded.version"""
FORCE_LOCK: Final = f"{_TAKE_LOCK} returning name"
"""For a transaction. Its next statements see all changes of earlier holders of the lock."""
_UPSERT_LOCK: Final = f"""{_TAKE_LOCK}
    where locks.version = (select version from locks as seen where seen.name = $1) returning name"""
"""Without a read, for a write that sees all changes of earlier holders of the lock."""


class _Stale(Exception):
    """Another server has changed the version of the lock since the read."""


class RuleRunner:
    """Runs rules on one database."""

    def __init__(self, database: Database, max_concurrent: int) -> None:
        """Create a runner. Rules execute at most `max_concurrent` statements at the same time, and others wait."""
        self._database = database
        self._slots = asyncio.Semaphore(max_concurrent)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """So that the calls of this server wait for each other, and don't start again."""

    async def run(self, rule: Callable[[], Rule[_Outcome]]) -> _Outcome:
        """Return the outcome of the rule. Raise UNAVAILABLE if it waits too long."""
        with ExitStack() as held:
            run = _Run(self, held)
            async for _ in self.attempts():
                with suppress(_Stale):
                    return await run.attempt(rule())
        raise AssertionError("the attempts end with an exception")

    @staticmethod
    async def attempts() -> AsyncIterator[None]:
        """Yield for each attempt. Raise UNAVAILABLE if they take too long."""
        deadline = asyncio.get_running_loop().time() + MAX_WAIT_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            yield
        raise overloaded()

    async def fetch(self, statement: str, values: Sequence[object], *, is_repeatable: bool) -> Sequence[Any]:
        await _acquire(self._slots)
        try:
            return await self._database.fetch(statement, *values, is_repeatable=is_repeatable)
        finally:
            self._slots.release()

    async def lock(self, name: str, held: ExitStack) -> None:
        """Wait for other calls of this server."""
        lock = self._locks.setdefault(name, asyncio.Lock())
        await _acquire(lock)
        held.callback(lock.release)


async def _acquire(lock: asyncio.Lock | asyncio.Semaphore) -> None:
    """Raise UNAVAILABLE if it isn't free soon."""
    if not lock.locked():
        # A timeout would take several times as long.
        await lock.acquire()
        return
    try:
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            await lock.acquire()
    except TimeoutError:
        raise overloaded() from None


class _Run:
    def __init__(self, runner: RuleRunner, held: ExitStack) -> None:
        self._runner = runner
        self._held = held
        self._held_names: set[str] = set()
        self._lock: Lock | None = None
        self._has_read = False
        self._version: int | None = None

    async def attempt(self, rule: Rule[_Outcome]) -> _Outcome:
        self._lock, self._has_read, self._version = None, False, None
        answer: Any = None
        while True:
            try:
                step = rule.send(answer)
            except StopIteration as stopped:
                outcome: _Outcome = stopped.value
                return outcome
            match step:
                case Lock(name):
                    self._lock, self._has_read, answer = step, False, None
                    if name not in self._held_names:
                        self._held_names.add(name)
                        await self._runner.lock(name, self._held)
                case Read(queries):
                    answer = await self._read(queries)
                case Write(changes):
                    answer = await self._write(changes)

    async def _read(self, queries: Sequence[Call]) -> Sequence[Any]:
        texts = tuple(query.statement.postgres for query in queries)
        values = [value for query in queries for value in query.values]
        if self._lock is not None:
            values.append(self._lock.name)
        statement = _read_statement(texts, tuple(len(query.values) for query in queries), self._lock is not None)
        rows: list[Any]
        [(self._version, *rows)] = await self._runner.fetch(statement, values, is_repeatable=True)
        self._has_read = True
        return rows

    async def _write(self, changes: Sequence[Call]) -> list[Any]:
        texts = tuple(call.statement.postgres for call in changes)
        values: list[object] = [value for call in changes for value in call.values]
        sizes = tuple(len(call.values) for call in changes)
        guard = ""
        if (lock := self._lock) is not None:
            guard = (_INSERT_LOCK if self._version is None else _UPDATE_LOCK) if self._has_read else _UPSERT_LOCK
            values += [lock.name, lock.used_at]
            values += [lock.token] if self._has_read else []
            values += [self._version] if self._version is not None else []
        rows = await self._runner.fetch(_write_statement(texts, sizes, guard), values, is_repeatable=False)
        if not rows[0][0]:
            raise _Stale
        # Until the next read, the version is unknown.
        self._has_read, self._version = False, None
        return [row[1] for row in rows if row[1] is not None]


def _shift(text: str, by: int) -> str:
    """Return the statement with parameters that begin after the first `by`."""
    return re.sub(r"\$(\d+)", lambda match: f"${int(match[1]) + by}", text)


@lru_cache(1000)
def _read_statement(texts: tuple[str, ...], sizes: tuple[int, ...], has_lock: bool) -> str:
    """Return a statement with one row: the version of the lock, and the row of each query as one value."""
    names = [f"row{position}" for position in range(len(texts))]
    joins = [
        f"left join lateral ({_shift(text, sum(sizes[:position]))}) as {name} on true"
        for position, (text, name) in enumerate(zip(texts, names, strict=True))
    ]
    version = f"(select version from locks where name = ${sum(sizes) + 1})" if has_lock else "null"
    return f"select {', '.join([version, *names])} from (select) as one {' '.join(joins)}"


@lru_cache(1000)
def _write_statement(texts: tuple[str, ...], sizes: tuple[int, ...], guard: str) -> str:
    """Return a statement that executes all changes or none. Its rows: whether it did, and a row of the first change."""
    parts = [f"lock as ({_shift(guard, sum(sizes))})"] if guard else []
    for position, text in enumerate(texts):
        condition = "exists (select from change0)" if position else "exists (select from lock)" if guard else "true"
        parts.append(f"change{position} as ({_shift(text, sum(sizes[:position])).replace('{lock}', condition)})")
    done = "exists (select from lock)" if guard else "true"
    if not texts or "returning" not in texts[0]:
        return f"with {', '.join(parts)} select {done}, null"
    return f"with {', '.join(parts)} select {done}, change0 from (select) as one left join change0 on true"
