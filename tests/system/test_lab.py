"""The benchmark and the soak start and report. CI runs rows of the soak."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from lab.bench import bodies
from lab.bench.calls import clocks_of
from lab.bench.chart import draw
from lab.bench.observation import without_metrics
from lab.bench.plan import QUICK, TYPICAL
from lab.bench.report import save_json, table_of_targets, tables_of_rates
from lab.bench.results import Case, Results
from lab.bench.sides import LIMIT, TICKOVER, Work
from lab.bench.targets import Judge
from lab.soak.report import write_report
from lab.soak.rows import Context, Figure, Row
from lab.soak.run import Soak
from tests.support.debian_packages import require_program


def test_benchmark_measures_a_server_and_reports(tmp_path: Path) -> None:
    require_program("wrk")
    params = bodies.with_transactions(1)
    results = Results()
    with without_metrics(tmp_path) as side:
        tokens = [user.token for user in side.sign_in(3)]
        kept = side.filler(tokens, params).fill(40, every=2)
        loads = side.loads(Work("test", clocks_of(kept, tokens, params), params))
        for operation in ("create", "advance"):
            for name in (TICKOVER, LIMIT):
                results.add(Case(TYPICAL, operation, 64), name, 0, loads[operation].run(2, 0.1))
    rows = Judge(results, QUICK).rows()
    measured = [row.number for row in rows if row.spread]
    assert "S1" in measured
    assert "S1 " in table_of_targets(rows, QUICK)
    assert "advance" in tables_of_rates(results)
    save_json(tmp_path / "report.json", rows, results, QUICK, {})
    assert len(json.loads((tmp_path / "report.json").read_text())["slots"]) == 4
    assert ElementTree.fromstring(draw(rows, results.facts, QUICK)).tag.endswith("svg")


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
    assert "a write was lost" in report
    assert "| rounds | 3 | 3 |" in report
