"""The supervisor of worker processes, with workers that don't serve."""

import subprocess
import sys
from pathlib import Path

from tests.support.metrics import parse_metrics, total
from tickover.server.metrics.numbers import GAUGES

# Each worker writes the metrics before and after it sets all gauges. The first one dies, and the third one replaces it.
_PROGRAM = """
import logging, os, signal, sys
from pathlib import Path
from tickover.server.logs import Log
from tickover.server.metrics.numbers import GAUGES, render
from tickover.server.settings import read_settings
from tickover.server.workers import run_workers

folder = Path(sys.argv[1])

def serve(settings, recorder, when_ready, supervisor_ended):
    run = len(list(folder.glob("*.before")))
    (folder / f"{run}.before").write_bytes(render(recorder.shared.read()))
    for gauge in GAUGES:
        recorder.set(*gauge, value=(3, 5, 7)[run])
    (folder / f"{run}.after").write_bytes(render(recorder.shared.read()))
    when_ready()
    if run < 2:
        signal.pause() if run else os._exit(9)
    os.kill(os.getppid(), signal.SIGTERM)
    signal.pause()

settings = read_settings({}, {"workers": "2", "port": "0", "database_url": "postgresql://127.0.0.1/unused"})
sys.exit(run_workers(settings, Log(logging.getLogger()), serve, lambda _: None))
"""


def test_gauges_of_a_worker_that_has_ended_are_cleared(tmp_path: Path) -> None:
    """The worker that replaces it has its number, and not that of the other worker."""
    command = [sys.executable, "-c", _PROGRAM, str(tmp_path)]
    assert subprocess.run(command, timeout=120, check=False).returncode == 0
    first, before, after = (parse_metrics((tmp_path / name).read_text()) for name in ("0.after", "2.before", "2.after"))
    for name, *_ in GAUGES:
        keys = total(first, name) / 3
        assert keys > 0
        assert total(before, name) == 5 * keys
        assert total(after, name) == (5 + 7) * keys
    assert total(after, "worker_restarts_total") == 1
