"""Scenarios: short TOML files that describe months of transactions, expanded into plans for clocks."""

from tickover.scenarios.scenario import Scenario
from tickover.scenarios.scenario_errors import ScenarioError
from tickover.scenarios.toml_files import load, names, read

__all__ = ["Scenario", "ScenarioError", "load", "names", "read"]
