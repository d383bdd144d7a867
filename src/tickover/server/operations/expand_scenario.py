"""expandScenario: turn a scenario into the parameters of a clock. It stores nothing."""

from typing import Annotated, Final

from msgspec import UNSET, Meta, UnsetType

from tickover.api.clocks import NewClock
from tickover.api.errors import Fault, Reason, invalid_params, unauthenticated
from tickover.api.expectations import ExpectationEntry
from tickover.api.fields import Bound, Params, Text, TotalBound, doc
from tickover.api.limits import MAX_EXPECTATIONS, MAX_SCENARIO_TEXT
from tickover.api.plans import ExpandedScenario
from tickover.api.timestamps import Instant, first_of_month
from tickover.server.isolated_requests import ExpandRequest, IsolatedRequest
from tickover.server.operations import sizes
from tickover.server.operations.operation import Caller, Example, Operation, Permission, Services

EXAMPLE: Final = """\
title = "Home"
currency = "EUR"
length = "1 month"

[[transactions]]
name = "Rent"
amount = 840.50
type = "expense"
every = "month on the 3rd"

[[expect]]
never_below = -1000
"""


class ExpandEntry(Params, frozen=True):
    """The parameters of expandScenario."""

    text: Annotated[
        Text,
        Meta(min_length=1, max_length=MAX_SCENARIO_TEXT),
        doc("The scenario in TOML. The page Scenarios of the documentation describes the format."),
    ]
    start: Annotated[
        Instant | UnsetType,
        doc("The start of the clock. Default: the start in the text, or else the first day of this month."),
    ] = UNSET


async def expand_scenario(params: ExpandEntry, caller: Caller, services: Services) -> bytes:
    request = ExpandRequest(params.text, params.start or None, first_of_month(caller.now))
    return await expand(OPERATION.name, "text", request, caller, services)


async def expand(operation: str, path: str, request: IsolatedRequest, caller: Caller, services: Services) -> bytes:
    """Return the result of the isolated process. Raise a Rejection with the faults of the parameter at `path`."""
    if await services.store.find_token(caller.token.digest, caller.now) is None:
        raise unauthenticated()
    async with services.isolated_process.turn(caller.token.user):
        found = await services.isolated_process.run(request)
    if found.result is UNSET:
        faults = [
            Fault(path, "scenario", message.removesuffix("."), line=line or UNSET) for message, line in found.errors
        ]
        raise invalid_params(operation, faults)
    return bytes(found.result)


OPERATION = Operation(
    name="expandScenario",
    summary="Turn a scenario into the parameters of a clock",
    description=(
        "Reads a scenario in TOML, as the command `tickover clock create` does, and creates nothing. Pass `params` to "
        "`createTestClock`, and `expectations` to `checkTestClock`. Each fault of an invalid scenario has its `line`."
    ),
    params=ExpandEntry,
    result=ExpandedScenario[NewClock, ExpectationEntry[Bound, TotalBound]],
    handler=expand_scenario,
    needs=Permission.READ,
    is_idempotent=True,
    max_result=sizes.NEW_CLOCK + MAX_EXPECTATIONS * (512 + sizes.NAME_AND_CATEGORY),
    reasons=(Reason.RATE_LIMITED,),
    examples=(Example("A month of rent", {"text": EXAMPLE, "start": "2027-01-01T00:00:00Z"}),),
)
