"""The real program, started as a person would."""

import signal
from pathlib import Path

from tests.program import Program


def test_it_serves_and_stops_cleanly(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        token = program.sign_in()
        clock = program.result("createTestClock", {}, token)["clock"]
        assert clock["status"] == "READY"
        assert program.stop(signal.SIGINT) == 0
        assert program.output.endswith("Tickover has stopped.\n")
