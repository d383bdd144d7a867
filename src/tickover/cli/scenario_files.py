"""Loads scenarios and JSON parameters that the user names."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any, Final

from msgspec import json

from tickover.api.json_depth import is_nested_too_deeply
from tickover.cli.cli_errors import CliError, Exit

if TYPE_CHECKING:
    from tickover.api.plans import Plan
    from tickover.scenarios import Scenario

# Numbers keep all their digits.
_decode: Final = json.Decoder(float_hook=Decimal).decode


def scenario_source(name: str) -> dict[str, Any]:
    """Return an included scenario's name, or the text of a file, as parameters of createTestClockFromScenario."""
    if not name.endswith(".toml"):
        return {"scenario": name}
    from tickover.scenarios.toml_files import read_file

    with _translate_errors():
        content = read_file(name)
    try:
        return {"text": content.decode("utf-8-sig")}
    except UnicodeDecodeError:
        raise CliError(Exit.WRONG_COMMAND, f"{name} isn't valid UTF-8. Save the file as UTF-8.") from None


def plan_scenario(name: str, start: datetime | None, now: datetime) -> "tuple[Scenario, Plan]":
    """Load an included scenario or a file, and plan it from `start`, its own start or the first of this month."""
    from tickover.api.timestamps import first_of_month
    from tickover.scenarios import load

    with _translate_errors():
        scenario = load(name)
        return scenario, scenario.plan(start or scenario.start or first_of_month(now))


@contextmanager
def _translate_errors() -> Iterator[None]:
    from tickover.scenarios import ScenarioError

    try:
        yield
    except ScenarioError as error:
        message, *more = map(str, error.errors)
        raise CliError(Exit.WRONG_COMMAND, message, more=more) from None


def read_params(file: IO[bytes]) -> dict[str, Any]:
    """Read parameters of createTestClock. The server checks them."""
    try:
        content = file.read()
        if is_nested_too_deeply(content):
            raise ValueError("nested too deeply")
        params = _decode(content)
    except OSError as error:
        raise CliError(Exit.WRONG_COMMAND, f"Can't read the parameters: {error.strerror}.") from None
    except ValueError as error:
        raise CliError(Exit.WRONG_COMMAND, f"The parameters aren't valid JSON: {error}.") from None
    if not isinstance(params, dict):
        raise CliError(Exit.WRONG_COMMAND, "The parameters must be a JSON object.")
    return params
