"""What a new clock is to hold: from a scenario, or from parameters that were written out."""

from collections.abc import Iterator
from datetime import datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, get_args

from msgspec import DecodeError, ValidationError, json, structs

from tickover.cli.troubles import Exit, Trouble
from tickover.plans import Plan

if TYPE_CHECKING:
    from tickover.scenarios import Scenario


def scenario_named(name: str) -> "Scenario":
    """The scenario that comes with Tickover, or is in a file; Trouble when it cannot be used."""
    from tickover.scenarios import ScenarioError, load

    try:
        return load(name)
    except ScenarioError as error:
        raise Trouble(Exit.WRONG_COMMAND, str(error)) from None


def plan_of(scenario: "Scenario", start: datetime | None, today: datetime) -> Plan:
    """What happens from a start, from the file's own start, or from today."""
    from tickover.scenarios import ScenarioError

    try:
        return scenario.plan(start or scenario.start or today)
    except ScenarioError as error:
        raise Trouble(Exit.WRONG_COMMAND, str(error)) from None


def plan_in(content: bytes) -> Plan:
    """The plan that parameters of createTestClock are, in JSON."""
    try:
        faults = list(_unknown_names(json.decode(content), Plan))
        if not faults:
            return json.decode(content, type=Plan)
    except ValidationError as error:
        raise Trouble(Exit.REFUSED, f"The parameters are refused: {error}.", reason="INVALID_PARAMS") from None
    except (DecodeError, UnicodeDecodeError) as error:
        raise Trouble(Exit.WRONG_COMMAND, f"The parameters are no JSON: {error}.") from None
    raise Trouble(Exit.REFUSED, "The parameters have names that are unknown.", reason="INVALID_PARAMS", faults=faults)


def _unknown_names(value: Any, kind: Any, path: str = "") -> Iterator[dict[str, str]]:
    """Names that would otherwise be ignored, and with them what somebody wanted to happen."""
    if not isinstance(value, dict):
        return
    fields = {field.encode_name: field.type for field in structs.fields(kind)}
    for name, inner in value.items():
        if name not in fields:
            nearest = get_close_matches(name, fields, n=1)
            hint = f"; did you mean {nearest[0]}?" if nearest else ""
            yield {"path": f"{path}{name}", "message": f"is unknown{hint}"}
        elif isinstance(inner, list):
            for number, entry in enumerate(inner):
                yield from _unknown_names(entry, get_args(fields[name])[0], f"{path}{name}[{number}].")
