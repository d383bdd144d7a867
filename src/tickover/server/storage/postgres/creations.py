"""Runs the rules of creations that wait at the same time, with one statement for all of them.

The statement creates the clocks of each owner whose lock has the version that this server saw last. So what the owner
used of the quota at that time is still true. For other owners it returns what their rules read, and they start again.
"""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import ExitStack
from typing import Any, Final, NamedTuple

from tickover.server.lru_cache import LruCache
from tickover.server.storage.postgres.rules import RuleRunner
from tickover.server.storage.postgres.statements import CREATE_CLOCKS
from tickover.server.storage.rules.steps import Call, Lock, Read, Rule, Step, Write
from tickover.server.storage.statements import INSERT_CLOCK, INSERT_CREATION, INSERT_SCHEDULE, Statement

_MAX_OWNERS: Final = 10_000
_NEVER_TAKEN: Final = -(2**63)


class _State(NamedTuple):
    """What a rule reads."""

    version: int
    """The version of the lock, or `_NEVER_TAKEN`."""
    max_clocks: int
    """The number of clocks up to which `USAGE` counts."""
    usage: Sequence[Any]
    """The row of `USAGE`."""
    creations: dict[bytes, Sequence[Any]]
    """The rows of `FIND_CREATION`, by digest. Empty if the state is cached: the statement looks for them again."""


class _Attempt(NamedTuple):
    """A rule that waits for what it reads, or for its write."""

    rule: Rule[Any]
    lock: Lock
    queries: Sequence[Call]
    state: _State | None
    """None if it reads."""
    write: Write


class _Finished(Exception):
    """A rule has ended with this outcome."""


class CreationRunner:
    def __init__(self, runner: RuleRunner) -> None:
        self._runner = runner
        self._cached: LruCache[str, _State] = LruCache(_MAX_OWNERS)
        """The states after the last writes of this server, by the names of the locks."""

    async def run(self, rules: Mapping[str, Callable[[], Rule[Any]]], outcomes: MutableMapping[str, Any]) -> None:
        """Run rules by the names of their locks, and add their outcomes. After an exception, those are complete too."""
        with ExitStack() as held:
            for name in sorted(rules):
                await self._runner.lock(name, held)
            fresh: dict[str, _State] = {}
            async for _ in self._runner.attempts():
                attempts = []
                for name in sorted(rules.keys() - outcomes):
                    try:
                        attempts.append(_start(rules[name](), fresh.get(name), self._cached.get(name)))
                    except _Finished as finished:
                        outcomes[name] = finished.args[0]
                if not attempts:
                    return
                fresh = await self._execute(attempts, outcomes)

    async def _execute(self, attempts: Sequence[_Attempt], outcomes: MutableMapping[str, Any]) -> dict[str, _State]:
        """Add the outcomes of the rules that have written. Return what the others have to read."""
        only_reads = all(each.state is None for each in attempts)
        rows = await self._runner.fetch(CREATE_CLOCKS, _values(attempts), is_repeatable=only_reads)
        by_name = {each.lock.name: each for each in attempts}
        fresh: dict[str, _State] = {}
        for name, new_version, version, user, clocks, size, oldest, digest, *creation in rows:
            if new_version is not None:
                each = by_name[name]
                self._cached.put(name, _after_write(each, new_version))
                outcomes[name] = _finish(each.rule)
                continue
            seen = _NEVER_TAKEN if version is None else version
            max_clocks = _max_clocks(by_name[name].queries)
            state = fresh.setdefault(name, _State(seen, max_clocks, (user, clocks, size, oldest), {}))
            if digest is not None:
                state.creations[digest] = creation
        return fresh


def _start(rule: Rule[Any], fresh: _State | None, cached: _State | None) -> _Attempt:
    """Run the rule until its write, or until it reads what is not known. Raise _Finished if it ends before."""
    lock, step = _send(rule, None), _send(rule, None)
    assert isinstance(lock, Lock)
    assert isinstance(step, Read)
    queries, state = step.queries, fresh or cached
    while isinstance(step, Read):
        usage, *creations = step.queries
        if state is None or (fresh is None and (usage.exact or state.max_clocks != _max_clocks(queries))):
            return _Attempt(rule, lock, queries, None, Write([]))
        step = _send(rule, [state.usage, *(state.creations.get(_digest(query)) for query in creations)])
    assert isinstance(step, Write)
    if not any(change.statement is INSERT_CLOCK for change in step.changes):
        # All clocks exist. The statement that found them has also touched their records.
        raise _Finished(_finish(rule))
    return _Attempt(rule, lock, queries, state, step)


def _max_clocks(queries: Sequence[Call]) -> int:
    count: int = queries[0].values[3]
    return count


def _digest(query: Call) -> bytes:
    digest: bytes = query.values[2]
    return digest


def _send(rule: Rule[Any], answer: Any) -> Step:
    try:
        return rule.send(answer)
    except StopIteration as stopped:
        raise _Finished(stopped.value) from None


def _finish(rule: Rule[Any]) -> Any:
    """Return the outcome of a rule after its write."""
    try:
        rule.send([True])
    except StopIteration as stopped:
        return stopped.value
    raise AssertionError("the rule writes twice")


def _after_write(each: _Attempt, version: int) -> _State:
    change = each.write.usage
    assert each.state is not None
    assert change is not None
    user, clocks, size, oldest = each.state.usage
    keys = [key for key in (oldest, change.oldest) if key is not None]
    return _State(version, each.state.max_clocks, (user, clocks + change.clocks, size + change.bytes, min(keys)), {})


def _values(attempts: Sequence[_Attempt]) -> list[object]:
    """Return the values of `CREATE_CLOCKS`. All rules have the same quota."""
    # The greatest key, so that a rejected owner has a live clock.
    min_live_key, max_clocks = bytes(16), 0
    owners: list[Sequence[object]] = []
    records: list[Sequence[object]] = []
    clocks: list[Sequence[object]] = []
    for each in attempts:
        name, (usage, *creations) = each.lock.name, each.queries
        _, digest, key, max_clocks = usage.values
        min_live_key = max(min_live_key, key)
        owners.append((name, bytes.fromhex(name), digest, each.state.version if each.state else None))
        inserted = {digest: (params, key) for digest, params, key in _rows_of(each.write, INSERT_CREATION)}
        # A rule with a state knows the creations that it doesn't insert.
        wanted = creations if each.state is None else [query for query in creations if _digest(query) in inserted]
        records += [(name, _digest(query), *inserted.get(_digest(query), (None, None))) for query in wanted]
        bodies = dict(_rows_of(each.write, INSERT_SCHEDULE))
        clocks += [(name, key, *row, bodies[key]) for key, _, *row in _rows_of(each.write, INSERT_CLOCK)]
    return [min_live_key, max_clocks, *_columns(owners, 4), *_columns(records, 4), *_columns(clocks, 9)]


def _rows_of(write: Write, statement: Statement) -> Sequence[Any]:
    return [call.values for call in write.changes if call.statement is statement]


def _columns(rows: Sequence[Sequence[object]], count: int) -> list[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(count)]
