"""Executes rules on SQLite, inside a transaction of the writer, which no other transaction runs beside."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, TypeVar

import apsw

from tickover.server.storage.rules.steps import Call, Lock, Read, Rule, Write
from tickover.server.storage.sqlite.usage import UsageCache
from tickover.server.storage.statements import FIND_OWNER, USAGE, Statement

_Outcome = TypeVar("_Outcome")
_ALL: Final = 2**62


@cache
def sql_of(statement: Statement) -> str:
    """Return the statement in SQLite's form, with parameters like ?1 instead of $1."""
    return statement.sqlite.replace("$", "?").replace("{lock}", "true")


def run_rule(db: apsw.Connection, usage: UsageCache, rule: Rule[_Outcome]) -> _Outcome:
    """Execute the steps of the rule, and return its outcome."""
    answer: Any = None
    try:
        while True:
            step = rule.send(answer)
            match step:
                case Read(queries):
                    answer = [_read(db, usage, query) for query in queries]
                case Write(changes, change):
                    answer = _write(db, changes)
                    if answer and change is not None:
                        usage.change(change)
                case Lock():
                    answer = None
    except StopIteration as stopped:
        outcome: _Outcome = stopped.value
        return outcome


def _read(db: apsw.Connection, usage: UsageCache, query: Call) -> Sequence[Any] | None:
    if query.statement is USAGE:
        return _read_usage(db, usage, query)
    return db.execute(sql_of(query.statement), query.values).fetchone()


def _read_usage(db: apsw.Connection, usage: UsageCache, query: Call) -> Sequence[Any]:
    user: Any = db.execute(sql_of(FIND_OWNER), query.values[:2]).get
    if user is None or not query.values[3]:
        return user, 0, 0, None
    known = usage.get(user, query.values[2], exact=query.exact)
    if known is None:
        # All clocks, because later rules may have another limit.
        counted: Any = db.execute(sql_of(query.statement), (*query.values[:3], _ALL)).fetchone()
        known = counted[1:]
        usage.put(user, known)
    return user, *known


def _write(db: apsw.Connection, changes: Sequence[Call]) -> Sequence[Any]:
    """Execute the changes, the later ones only if the first one returned rows. Return these rows."""
    rows: Sequence[Any] = ()
    for position, call in enumerate(changes):
        if position and not rows:
            break
        if position:
            db.execute(sql_of(call.statement), call.values)
        else:
            rows = db.execute(sql_of(call.statement), call.values).fetchall()
    return rows
