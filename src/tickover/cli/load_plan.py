"""Loads the plan of a new clock from a scenario or from JSON parameters."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import IO

from msgspec import DecodeError, ValidationError, json, structs

from tickover.api.clocks import ContributionEntry, GoalEntry, NewClock, ScheduleEntry, Snapshot
from tickover.api.errors import invalid_params
from tickover.api.expectations import Expectation
from tickover.api.explain import explain
from tickover.api.nesting import is_nested_too_deeply
from tickover.api.plans import Plan, PlannedTransaction
from tickover.cli.call_errors import from_rejection
from tickover.cli.errors import CliError, Exit
from tickover.scenarios import Scenario, ScenarioError, load


class _LargeGoal(GoalEntry[Decimal, Decimal], frozen=True):
    contributions: Sequence[ContributionEntry[Decimal]] = ()


class _LargeSchedule(ScheduleEntry[Decimal, Decimal, Decimal, Decimal, Decimal], frozen=True):
    """Parameters of createTestClock with any number of items. The client adds in parts what one call doesn't accept."""

    transactions: Sequence[PlannedTransaction] = ()
    goals: Sequence[_LargeGoal] = ()
    expectations: Sequence[Expectation] = ()


def load_scenario(name: str) -> Scenario:
    """Load a shipped scenario or a file. Raise `CliError` if it is invalid."""
    try:
        return load(name)
    except ScenarioError as error:
        raise _invalid_scenario(error) from None


def plan_from_scenario(scenario: Scenario, start: datetime | None, now: datetime) -> Plan:
    """Return the scenario's plan. It starts at `start`, at the file's own start, or on the first of this month."""
    first_of_month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    try:
        return scenario.plan(start or scenario.start or first_of_month)
    except ScenarioError as error:
        raise _invalid_scenario(error) from None


def _invalid_scenario(error: ScenarioError) -> CliError:
    message, *more = map(str, error.errors)
    return CliError(Exit.WRONG_COMMAND, message, more=more)


def expectations_from_scenario(scenario: Scenario, clock: Snapshot) -> Sequence[Expectation]:
    """Return the scenario's expectations for a clock with details."""
    assert clock.start_time is not None, "the call asked for details"
    expectations = plan_from_scenario(scenario, clock.start_time, clock.start_time).expectations
    if not expectations:
        raise CliError(Exit.WRONG_COMMAND, "The scenario has no expectations.", "Add [[expect]] to its file.")
    return expectations


def plan_from_json(file: IO[bytes]) -> Plan:
    """Read parameters of createTestClock."""
    try:
        content = file.read()
        if is_nested_too_deeply(content):
            raise CliError(Exit.WRONG_COMMAND, "The parameters aren't valid JSON: nested too deeply.")
        json.decode(content)
        explained, _ = explain(NewClock, content)
        faults = [fault for fault in explained if fault.rule != "count"]
        if not faults:
            return Plan(**structs.asdict(json.decode(content, type=_LargeSchedule)))
    except OSError as error:
        raise CliError(Exit.WRONG_COMMAND, f"Can't read the parameters: {error.strerror}.") from None
    except ValidationError as error:
        raise CliError(Exit.REFUSED, f"Invalid parameters: {error}.", reason="INVALID_PARAMS") from None
    except (DecodeError, UnicodeDecodeError) as error:
        raise CliError(Exit.WRONG_COMMAND, f"The parameters aren't valid JSON: {error}.") from None
    raise from_rejection(invalid_params("createTestClock", faults))
