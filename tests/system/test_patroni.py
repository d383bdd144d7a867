"""A Patroni cluster from deploy/patroni/patroni.yml loses its primary while callers write through HAProxy."""

from pathlib import Path

from tests.support.failovers import run_failovers
from tests.support.patroni import Node


async def test_killed_primary_loses_no_confirmed_write(tmp_path: Path) -> None:
    """The soak waits until the lease of the killed primary expires."""
    with run_failovers(tmp_path) as failovers:

        def kill(primary: Node) -> None:
            primary.kill()
            failovers.cluster.expire_leadership()

        await failovers.run(kill)
