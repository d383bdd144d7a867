"""Fixtures of this project, made of those that Tickover brings."""

import pytest
from budget import Budget

from tickover.client import Tickover
from tickover.pytest_plugin import Server


@pytest.fixture
def budget(tickover: Server, client: Tickover) -> Budget:
    """The app, with the user signed in whose clocks the test makes."""
    return Budget(tickover.url, client.token)
