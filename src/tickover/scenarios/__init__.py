"""Scenarios: files that say in a few lines what months of money look like, made into plans for clocks."""

from tickover.scenarios.files import load, names, read
from tickover.scenarios.locations import ScenarioError
from tickover.scenarios.scenario import Scenario

__all__ = ["Scenario", "ScenarioError", "load", "names", "read"]
