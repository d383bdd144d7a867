"""The parameters of expandScenario."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from tickover.api.fields import Params, Text, doc
from tickover.api.limits import MAX_SCENARIO_TEXT
from tickover.api.timestamps import Instant


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
