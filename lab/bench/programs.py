"""The start of the server, commands, and the fixtures of the pytest plugin: times that people wait for."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lab.bench import bodies
from lab.bench.calls import result
from lab.bench.plan import ROUNDS
from lab.bench.rounds import Run
from lab.bench.sides import ROOT, TICKOVER_PROGRAM, Side, Tickover

SECONDS_OF_PYTHON = "seconds of python -c pass"
SECONDS_TO_READY = "seconds from start to ready"
SECONDS_OF_HELP = "seconds of tickover --help"
SECONDS_OF_SHOW = "seconds of tickover clock show"
FIRST_FIXTURE_SECONDS = "seconds of the first clock fixture"
NEXT_FIXTURE_MILLIS = "milliseconds of each further clock fixture"
MEMORY_IDLE = "MiB idle"

_REPETITIONS = 3
_FIXTURES = 21
_COMMAND_SECONDS = 60.0

# The tests import nothing of Tickover, as in a project that only uses the fixture.
_TESTS = f"""
import pytest

@pytest.mark.parametrize("number", range({_FIXTURES}))
def test_clock(clock, number):
    assert clock
"""
_RECORD_SETUPS = """
import json, pathlib

setups = []

def pytest_runtest_logreport(report):
    if report.when == "setup":
        assert report.passed, report.longrepr
        setups.append(report.duration)

def pytest_sessionfinish():
    pathlib.Path("setups.json").write_text(json.dumps(setups))
"""


def measure_programs(run: Run) -> None:
    """Everything is warm: programs, modules and databases are in the page cache."""
    side = Tickover(run.folder / "starts")
    run.stack.callback(side.stop)
    side.start()
    show = _show_command(side)
    side.stop()
    for number in range(ROUNDS):
        run.progress.show_step(f"start, commands and fixtures, round {number + 1} of {ROUNDS}")
        run.results.figure(SECONDS_OF_PYTHON, _seconds_of([sys.executable, "-c", "pass"]))
        started = time.perf_counter()
        side.start()
        run.results.figure(SECONDS_TO_READY, time.perf_counter() - started)
        run.results.figure(MEMORY_IDLE, side.process.mebibytes())
        run.results.figure(SECONDS_OF_SHOW, _seconds_of(*show))
        side.stop()
        run.results.figure(SECONDS_OF_HELP, _seconds_of([TICKOVER_PROGRAM, "--help"]))
        first, *others = measure_fixtures(run.folder / f"fixtures-{number}")
        run.results.figure(FIRST_FIXTURE_SECONDS, first)
        run.results.figure(NEXT_FIXTURE_MILLIS, statistics.median(others) * 1000)


def measure_fixtures(folder: Path) -> list[float]:
    """Return the seconds that pytest spends on the set-up of each test that uses the `clock` fixture."""
    folder.mkdir(parents=True)
    (folder / "test_clocks.py").write_text(_TESTS)
    (folder / "conftest.py").write_text(_RECORD_SETUPS)
    # Otherwise pytest would use the options of the repository around the folder.
    (folder / "pytest.ini").write_text("[pytest]\n")
    arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    _run([sys.executable, *arguments], cwd=folder)
    setups: list[float] = json.loads((folder / "setups.json").read_text())
    return setups


def _show_command(side: Side) -> tuple[list[str], dict[str, str]]:
    token = side.tokens(1)[0]
    clock = result(side.url, "createTestClock", bodies.typical(), token)["clock"]
    return [TICKOVER_PROGRAM, "clock", "show", clock["id"]], {"TICKOVER_URL": side.url, "TICKOVER_TOKEN": token}


def _seconds_of(command: Sequence[str], environment: dict[str, str] | None = None) -> float:
    """Return the median of a few runs, because one run of a short program varies much."""
    seconds = []
    for _ in range(_REPETITIONS):
        started = time.perf_counter()
        _run(command, environment)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def _run(command: Sequence[str], environment: dict[str, str] | None = None, cwd: Path = ROOT) -> None:
    others = {name: value for name, value in os.environ.items() if not name.startswith(("TICKOVER_", "PYTEST_"))}
    done = subprocess.run(  # noqa: S603 - constant arguments
        command, env={**others, **(environment or {})}, cwd=cwd, capture_output=True, text=True,
        timeout=_COMMAND_SECONDS, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, f"{' '.join(command)} failed: {done.stdout[-1000:]}{done.stderr[-1000:]}"
