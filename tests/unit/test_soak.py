"""The soak's runner and report."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from soak.report import write_report
from soak.results import Result, load, merge, save
from soak.rows import Context, Figure, Row, at_least, at_most
from soak.run import Soak
from tests.support.cases import each_case


def row(run: Callable[[Context], Iterator[Figure]], name: str = "R0") -> Row:
    return Row(name, "a row", "no error", run, 1, 1, ("sqlite",))


def run_rows(folder: Path, *rows: Row) -> Soak:
    soak = Soak(rows, ("sqlite",), True, folder, io.StringIO())
    soak.run()
    return soak


def succeed(context: Context) -> Iterator[Figure]:
    (context.folder / "data").touch()
    done = [context.scale(1_000, number) for number in context.rounds(3, "round")]
    yield Figure("rounds", str(done), "[0, 1, 2]", done == [0, 1, 2])


def test_finished_row_reports_its_figures_and_deletes_its_files(tmp_path: Path) -> None:
    [result] = run_rows(tmp_path, row(succeed)).results
    assert (result.state, result.is_met) == ("finished", True)
    assert result.figures == [Figure("rounds", "[0, 1, 2]", "[0, 1, 2]", True)]
    assert list(tmp_path.iterdir()) == []


def test_failed_row_keeps_its_figures_and_files_and_the_next_row_runs(tmp_path: Path) -> None:
    def fail(context: Context) -> Iterator[Figure]:
        yield Figure("before", "1")
        context.progress(0.5, "the second step")
        raise AssertionError("a write was lost")

    failed, finished = run_rows(tmp_path, row(fail), row(succeed, "R1")).results
    assert (failed.state, failed.is_met, failed.figures) == ("failed", False, [Figure("before", "1")])
    assert failed.note == "During the second step: AssertionError: a write was lost"
    assert "a write was lost" in (tmp_path / "R0-sqlite" / "traceback.txt").read_text()
    assert finished.is_met


def test_interrupted_row_is_reported(tmp_path: Path) -> None:
    def interrupt(context: Context) -> Iterator[Figure]:
        for _ in context.rounds(10, "round"):
            raise KeyboardInterrupt
        yield Figure("never", "")

    soak = Soak([row(succeed, "R1"), row(interrupt), row(succeed)], ("sqlite",), True, tmp_path, io.StringIO())
    with pytest.raises(KeyboardInterrupt):
        soak.run()
    assert [result.state for result in soak.results] == ["finished", "interrupted"]
    assert "round 1 of 10" in soak.results[1].note


def test_row_without_its_program_is_not_run(tmp_path: Path) -> None:
    def skip(_: Context) -> Iterator[Figure]:
        pytest.skip("strace is not installed")

    [result] = run_rows(tmp_path, row(skip)).results
    assert (result.state, result.note, result.is_met) == ("not run", "strace is not installed", False)


def test_rounds_end_at_the_deadline(tmp_path: Path) -> None:
    context = Context("sqlite", False, tmp_path, 0.0, lambda _share, _what: None)
    assert list(context.rounds(3, "round")) == []


@each_case(
    ("figure", "expected"),
    [
        (at_most("p99", 100, 100, " ms"), Figure("p99", "100 ms", "at most 100 ms", True)),
        (at_most("p99", 100.5, 100, " ms"), Figure("p99", "100.5 ms", "at most 100 ms", False)),
        (at_least("rounds", 1_000, 1_000), Figure("rounds", "1,000", "at least 1,000", True)),
        (at_least("rounds", 999, 1_000), Figure("rounds", "999", "at least 1,000", False)),
    ],
)
def test_limits_are_inclusive(figure: Figure, expected: Figure) -> None:
    assert figure == expected


def test_new_results_replace_stored_ones_of_the_same_row_and_store(tmp_path: Path) -> None:
    old = [Result("R1", "sqlite", "failed", []), Result("R1", "postgres", "failed", [])]
    new = [Result("R1", "sqlite", "finished", [Figure("errors", "0", "0", True)])]
    save(tmp_path / "report.json", merge(old, new))
    assert load(tmp_path / "report.json") == [old[1], *new]
    assert load(tmp_path / "missing.json") == []


def test_report_shows_each_row_and_store() -> None:
    rows = [row(succeed), row(succeed, "R1")._replace(stores=("sqlite", "postgres"))]
    results = [
        Result("R0", "sqlite", "finished", [Figure("a|b", "1", "0", False)], "", 1.5, "2027-01-01 12:00 UTC"),
        Result("R1", "postgres", "interrupted", [], "round 5 of 10"),
    ]
    lines = write_report(rows, results, "2 cores.").splitlines()
    assert "| R0 | a row | **not met** | – |" in lines
    assert "| R1 | a row | not run | **interrupted** |" in lines
    assert "| a\\|b | 1 | 0 | **not met** |" in lines
    assert "1.5 minutes, finished at 2027-01-01 12:00 UTC." in lines
    assert "> round 5 of 10" in lines
