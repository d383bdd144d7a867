"""kill -9 while callers write, a few times on one data folder. `make soak` kills 500 times."""

from pathlib import Path

from tests.support.kills import kill_with_sqlite


def test_kill_9_loses_no_confirmed_write(tmp_path: Path) -> None:
    assert kill_with_sqlite(tmp_path, range(3)).count == 3
