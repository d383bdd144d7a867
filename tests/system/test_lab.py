"""The benchmark and the soak start and report. CI runs rows of the soak."""

import io
from collections.abc import Iterator
from pathlib import Path

from lab.bench import bodies
from lab.bench.__main__ import Bench
from lab.bench.calls import clocks_of
from lab.bench.plan import QUICK, TYPICAL
from lab.bench.results import Case
from lab.bench.rounds import Run
from lab.bench.sides import LIMIT, TICKOVER, Tickover, Work
from lab.soak.report import write_report
from lab.soak.rows import Context, Figure, Row
from lab.soak.run import Soak
from tests.support.debian_packages import require_program


def test_benchmark_measures_a_server_and_reports_a_part_that_fails(tmp_path: Path) -> None:
    require_program("wrk")
    params = bodies.with_transactions(1)

    def measure(run: Run) -> None:
        with Tickover(tmp_path) as side:
            tokens = side.tokens(3)
            kept = side.filler(tokens, params).fill(40, every=2)
            loads = side.loads(Work("test", clocks_of(kept, tokens, params), params))
            for name in (TICKOVER, LIMIT):
                run.results.add(Case(TYPICAL, "advance", 64), name, 0, loads["advance"].run(2, 0.1))

    def fail(_: Run) -> None:
        raise OSError("no space left")

    bench = Bench(QUICK, {"first": fail, "second": measure}, tmp_path)
    bench.run()
    assert bench.failures == ["first failed: OSError: no space left"]
    report = bench.report("; ".join(bench.failures))
    assert report.startswith("INCOMPLETE: first failed")
    assert "S1 " in report


def test_soak_runs_rows_and_reports(tmp_path: Path) -> None:
    def succeed(context: Context) -> Iterator[Figure]:
        yield Figure("rounds", str(len(list(context.rounds(3, "round")))), "3", True)

    def fail(context: Context) -> Iterator[Figure]:
        yield Figure("before", "1")
        raise AssertionError("a write was lost")

    rows = [Row(name, "a row", "no error", run, 1, 1, ("sqlite",)) for name, run in (("R0", fail), ("R1", succeed))]
    soak = Soak(rows, ("sqlite",), True, tmp_path, io.StringIO())
    soak.run()
    assert [(result.state, result.is_met) for result in soak.results] == [("failed", False), ("finished", True)]
    report = write_report(rows, soak.results, "2 cores.")
    assert [line.split(" | ")[3:5] for line in report.splitlines()[-2:]] == [["failed", "–"], ["met", "–"]]
    # A later run of some rows replaces only these.
    later = write_report(rows, soak.results[1:], "2 cores.", report)
    assert later == report
