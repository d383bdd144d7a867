"""Query plans on SQLite: calls look up rows by index, whatever else is stored."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.store.test_store import METHODS
from tests.store.values import (
    ANA,
    MINUTE,
    NOW,
    WEEK,
    add_clock_once,
    clock,
    code,
    digest,
    make_record,
    sent,
    session,
    user,
)
from tickover.server.storage.sqlite.store import SqliteStore

_CALLS = ("select", "insert", "update", "delete", "with")


@contextmanager
def _record_statements(*connections: apsw.Connection) -> Iterator[dict[str, Any]]:
    """Record the executed statements and their bindings."""
    statements: dict[str, Any] = {}

    def just_before_a_statement(_: object, statement: str, bindings: Any) -> bool:
        if statement.strip().startswith(_CALLS):
            statements[statement] = bindings
        return True

    for connection in connections:
        connection.set_exec_trace(just_before_a_statement)
    yield statements
    for connection in connections:
        connection.set_exec_trace(None)


# Parts of a list, of a search by labels, of a count for a quota, or of a sweep, whose size is limited.
_BOUNDED_SCANS = ("SCAN (subquery", "SCAN live", "SCAN old", "SCAN scanned", "SCAN found", "SCAN json_each")


def _problems(connection: apsw.Connection, statements: dict[str, Any]) -> list[str]:
    """Return the steps that take longer if there are more rows: full scans and sorts."""
    found = []
    for statement, bindings in statements.items():
        steps = [str(row[3]) for row in connection.execute(f"explain query plan {statement}", bindings)]
        found += [
            f"{step}: {statement}"
            for step in steps
            if ("SCAN" in step and "CONSTANT ROW" not in step and not step.startswith(_BOUNDED_SCANS))
            or "TEMP B-TREE" in step
        ]
    return found


async def _fill(store: SqliteStore) -> None:
    """Store data of every kind, including expired data."""
    await add_clock_once(store, make_record(1), clock(1), user(1))
    await add_clock_once(store, make_record(2), clock(2, NOW - WEEK), user(1))
    await sent(store, code(1))
    await sent(store, code(2, NOW + MINUTE))
    await store.redeem_code(ANA, digest(2), session(1))


@pytest.mark.parametrize("before", ["nothing", "something of everything"])
@pytest.mark.parametrize("method", METHODS)
async def test_no_table_is_scanned(tmp_path: Path, method: str, before: str) -> None:
    store = await SqliteStore.open(tmp_path / "tickover.db")
    if before != "nothing" and method != "create_clock":
        await _fill(store)
    with _record_statements(store._writing, store._reading) as statements:
        await METHODS[method](store)
    assert statements, "no plan was recorded"
    assert _problems(store._reading, statements) == []
    await store.close()
