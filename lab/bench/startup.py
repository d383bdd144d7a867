"""S11 to S14: the start of the server, commands, and the fixtures of the pytest plugin: times that people wait for."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from lab.bench import bodies
from lab.bench.harness import Bench, Slot, timed, times
from lab.processes import resident_mib
from tests.support.program import Program

_TICKOVER = str(Path(sys.executable).with_name("tickover"))
_FIXTURES = 21

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


def measure_startup(bench: Bench) -> None:
    """Everything is warm: programs, modules and databases are in the page cache."""
    folder = bench.folder
    program = bench.serve("commands")
    token = program.sign_in()
    clock = program.result("createTestClock", bodies.typical(), token)["clock"]["id"]
    access = {"TICKOVER_URL": program.url, "TICKOVER_TOKEN": token}
    started = bench.serve("starts")
    memory: list[float] = []
    setups: list[list[float]] = []
    numbers = count()

    def start(_seconds: float) -> Slot:
        elapsed = _restart(started)
        memory.append(resident_mib(started.process.pid))
        return Slot(1 / elapsed, elapsed)

    def measure_fixtures(_seconds: float) -> Slot:
        setups.append(_measure_fixtures(folder / f"fixtures-{next(numbers)}"))
        return Slot(1, 1)

    slots = bench.alternate({
        "python -c pass": timed(lambda: _run([sys.executable, "-c", "pass"], folder)),
        "start to ready": start,
        "`tickover --help`": timed(lambda: _run([_TICKOVER, "--help"], folder)),
        "`tickover clock show`": timed(lambda: _run([_TICKOVER, "clock", "show", clock], folder, access)),
        "fixtures": measure_fixtures,
    })  # fmt: skip
    bench.row("S11", "memory, idle", "MiB", ("<", 40), memory)
    for number, what, target in (
        ("S12", "start to ready", 10), ("S13", "`tickover --help`", 4), ("S13", "`tickover clock show`", 8),
    ):  # fmt: skip
        ratios = times(slots[what], slots["python -c pass"])
        bench.row(number, f"{what}, against `python -c pass`", "times", ("≤", target), ratios)
    # The first run of the fixtures was a warm-up.
    bench.row("S14", "first `clock` fixture of pytest", "s", ("<", 0.25), [first for first, *_ in setups[1:]])
    others = [statistics.median(others) * 1000 for _, *others in setups[1:]]
    bench.row("S14", "each further `clock` fixture", "ms", ("<", 6), others)


def _restart(program: Program) -> float:
    """Start the server again, and return the seconds until it is ready."""
    program.stop()
    before = program.output
    began = time.perf_counter()
    program.launch()
    # Look more often than `wait_for_banner`.
    while len(program.output) == len(before):
        time.sleep(0.002)
    program.wait_for_banner()
    elapsed = time.perf_counter() - began
    assert program.request("GET", "/readyz").status == 200
    return elapsed


def _measure_fixtures(folder: Path) -> list[float]:
    """Return the seconds that pytest spends on the set-up of each test that uses the `clock` fixture."""
    folder.mkdir()
    (folder / "test_clocks.py").write_text(_TESTS)
    (folder / "conftest.py").write_text(_RECORD_SETUPS)
    # Otherwise pytest would use the options of the repository around the folder.
    (folder / "pytest.ini").write_text("[pytest]\n")
    _run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"], folder)
    setups: list[float] = json.loads((folder / "setups.json").read_text())
    return setups


def _run(command: Sequence[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    others = {name: value for name, value in os.environ.items() if not name.startswith(("TICKOVER_", "PYTEST_"))}
    done = subprocess.run(  # noqa: S603 - constant arguments
        command, env={**others, **(environment or {})}, cwd=folder, capture_output=True, text=True,
        timeout=60, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, f"{' '.join(command)} failed: {done.stdout[-1000:]}{done.stderr[-1000:]}"
