"""Scenarios: short TOML files that describe months of transactions, expanded into plans for clocks."""

from tickover.scenarios.errors import ScenarioError
from tickover.scenarios.files import load, names, read
from tickover.scenarios.scenario import Scenario

__all__ = ["Scenario", "ScenarioError", "load", "names", "read"]
