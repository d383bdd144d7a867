from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from tickover.api.clocks import NewClock
from tickover.api.expectations import ExpectationEntry
from tickover.api.fields import Bound, Params, Text, TotalBound, doc
from tickover.api.limits import MAX_SCENARIO_TEXT
from tickover.api.plans import ExpandedScenario
from tickover.api.timestamps import Instant, first_of_month
from tickover.server.isolated_calls import ExpandRequest
from tickover.server.operations.create_test_clock_from_scenario import EXAMPLE, expand
from tickover.server.operations.operation import Caller, Operation, Permission, Services


class ExpandEntry(Params, frozen=True):
    text: Annotated[
        Text,
        Meta(min_length=1, max_length=MAX_SCENARIO_TEXT),
        doc("The scenario in TOML. The page Scenarios of the documentation describes the format."),
    ]
    start: Annotated[
        Instant | UnsetType,
        doc("The start of the clock. Default: the start in the text, or else the first day of this month."),
    ] = UNSET


@Operation(
    "expandScenario",
    ExpandedScenario[NewClock, ExpectationEntry[Bound, TotalBound]],
    needs=Permission.READ,
    examples={"A month of rent": {"text": EXAMPLE, "start": "2027-01-01T00:00:00Z"}},
)
async def expand_scenario(params: ExpandEntry, caller: Caller, services: Services) -> bytes:
    """Turn a scenario into the parameters of a clock.

    Reads a scenario in TOML, as the command `tickover clock create` does, and creates nothing. Pass `params` to
    `createTestClock`, and `expectations` to `checkTestClock`. Each fault of an invalid scenario has its `line`.
    """
    request = ExpandRequest(params.text, params.start or None, first_of_month(caller.now))
    return await expand("text", request, caller, services)
