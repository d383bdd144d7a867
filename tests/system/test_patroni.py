"""A Patroni cluster from deploy/patroni/patroni.yml loses its primary while callers write through HAProxy."""

from pathlib import Path

from tests.support.failovers import run_failovers
from tests.support.patroni import Node


async def test_killed_primary_loses_no_confirmed_write(tmp_path: Path) -> None:
    with run_failovers(tmp_path) as failovers:
        await failovers.run(Node.kill)
