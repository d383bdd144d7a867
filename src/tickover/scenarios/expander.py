"""Expands scenarios for a server, as a separate process: `python -m tickover.scenarios.expander`.

Each line of the input is an `ExpandRequest` in JSON, and each line of the output its `ExpandResponse`.
"""

import sys
from datetime import datetime
from signal import ITIMER_VIRTUAL, setitimer
from typing import Final

from msgspec import UNSET, Raw, Struct, UnsetType, json
from msgspec.structs import replace

from tickover.api.plans import encode_json
from tickover.scenarios import ScenarioError, read

MAX_CPU_SECONDS: Final = 2
"""The kernel ends the process with SIGVTALRM if one scenario takes longer, even inside of a regular expression."""


class ExpandRequest(Struct, frozen=True):
    text: str
    start: datetime | None
    default_start: datetime
    """The start if neither the request nor the scenario has one."""


class ExpandResponse(Struct, frozen=True, omit_defaults=True):
    """The result, or else the error."""

    result: Raw | UnsetType = UNSET
    message: str = ""
    line: int | None = None


def expand(request: ExpandRequest) -> ExpandResponse:
    """Return the parameters of createTestClock and the expectations, as JSON."""
    try:
        scenario = read(request.text, "toml", name="")
        plan = scenario.plan(request.start or scenario.start or request.default_start)
    except ScenarioError as error:
        return ExpandResponse(message=str(error), line=error.line)
    params = replace(plan.params, name=scenario.title or UNSET)
    return ExpandResponse(result=Raw(encode_json({"params": params, "expectations": plan.expectations})))


def main() -> None:
    for line in sys.stdin.buffer:
        request = json.decode(line, type=ExpandRequest)
        setitimer(ITIMER_VIRTUAL, MAX_CPU_SECONDS)
        response = expand(request)
        setitimer(ITIMER_VIRTUAL, 0)
        sys.stdout.buffer.write(json.encode(response) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
