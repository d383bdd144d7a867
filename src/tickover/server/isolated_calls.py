"""Runs calls that need much CPU time for a server, as a separate process: `python -m tickover.server.isolated_calls`.

Each line of the input is an `IsolatedRequest` in JSON, and each line of the output its `IsolatedResult`.
"""

import os
import sys
from pathlib import Path
from resource import RLIMIT_AS, setrlimit
from signal import ITIMER_VIRTUAL, setitimer
from time import process_time
from typing import Final

from msgspec import Raw, json
from msgspec.structs import replace

from tickover.api.clocks import ExportedClock, Snapshot
from tickover.api.limits import MAX_NAME, MAX_SCENARIO_BYTES
from tickover.api.plans import StatementScenario, encode_json
from tickover.scenarios import ScenarioError, read
from tickover.scenarios.limits import CLOCK, ONE_CALL
from tickover.server.isolated_requests import (
    MAX_CPU_SECONDS,
    MAX_MEMORY,
    ExpandRequest,
    ExportRequest,
    IsolatedRequest,
    IsolatedResult,
    StatementRequest,
)


def expand_scenario(request: ExpandRequest) -> IsolatedResult:
    """Return the parameters of createTestClock, and the expectations beside them unless they are stored."""
    try:
        scenario = read(request.text, name="")
        limits = CLOCK if request.is_stored else ONE_CALL
        start = request.start or scenario.start or request.default_start
        plan = scenario.plan(start, limits)
    except ScenarioError as error:
        return IsolatedResult(errors=[(str(one), one.line) for one in error.errors])
    if request.is_stored:
        return IsolatedResult(Raw(encode_json(plan)))
    params = replace(plan, expectations=())
    return IsolatedResult(Raw(encode_json({"params": params, "expectations": plan.expectations})))


def export_clock(request: ExportRequest) -> IsolatedResult:
    """Return the file of a clock."""
    from tickover.scenarios.statements import FORMATS, export

    clock = json.decode(request.clock, type=Snapshot)
    file_format = FORMATS[request.format]
    try:
        text = export(clock, request.format, opening=request.opening, pending=request.pending, account=request.account)
    except ValueError as error:
        return IsolatedResult(errors=[(str(error), None)])
    name = f"{clock.id}.{file_format.extension}"
    return IsolatedResult(Raw(json.encode(ExportedClock(name, file_format.media_type, text))))


_PARAMETERS: Final = {
    "use --currency EUR": "pass currency",
    "use --day-first or --month-first": "pass dayFirst",
    "name them with --columns date=HEADER,amount=HEADER, or with debit=HEADER,credit=HEADER for two columns": (
        "rename them"
    ),
    "name it with --columns name=HEADER": "rename one",
}
"""What to do about a file, as an option of the command line and as a parameter of scenarioFromStatement."""


def read_statement(request: StatementRequest) -> IsolatedResult:
    """Return a scenario with the payments of a bank's file."""
    from tickover.scenarios import from_payments
    from tickover.scenarios.statements import read as statements

    try:
        payments = statements.read_statement(
            request.content, request.file_name, currency=request.currency, is_day_first=request.is_day_first
        )
    except statements.StatementError as error:
        message = str(error)
        for option, parameter in _PARAMETERS.items():
            message = message.replace(option, parameter)
        return IsolatedResult(errors=[(message, None)])
    text = from_payments.write_scenario(payments, title=Path(request.file_name).stem[:MAX_NAME] or "Statement")
    if len(text.encode()) > MAX_SCENARIO_BYTES:
        message = f"{request.file_name}: the scenario would have more than {MAX_SCENARIO_BYTES:,} bytes; split the file"
        return IsolatedResult(errors=[(message, None)])
    return IsolatedResult(Raw(json.encode(StatementScenario(text))))


def run(request: IsolatedRequest) -> IsolatedResult:
    """Return the result of a call with its CPU time."""
    began = process_time()
    try:
        match request:
            case ExpandRequest():
                result = expand_scenario(request)
            case StatementRequest():
                result = read_statement(request)
            case ExportRequest():
                result = export_clock(request)
    except MemoryError:
        result = IsolatedResult(errors=[("needs too much memory; use fewer items", None)])
    return replace(result, seconds=process_time() - began)


def main() -> None:
    if sys.platform == "linux":
        # Others don't limit the address space.
        setrlimit(RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    # The event loop of the server goes first.
    os.nice(10)
    decoder = json.Decoder(IsolatedRequest)
    for line in sys.stdin.buffer:
        setitimer(ITIMER_VIRTUAL, MAX_CPU_SECONDS)
        result = run(decoder.decode(line))
        setitimer(ITIMER_VIRTUAL, 0)
        sys.stdout.buffer.write(json.encode(result) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
