"""The benchmark: its statistics, the output of load generators, and the start of its servers."""

import io
import json
import socket
import time
from pathlib import Path
from urllib.request import urlopen
from xml.etree import ElementTree

import pytest

from bench import bodies, load, pgbench
from bench.amendments import millis_of
from bench.bare_sqlite import BareSqlite
from bench.calls import clocks_of, is_ready, post
from bench.chart import attainment, draw
from bench.delay import DELAY_SECONDS, DelayProxy
from bench.growth import name_of
from bench.ledger_block import READ_CLOCK
from bench.limit import constant
from bench.load import Filler, InvalidSlot
from bench.observation import METRICS, RECORDING, TRACES, WITHOUT, micros_of, without_metrics
from bench.plan import CLOCKS, FULL, LEDGER, QUICK, SHARES, TYPICAL, fit_into_time, parts_of
from bench.programs import SECONDS_OF_HELP, SECONDS_OF_PYTHON, SECONDS_TO_READY
from bench.progress import Progress
from bench.report import measured, save_json, table_of_targets, tables_of_rates, target
from bench.results import Case, Results, Slot, Spread, quotients
from bench.sides import BARE, DEFAULT, LIMIT, TICKOVER, Work, limit
from bench.targets import INFORMATION, NOT_MEASURABLE, NOT_MEASURED, PASS, SHORT, Goal, Judge, Row, items_of
from tests.support.debian_packages import require_program
from tests.support.metrics import parse_metrics, total
from tests.support.ports import free_port

ADVANCE = Case(TYPICAL, "advance", 64)


def slot(rate: float, median: float = 100) -> Slot:
    return Slot(2, int(rate * 2), median, median * 2)


def results_with(*rates: tuple[str, list[float]], case: Case = ADVANCE) -> Results:
    results = Results()
    for side, values in rates:
        for round, rate in enumerate(values):
            results.add(case, side, round, slot(rate))
    return results


def row_of(results: Results, number: str, place: int = 0) -> Row:
    return [row for row in Judge(results, FULL).rows() if row.number == number][place]


# Statistics


def test_spread_has_median_minimum_and_maximum() -> None:
    assert Spread.of([3, 1, 2, 9, 4]) == (3, 1, 9, (3, 1, 2, 9, 4))
    assert Spread.of([]) is None


def test_ratios_are_computed_within_rounds_that_both_have() -> None:
    results = results_with((TICKOVER, [50, 10, 30]), (LIMIT, [100, 100]))
    assert results.ratios((ADVANCE, TICKOVER), (ADVANCE, LIMIT)) == [0.5, 0.1]
    assert quotients([1, 4, 9], [2, 2]) == [0.5, 2]


def test_median_of_ratios_is_not_the_ratio_of_medians() -> None:
    results = results_with((TICKOVER, [10, 100, 1000]), (LIMIT, [100, 200, 1000]))
    assert row_of(results, "S1").spread == Spread.of([0.1, 0.5, 1])


# Verdicts


@pytest.mark.parametrize(
    ("ours", "verdict"), [([60, 50, 10], PASS), ([60, 49, 10], SHORT), ([], NOT_MEASURED)], ids=str
)
def test_target_is_compared_with_the_median(ours: list[float], verdict: str) -> None:
    assert row_of(results_with((TICKOVER, ours), (LIMIT, [100, 100, 100])), "S1").verdict == verdict


def test_cost_of_metrics_is_compared_within_rounds() -> None:
    results = Results()
    sides = ((micros_of(WITHOUT), [100, 200]), (micros_of(METRICS), [101, 206]), (micros_of(TRACES), [202, 309]))
    for name, values in ((RECORDING, [1, 4]), *sides):
        for micros in values:
            results.figure(name, micros)
    rows = [row_of(results, "S17", place) for place in range(3)]
    assert [row.verdict for row in rows] == [PASS, INFORMATION, INFORMATION]
    assert [measured(row) for row in rows] == ["1.5 % [1.0 .. 2.0]", "2.0 % [1.0 .. 3.0]", "75.0 % [50.0 .. 100]"]
    assert target(rows[0]) == "< 2 %"


def test_comparison_signs() -> None:
    assert Goal("≥", 2).is_reached(2)
    assert Goal("≤", 2).is_reached(2)
    assert not Goal("<", 2).is_reached(2)


def test_latency_is_compared_with_the_limit_and_a_commit_together() -> None:
    results = Results()
    case = Case(TYPICAL, "advance", 1)
    for side, median in ((TICKOVER, 300), (LIMIT, 60), (BARE, 140)):
        results.add(case, side, 0, slot(1000, median))
    assert row_of(results, "S6").spread == Spread.of([1.5])
    assert row_of(results, "S6").verdict == PASS


def test_questions_about_money_are_compared_with_reading_the_clock() -> None:
    results = Results()
    for method, rate in ((READ_CLOCK, 300), ("listTestClockEvents", 100), ("checkTestClock", 99)):
        results.add(Case(LEDGER, method, 1), TICKOVER, 0, slot(rate))
    assert row_of(results, "S15").verdict == PASS
    assert row_of(results, "S15", 2).verdict == SHORT


