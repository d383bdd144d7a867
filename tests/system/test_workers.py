"""The supervisor of worker processes, with workers that don't serve."""

import subprocess
import sys
from pathlib import Path

from tests.support.metrics import parse_metrics, total
from tickover.server.metrics.numbers import GAUGES

# Each worker writes the metrics that it finds. The first one also sets all gauges, and dies.
_PROGRAM = """
import logging, os, signal, sys
from pathlib import Path
from tickover.server.logs import Log
from tickover.server.metrics.numbers import GAUGES, render
from tickover.server.settings import read_settings
from tickover.server.workers import run_workers

folder = Path(sys.argv[1])

def serve(settings, recorder, when_ready, supervisor_ended):
    run = len(list(folder.iterdir()))
    if run == 0:
        for gauge in GAUGES:
            recorder.set(*gauge, value=3)
    (folder / str(run)).write_bytes(render(recorder.shared.read()))
    when_ready()
    if run < 2:
        signal.pause() if run else os._exit(9)
    os.kill(os.getppid(), signal.SIGTERM)
    signal.pause()

settings = read_settings({}, {"workers": "2", "port": "0", "database_url": "postgresql://127.0.0.1/unused"})
sys.exit(run_workers(settings, Log(logging.getLogger()), serve, lambda _: None))
"""


def test_gauges_of_a_worker_that_has_ended_are_cleared(tmp_path: Path) -> None:
    """The worker that replaces it has its number."""
    command = [sys.executable, "-c", _PROGRAM, str(tmp_path)]
    assert subprocess.run(command, timeout=120, check=False).returncode == 0
    first, *_, last = [
        parse_metrics((tmp_path / name).read_text()) for name in sorted(p.name for p in tmp_path.iterdir())
    ]
    for name, *_ in GAUGES:
        assert total(first, name) > 0
        assert total(last, name) == 0
    assert total(last, "worker_restarts_total") == 1
