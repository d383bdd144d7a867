"""The table of statements in docs/scale.md matches the PostgreSQL store."""

import re

from tests.support.cases import each_case
from tests.support.transcripts import ROOT
from tests.unit.test_docs import quoted, rows
from tickover.server.storage.postgres import statements

TABLE = {
    quoted(name)[0]: quoted(columns)
    for name, columns in rows((ROOT / "docs" / "scale.md").read_text("utf-8"), "Statement | Finds rows by")
}
STATEMENTS = {
    name: value if isinstance(value, str) else value[0]
    for name, value in vars(statements).items()
    if re.fullmatch("[A-Z_]+", name) and not name.startswith("_") and name not in ("SLOTS", "OWNER")
    and isinstance(value, str | list)
}  # fmt: skip


def test_table_names_every_statement() -> None:
    assert TABLE.keys() == STATEMENTS.keys()


@each_case("name", STATEMENTS)
def test_statement_finds_rows_by_its_columns(name: str) -> None:
    conditions = set(re.findall(r"\b(\w+) (?:=|>=|<) ", STATEMENTS[name]))
    assert set(TABLE[name]) <= conditions


def test_every_statement_on_clocks_resolves_the_owner() -> None:
    """An owner is a user's key or a token, in all statements except those on tokens and the probe."""
    on_clocks = {
        name: text for name, text in STATEMENTS.items() if name not in ("FIND_TOKENS", "FIND_SESSION", "PROBE")
    }
    resolved = re.compile(r"coalesce\((?:\$1|owner|input\.owner), \(select user_key from tokens where digest = ")
    assert [name for name, text in on_clocks.items() if not resolved.search(text)] == []