def test_amendments_are_compared_with_those_of_a_small_clock_and_with_reading() -> None:
    results = Results()
    for method, size, millis in (("amendTestClock", 100, 2), ("amendTestClock", 5000, 8), ("getTestClock", 5000, 4)):
        results.figure(millis_of(method, "PostgreSQL", size), millis)
    rows = [row for row in Judge(results, FULL).rows() if row.number == "S16" and row.spread]
    assert [(row.what, row.spread and row.spread.median) for row in rows] == [
        ("amendTestClock of 5,000 items on PostgreSQL, time against 100", 4),
        ("amendTestClock of 5,000 items on PostgreSQL, time against getTestClock", 2),
    ]


def test_programs_are_compared_with_an_empty_python_program() -> None:
    results = Results()
    results.figures = {SECONDS_OF_PYTHON: [0.02, 0.04], SECONDS_TO_READY: [0.2, 0.4], SECONDS_OF_HELP: [0.13, 0.26]}
    assert row_of(results, "S12").verdict == PASS
    assert row_of(results, "S13").verdict == SHORT


def test_unmeasurable_target_has_a_reason() -> None:
    results = Results()
    results.notes[SHARES] = "there are no control groups here"
    assert row_of(results, "S8").verdict == NOT_MEASURABLE
    assert "control groups" in measured(row_of(results, "S8"))


def test_some_rows_are_for_information_only() -> None:
    case = Case(CLOCKS, "advance", 64)
    results = results_with((name_of(1000), [100]), (name_of(100_000), [1]), case=case)
    assert row_of(results, "S10", 1).verdict == INFORMATION


def test_quick_run_reports_what_it_reduces() -> None:
    smaller = {row.number for row in Judge(Results(), QUICK).rows() if row.made_smaller}
    assert smaller == {"S9", "S10", "S11"}
    assert not any(row.made_smaller for row in Judge(Results(), FULL).rows())


def test_every_target_has_a_row() -> None:
    numbers = [row.number for row in Judge(Results(), FULL).rows()]
    assert list(dict.fromkeys(numbers)) == [
        *(f"S{number}" for number in range(1, 8)), "S7b", *(f"S{number}" for number in range(8, 18)),
    ]  # fmt: skip


def test_clocks_have_the_stated_number_of_items() -> None:
    assert items_of(bodies.typical()) == 22
    assert items_of(bodies.largest()) == 2600
    added = [items for addition in bodies.additions(["goal"] * 25) for items in addition.values()]
    assert items_of(bodies.largest()) + sum(map(len, added)) == bodies.GROWN_ITEMS
    assert max(map(len, added)) == 100
    assert len(bodies.expectations()) == 50


# Output of load generators


def wrk_output(**changes: object) -> str:
    report = {"micros": 500_000, "requests": 1000, "wrong": 0, "broken": 0, "median": 70, "p99": 900, "rounds": 3}
    return f"Running 600s test\n  1 threads\nSLOT {json.dumps({**report, 'response': '', **changes})}\n"


def test_output_of_wrk_is_parsed() -> None:
    outcome = load.read_report(wrk_output())
    assert outcome == (Slot(0.5, 1000, 70, 900), 3, "")
    assert outcome.slot.rate == 2000


@pytest.mark.parametrize(
    ("output", "error"),
    [
        (wrk_output(wrong=2, response='200 {"error"'), '2 responses have no result, for example 200 {"error"'),
        (wrk_output(broken=1), "1 requests were interrupted"),
        (wrk_output(requests=0), "no response"),
        ("unable to connect", "unable to connect"),
    ],
    ids=["an error", "a lost connection", "no response", "no report"],
)
def test_slot_is_invalid_unless_all_responses_are_results(output: str, error: str) -> None:
    assert error in load.read_report(output).error


def test_output_of_pgbench_is_parsed_without_first_calls() -> None:
    # Two clients with a call each millisecond. The first five calls of each take long.
    calls = [(client, number, 1000 * number + 10 * client) for number in range(1, 51) for client in (0, 1)]
    log = "".join(f"{client} {number} {100 + number} 0 1000 {micros:06}\n" for client, number, micros in calls)
    read = pgbench.read_log(log, 2)
    # From the fifth call of the later client to the last call of the earlier one.
    assert read.requests == 89
    assert read.seconds == pytest.approx(0.04499)
    assert 105 < read.median_micros < read.p99_micros <= 151


def test_pgbench_without_enough_time_is_invalid() -> None:
    with pytest.raises(InvalidSlot):
        pgbench.read_log("0 1 100 0 1000 000100\n", 2)


# Plan and progress


def test_slots_are_shortened_for_slow_creations_down_to_a_minimum() -> None:
    def seconds(creates_a_second: float) -> float:
        return fit_into_time(FULL, parts_of(FULL, creates_a_second), 10).slot_seconds

    assert seconds(100_000) >= seconds(4000) >= seconds(2000) >= 0.25
    assert seconds(1) == 0.25


