"""Runs the rules of creations that wait at the same time with two round trips for all of them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, NamedTuple, TypeVar

from tickover.server.storage.postgres.rules import RuleRunner
from tickover.server.storage.postgres.statements import FIND_USAGES, INSERT_CLOCKS_OF_OWNERS
from tickover.server.storage.rules.steps import Lock, Read, Rule, Step, UsageQuery, Write

_Outcome = TypeVar("_Outcome")


class _Started(NamedTuple):
    rule: Rule[Any]
    lock: Lock
    query: Sequence[Any]
    """The values of the statement `USAGE`."""


class _Finished(Exception):
    """A rule has ended with this outcome."""


async def create_together(runner: RuleRunner, rules: Mapping[str, Callable[[], Rule[_Outcome]]]) -> dict[str, _Outcome]:
    """Run rules that create clocks without idempotency records, by the names of their locks.

    A rule starts again if another server has changed its owner's clocks between the read and the write.
    """
    outcomes: dict[str, _Outcome] = {}
    async with AsyncExitStack() as held:
        for name in sorted(rules):
            await runner.lock(name, held)
        async for _ in runner.attempts():
            outcomes |= await _attempt(runner, [_start(rules[name]) for name in sorted(rules.keys() - outcomes)])
            if len(outcomes) == len(rules):
                break
    return outcomes


async def _attempt(runner: RuleRunner, started: Sequence[_Started]) -> dict[str, Any]:
    """Return the outcomes by the names of the locks. Rules whose lock has changed have none."""
    outcomes: dict[str, Any] = {}
    writes: list[tuple[_Started, int | None, Write]] = []
    found = await runner.fetch(FIND_USAGES, _columns(each.query for each in started), is_repeatable=True)
    for position, version, *usage in found:
        each = started[position - 1]
        try:
            writes.append((each, version, _decide(each.rule, usage)))
        except _Finished as finished:
            outcomes[each.lock.name] = finished.args[0]
    written = await _write(runner, writes) if writes else set()
    for each in [each for each, _, _ in writes if each.lock.name in written]:
        try:
            _send(each.rule, [True])
        except _Finished as finished:
            outcomes[each.lock.name] = finished.args[0]
    return outcomes


def _start(make_rule: Callable[[], Rule[Any]]) -> _Started:
    rule = make_rule()
    lock, step = _send(rule, None), _send(rule, None)
    assert isinstance(lock, Lock)
    assert isinstance(step, Read)
    [query] = step.queries
    # Without a quota, the rule asks for the owner alone.
    counts_all = isinstance(query, UsageQuery)
    values = query.values if counts_all else (*query.values, b"\xff" * 16, 0)
    return _Started(rule, lock, (lock.name, *values))


def _decide(rule: Rule[Any], usage: Sequence[Any]) -> Write:
    """Return the write of the rule. Raise _Finished if it writes nothing."""
    step = _send(rule, [usage])
    while isinstance(step, Read):
        # The usage is exact.
        step = _send(rule, [usage])
    assert isinstance(step, Write)
    return step


def _send(rule: Rule[Any], answer: Any) -> Step:
    try:
        return rule.send(answer)
    except StopIteration as stopped:
        raise _Finished(stopped.value) from None


async def _write(runner: RuleRunner, writes: Sequence[tuple[_Started, int | None, Write]]) -> set[str]:
    """Insert the clocks, except those of owners whose locks have changed. Return the names of the other locks."""
    locks = [(each.lock.name, each.lock.token, version, each.lock.used_at) for each, version, _ in writes]
    clocks = [(*row, each.lock.name) for each, _, write in writes for row in write.changes[0].values]
    bodies = [body for _, _, write in writes for _, body in write.changes[1].values]
    values = [*_columns(locks), *_columns(clocks), bodies]
    return {name for (name,) in await runner.fetch(INSERT_CLOCKS_OF_OWNERS, values, is_repeatable=False)}


def _columns(rows: Any) -> list[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)]
