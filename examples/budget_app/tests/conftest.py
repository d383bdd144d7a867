"""Fixtures of this project, built from Tickover's fixtures."""

import pytest
from budget import Budget

from tickover.client import Tickover
from tickover.pytest_plugin import Server


@pytest.fixture
def budget(tickover: Server, client: Tickover) -> Budget:
    """The app, signed in as the user who owns the test's clocks."""
    return Budget(tickover.url, client.token)
