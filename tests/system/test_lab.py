"""The benchmark and the soak start and report. CI runs rows of the soak."""

import io
from collections.abc import Iterator
from pathlib import Path

from lab.bench import bodies
from lab.bench.__main__ import report
from lab.bench.harness import QUICK, Bench, rates
from lab.bench.wrk import advancing
from lab.soak.rows import Context, Figure, Row
from lab.soak.run import Soak, write_report
from tests.support.debian_packages import require_program


def test_benchmark_measures_a_server_and_reports_a_part_that_fails(tmp_path: Path) -> None:
    require_program("wrk")

    def measure(bench: Bench) -> None:
        program = bench.serve("sqlite")
        clocks = bench.fill(program, bodies.typical(), 100, every=2)
        advance = advancing(tmp_path, program.url, clocks)
        slots = bench.alternate({"one": advance.on(1), "two": advance.on(2)}, 0.1)
        bench.row("S1", "advances", "ratio", ("≥", 0.001), rates(slots["two"], slots["one"]))

    def fail(_: Bench) -> None:
        raise OSError("no space left")

    bench = Bench(QUICK, tmp_path)
    bench.run({"first": fail, "second": measure})
    assert bench.failures == ["first failed: OSError: no space left"]
    text = report(bench, "; ".join(bench.failures))
    assert text.startswith("INCOMPLETE: first failed")
    assert "| S1 | advances |" in text
    assert "1 of 1 targets pass" in text


def test_soak_runs_rows_and_reports(tmp_path: Path) -> None:
    def succeed(context: Context) -> Iterator[Figure]:
        yield Figure("rounds", str(len(list(context.rounds(3, "round")))), "3", True)

    def fail(context: Context) -> Iterator[Figure]:
        yield Figure("before", "1")
        raise AssertionError("a write was lost")

    rows = [Row(name, "a row", "no error", run, 1, 1, ("sqlite",)) for name, run in (("R0", fail), ("R1", succeed))]
    soak = Soak(rows, ("sqlite",), True, tmp_path, io.StringIO())
    soak.run()
    assert soak.verdicts == {("R0", "sqlite"): "failed", ("R1", "sqlite"): "met"}
    report = write_report(rows, soak.verdicts, "2 cores.")
    assert [line.split(" | ")[3:5] for line in report.splitlines()[-2:]] == [["failed", "–"], ["met", "–"]]
    # A later run of some rows replaces only these.
    later = write_report(rows, {("R1", "sqlite"): "met"}, "2 cores.", report)
    assert later == report
