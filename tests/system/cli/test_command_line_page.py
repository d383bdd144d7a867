"""Compares docs/command-line.md with the program: the session's output and the exit codes."""

from pathlib import Path

import pytest

from tests.system.cli.session_page import PAGE, update_page
from tests.unit.test_docs import quoted, rows
from tickover.cli.call_errors import EXIT_CODES
from tickover.cli.errors import Exit


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text("utf-8")


def test_session_matches_the_program(page: str, tmp_path: Path) -> None:
    assert update_page(page, tmp_path) == page, "run `python -m tests.system.cli.session_page` and review the changes"


def test_exit_code_table_matches_the_code(page: str) -> None:
    """Scripts depend on the codes, so a code never changes."""
    documented = rows(page, "Code | Name | When | Server reasons")
    assert {int(code): (quoted(kind), set(quoted(reasons))) for code, kind, _, reasons in documented} == {
        int(exit): ([exit.name], {str(reason) for reason, code in EXIT_CODES.items() if code == exit}) for exit in Exit
    }
