"""Plants one bug at a time in a copy of the working tree, and reports the bugs that the tests don't catch.

The working tree never changes. Ctrl-C ends the run and prints the results so far.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from enum import StrEnum
from time import monotonic
from typing import Final, NamedTuple

from lab.mutants.mutant import Mutant, load_mutants
from lab.mutants.workspace import Workspace, open_workspace


class Outcome(StrEnum):
    CAUGHT = "caught"
    SURVIVED = "survived"
    NOT_APPLIED = "patch doesn't apply"
    NO_TESTS = "named tests don't exist"
    NOT_COLLECTED = "tests fail to start"
    FAILS_ANYWAY = "test fails without the bug too"
    TIMED_OUT = "timed out"


# By exit code of pytest: all passed, wrong arguments, and no tests.
_OUTCOMES: Final = {0: Outcome.SURVIVED, 4: Outcome.NO_TESTS, 5: Outcome.NO_TESTS, None: Outcome.TIMED_OUT}


class Result(NamedTuple):
    mutant: Mutant
    outcome: Outcome
    seconds: float
    test: str = ""
    """The test that failed."""
    error: str = ""
    output: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.mutants", description=__doc__)
    parser.add_argument("name", nargs="?", default="", help="run only mutants with this text in their names")
    parser.add_argument("--verbose", action="store_true", help="print the output of the tests")
    options = parser.parse_args()
    mutants = load_mutants(options.name)
    if not mutants:
        parser.error(f"no mutant has {options.name!r} in its name")
    results: list[Result] = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with open_workspace() as workspace:
            for number, mutant in enumerate(mutants, 1):
                print(f"[{number}/{len(mutants)}] {mutant.name} … ", end="", flush=True)
                results.append(_run(workspace, mutant))
                print(_describe(results[-1]), flush=True)
                if options.verbose:
                    print(results[-1].output, flush=True)
            results = _check_without_bugs(workspace, results)
    except KeyboardInterrupt:
        print("interrupted")
        _print_summary(results, len(mutants))
        return 130
    _print_summary(results, len(mutants))
    return int(any(result.outcome is not Outcome.CAUGHT for result in results))


def _run(workspace: Workspace, mutant: Mutant) -> Result:
    start = monotonic()
    with workspace.patched(mutant.patch) as applied:
        run = workspace.run_tests(*mutant.tests) if applied else None
    seconds = monotonic() - start
    if run is None:
        return Result(mutant, Outcome.NOT_APPLIED, seconds)
    if run.failed_tests and run.exit_code is not None:
        return Result(mutant, Outcome.CAUGHT, seconds, run.failed_tests[0], run.error, run.output)
    return Result(mutant, _OUTCOMES.get(run.exit_code, Outcome.NOT_COLLECTED), seconds, output=run.output)


def _check_without_bugs(workspace: Workspace, results: Sequence[Result]) -> list[Result]:
    """Run the tests that caught bugs without any bug. A test that fails anyway proves nothing."""
    tests = sorted({result.test for result in results if result.test})
    if not tests:
        return [*results]
    print("Running the failed tests again, without the bugs … ", end="", flush=True)
    run = workspace.run_tests(*tests, stop_at_failure=False)
    print("passed" if run.exit_code == 0 else f"failed:\n{run.output}", flush=True)
    if run.exit_code == 0:
        return [*results]
    failing = run.failed_tests or tests
    return [result._replace(outcome=Outcome.FAILS_ANYWAY) if result.test in failing else result for result in results]


def _describe(result: Result) -> str:
    by = f" by {result.test}: {result.error}" if result.test else ""
    return f"{result.outcome} in {result.seconds:.0f} s{by}"


def _print_summary(results: Sequence[Result], total: int) -> None:
    print(f"\n{'mutant':50} {'seconds':>7}  result")
    for result in results:
        by = f" by {result.test}" if result.test else ""
        print(f"{result.mutant.name:50} {result.seconds:7.0f}  {result.outcome}{by}")
    caught = sum(result.outcome is Outcome.CAUGHT for result in results)
    print(f"\n{caught} of {total} caught in {sum(result.seconds for result in results):.0f} s.")


if __name__ == "__main__":
    sys.exit(main())
