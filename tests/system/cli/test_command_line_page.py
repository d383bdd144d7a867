"""The session in docs/command-line.md matches the program."""

from pathlib import Path

from tests.system.cli.session_page import PAGE, update_page


def test_session_matches_the_program(tmp_path: Path) -> None:
    page = PAGE.read_text("utf-8")
    assert update_page(page, tmp_path) == page, "run `python -m tests.system.cli.session_page` and review the changes"