def test_progress_is_plain_lines_without_a_terminal() -> None:
    out = io.StringIO()
    progress = Progress(out)
    progress.plan("first", 2, 60)
    progress.plan("second", 1, 60)
    progress.count_steps("first")
    progress.show_step("first: advance")
    assert out.getvalue() == "1 of 3, 1.5 min left: first: advance\n"
    progress.end_of("first")
    assert progress.minutes_left == 1


# Report and chart


def some_rows() -> tuple[list[Row], Results]:
    results = results_with((TICKOVER, [40, 60]), (LIMIT, [100, 100]), (DEFAULT, [1, 0.5]))
    results.figure("MiB idle", 48.4)
    results.facts["Python"] = '3 & "more" <of it>'
    return Judge(results, QUICK).rows(), results


def test_tables_contain_the_measurements() -> None:
    rows, results = some_rows()
    lines = table_of_targets(rows, QUICK).splitlines()
    assert next(line for line in lines if line.startswith("S1 ")).split()[-7:] == [
        "≥", "0.5", "0.50", "[0.40", "..", "0.60]", "pass",
    ]  # fmt: skip
    assert any(line.startswith("* made smaller by QUICK") for line in lines)
    assert "50.0 [40.0 .. 60.0]" in tables_of_rates(results)
    assert target(rows[0]) == "≥ 0.5"


def test_json_report_contains_every_round(tmp_path: Path) -> None:
    rows, results = some_rows()
    save_json(tmp_path / "report.json", rows, results, QUICK, {"typical": 1.23})
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert [one["rate"] for one in report["slots"] if one["side"] == TICKOVER] == [40, 60]
    assert report["targets"][0]["measured"]["rounds"] == [0.4, 0.6]
    assert report["targets"][0]["verdict"] == PASS


@pytest.mark.parametrize("is_empty", [False, True], ids=["some rows", "nothing measured"])
def test_chart_is_well_formed(is_empty: bool) -> None:
    rows, results = some_rows()
    shown = Judge(Results(), FULL).rows() if is_empty else rows
    root = ElementTree.fromstring(draw(shown, results.facts, QUICK))
    texts = "".join(root.itertext())
    assert root.tag.endswith("svg")
    assert all(row.what in texts for row in rows if row.goal and not is_empty)


def test_better_values_are_to_the_right() -> None:
    at_least, below = Row("", "", "times", Goal("≥", 40), None), Row("", "", "ms", Goal("<", 250), None)
    assert attainment(at_least, 80) == 2
    assert attainment(below, 125) == 2
    # Faster than the limit is as good as possible.
    assert attainment(below, -3) > 100


# Sides


def test_delay_proxy_forwards_bytes_in_both_directions() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, DelayProxy(listener.getsockname()[1]) as proxy:
        client = socket.create_connection(("127.0.0.1", proxy.port))
        server = listener.accept()[0]
        client.sendall(b"ping")
        client.shutdown(socket.SHUT_WR)
        assert server.makefile("rb").read() == b"ping"
        sent = time.perf_counter()
        server.sendall(b"pong")
        server.close()
        assert client.makefile("rb").read() == b"pong"
        assert time.perf_counter() - sent >= DELAY_SECONDS
        client.close()


def test_limit_returns_the_configured_number_of_bytes(tmp_path: Path) -> None:
    with limit(tmp_path, 4096) as side:
        response = post(side.url, "createTestClock", bodies.typical())
        assert side.process.mebibytes() > 1
    assert response == constant(4096)
    assert len(response) == 4096
    assert "result" in json.loads(response)


def test_bare_sqlite_uses_the_schema_of_the_store(tmp_path: Path) -> None:
    bare = BareSqlite(tmp_path / "bare.db", 100)
    try:
        assert all(bare.measure(operation, 2, 0.01).requests >= 2 for operation in ("advance", "create"))
    finally:
        bare.close()


def test_load_creates_and_advances_clocks_on_a_real_server_without_metrics(tmp_path: Path) -> None:
    require_program("wrk")
    params = bodies.with_transactions(1)
    port = free_port()
    with without_metrics(tmp_path, TICKOVER_METRICS_PORT=str(port)) as side:
        assert is_ready(side.url)
        tokens = [user.token for user in side.sign_in(3)]
        kept = side.filler(tokens, params).fill(40, every=2)
        loads = side.loads(Work("test", clocks_of(kept, tokens, params), params))
        slots = [loads[operation].run(2, 0.1) for operation in ("create", "advance")]
        with pytest.raises(InvalidSlot, match="UNAUTHENTICATED"):
            Filler(tmp_path / "wrong.lua", side.url, ["nobody"], params).fill(10)
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as response:
            metrics = parse_metrics(response.read().decode())
    assert len(set(kept)) == 20
    assert {owner for _, owner in kept} == {0, 1, 2}
    assert all(one.requests for one in slots)
    assert not any(one.retries for one in loads.values())
    assert (total(metrics, "emails_total"), total(metrics, "calls_total")) == (3, 0)
