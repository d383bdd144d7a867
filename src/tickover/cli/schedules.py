"""What a new clock is to hold: from a scenario, or from parameters that were written out."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from difflib import get_close_matches
from typing import IO, TYPE_CHECKING, Any, get_args

from msgspec import DecodeError, ValidationError, json, structs
from msgspec.inspect import is_struct_type

from tickover.cli import formatting
from tickover.cli.errors import Exit, Trouble
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


def plan_in(file: IO[bytes]) -> Plan:
    """The plan that parameters of createTestClock are, in JSON."""
    try:
        content = file.read()
        faults = list(_faults(json.decode(content), Plan))
        if not faults:
            return json.decode(content, type=Plan)
    except OSError as error:
        raise Trouble(Exit.WRONG_COMMAND, f"The parameters cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        raise Trouble(Exit.REFUSED, f"The parameters are refused: {error}.", reason="INVALID_PARAMS") from None
    except (DecodeError, UnicodeDecodeError) as error:
        raise Trouble(Exit.WRONG_COMMAND, f"The parameters are no JSON: {error}.") from None
    except RecursionError:
        raise Trouble(Exit.WRONG_COMMAND, "The parameters are no JSON: they are nested too deeply.") from None
    sentence = f"{formatting.count(len(faults), 'field')} of the parameters cannot be used."
    raise Trouble(Exit.REFUSED, sentence, reason="INVALID_PARAMS", faults=faults)


def _faults(value: Any, kind: Any, path: str = "") -> Iterator[dict[str, str]]:
    """What would be read without a word: names that are ignored, and text that is taken for a number."""
    if not isinstance(value, dict) or not is_struct_type(kind):
        return
    kinds = {field.encode_name: field.type for field in structs.fields(kind)}
    for name, inner in value.items():
        if name not in kinds:
            nearest = get_close_matches(name, kinds, n=1)
            hint = f"; did you mean {nearest[0]}?" if nearest else ""
            yield {"path": f"{path}{name}", "message": f"is unknown{hint}"}
        elif kinds[name] is Decimal and isinstance(inner, str):
            yield {"path": f"{path}{name}", "message": "must be a number, without quotes"}
        elif isinstance(inner, list):
            of_entries = next(iter(get_args(kinds[name])), None)
            for number, entry in enumerate(inner):
                yield from _faults(entry, of_entries, f"{path}{name}[{number}].")
