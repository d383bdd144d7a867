"""The parameters and the result of expandScenario."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tickover.api.limits import MAX_SCENARIO_TEXT
from tickover.api.timestamps import Instant
from tickover.server.domain.clock_params import CreateTestClockParams
from tickover.server.domain.ledger_params import Expectation
from tickover.server.domain.params import Params, Text


class ExpandScenarioParams(Params, frozen=True):
    """The parameters of expandScenario."""

    text: Annotated[Text, Meta(min_length=1, max_length=MAX_SCENARIO_TEXT)]
    start: Instant | UnsetType = UNSET


class ExpandedScenario(Struct, frozen=True):
    """The clock that a scenario describes, and its expectations."""

    params: CreateTestClockParams
    expectations: Sequence[Expectation]
