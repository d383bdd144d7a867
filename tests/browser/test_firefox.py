"""The main path of the console in Firefox."""

from pathlib import Path

from tests.browser.firefox import run_in_firefox
from tests.support.program import Program


def test_new_user_completes_a_first_session_in_firefox(program: Program, tmp_path: Path) -> None:
    run_in_firefox("firefox.mjs", tmp_path, program.url)
