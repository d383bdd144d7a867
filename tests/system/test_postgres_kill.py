"""kill -9 of a replica while callers write, a few times. `make soak` kills 500 times."""

from pathlib import Path

from tests.support.kills import kill_with_postgres
from tests.support.postgres import PostgresServer


async def test_kill_9_loses_no_confirmed_write(tmp_path: Path, postgres: PostgresServer) -> None:
    assert (await kill_with_postgres(tmp_path, postgres, range(3))).count == 3
