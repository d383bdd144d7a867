"""Runs calls that need much CPU time for a server, as a separate process: `python -m tickover.server.isolated_calls`.

Each line of the input is an `IsolatedRequest` in JSON, and each line of the output its `IsolatedResult`. The server
imports this module, but only the process imports what runs the calls.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from resource import RLIMIT_AS, setrlimit
from signal import ITIMER_VIRTUAL, setitimer
from time import process_time
from typing import Any, Final

from msgspec import UNSET, Raw, Struct, UnsetType, json
from msgspec.structs import replace

from tickover.api.clocks import ExportedClock, Snapshot
from tickover.api.limits import MAX_CLOCK_TRANSACTIONS, MAX_NAME, MAX_OPENING_BALANCES, MAX_SCENARIO_BYTES
from tickover.api.plans import StatementScenario, encode_json

MAX_CPU_SECONDS: Final = 2
"""The kernel ends the process with SIGVTALRM if one call takes longer, even inside of a regular expression."""

MAX_MEMORY: Final = 256 * 1024 * 1024
"""Bytes of address space. The largest export needs 100 MB of it."""

MAX_EXPORT: Final = 1024 + MAX_CLOCK_TRANSACTIONS * 3600 + MAX_OPENING_BALANCES * 1600
"""Bytes of the largest result. Each transaction can have its own currency, so that each has its own register. Amounts
can have 324 decimals, and a character of a name can become four bytes in JSON, or five in XML."""


class IsolatedResult(Struct, frozen=True, omit_defaults=True):
    """The result in JSON, or else the errors."""

    result: Raw | UnsetType = UNSET
    errors: Sequence[tuple[str, int | None]] = ()
    """Messages with their lines, if they have one."""
    missing: str = ""
    """The parameter that the call needs, if that is the error."""
    seconds: float = 0
    """CPU time."""


class ExpandRequest(Struct, frozen=True, tag="expand"):
    text: str
    start: datetime | None
    default_start: datetime
    """The start if neither the request nor the scenario has one."""
    is_stored: bool = False
    """Whether a clock is created from it, with as many items as a clock can hold."""

    def run(self) -> IsolatedResult:
        """Return parameters of createTestClock, beside the bank if they are stored, or else the expectations."""
        from tickover.scenarios import ScenarioError, read
        from tickover.scenarios.scenario import CLOCK, ONE_CALL

        try:
            scenario = read(self.text, name="")
            start = self.start or scenario.start or self.default_start
            plan = scenario.plan(start, CLOCK if self.is_stored else ONE_CALL)
            bank_defaults = scenario.bank_defaults(start)
        except ScenarioError as error:
            return IsolatedResult(errors=[(str(one), one.line) for one in error.errors])
        expanded: Any = {"params": replace(plan, expectations=()), "expectations": plan.expectations}
        stored = {"params": plan, "bankDefaults": bank_defaults}
        return IsolatedResult(Raw(encode_json(stored if self.is_stored else expanded)))


class ExportRequest(Struct, frozen=True, tag="export"):
    clock: Raw
    """A Snapshot."""
    format: str
    pending: bool
    opening: Mapping[str, int | float]
    account: str = ""

    def run(self) -> IsolatedResult:
        """Return the file of a clock."""
        from tickover.scenarios.bank_files import FORMATS, export

        clock = json.decode(self.clock, type=Snapshot)
        file_format = FORMATS[self.format]
        try:
            text = export(clock, self.format, opening=self.opening, pending=self.pending, account=self.account)
        except ValueError as error:
            return IsolatedResult(errors=[(str(error), None)])
        name = f"{clock.id}.{file_format.extension}"
        return IsolatedResult(Raw(json.encode(ExportedClock(name, file_format.media_type, text))))


_ADVICE: Final = {"columns": "rename them", "name": "rename one"}
"""What to do about columns that are missing in a file."""
_PARAMETERS: Final = {"currency": "currency", "order": "dayFirst"}
"""The parameters that tell what else is missing in a file."""


class BankFileRequest(Struct, frozen=True, tag="bank_file"):
    content: bytes
    file_name: str
    currency: str
    """Empty if the file has it."""
    is_day_first: bool | None

    def run(self) -> IsolatedResult:
        """Return a scenario with the payments of a bank file."""
        from tickover.scenarios import from_payments
        from tickover.scenarios.bank_files.bank_file_reader import BankFileError, read_bank_file

        try:
            payments = read_bank_file(
                self.content, self.file_name, currency=self.currency, is_day_first=self.is_day_first
            )
        except BankFileError as error:
            if error.missing in _PARAMETERS:
                return IsolatedResult(errors=[(f"is required: {error}", None)], missing=_PARAMETERS[error.missing])
            advice = f"; {_ADVICE[error.missing]}" if error.missing else ""
            return IsolatedResult(errors=[(f"{error}{advice}", None)])
        text = from_payments.write_scenario(payments, title=Path(self.file_name).stem[:MAX_NAME] or "Statement")
        if len(text.encode()) > MAX_SCENARIO_BYTES:
            message = f"the scenario would have more than {MAX_SCENARIO_BYTES:,} bytes; split the file"
            return IsolatedResult(errors=[(f"{self.file_name}: {message}", None)])
        return IsolatedResult(Raw(json.encode(StatementScenario(text))))


IsolatedRequest = ExpandRequest | BankFileRequest | ExportRequest


def run(request: IsolatedRequest) -> IsolatedResult:
    """Return the result of a call with its CPU time."""
    began = process_time()
    try:
        result = request.run()
    except MemoryError:
        result = IsolatedResult(errors=[("needs too much memory; use fewer items", None)])
    return replace(result, seconds=process_time() - began)


def main() -> None:
    import tickover.scenarios  # noqa: F401 - so that the first call needn't, within its limits

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
