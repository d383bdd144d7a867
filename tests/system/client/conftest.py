"""Clients of a real server."""

from collections.abc import Iterator
from itertools import count

import pytest

from tests.support.program import Program
from tickover.client import Tickover

_NUMBERS = count()


@pytest.fixture
def email() -> str:
    """An unused email address. Its plus sign must be escaped in URLs."""
    return f"someone+{next(_NUMBERS)}@example.test"


@pytest.fixture
def visitor(program: Program) -> Iterator[Tickover]:
    """A client that isn't signed in."""
    with Tickover(program.url) as client:
        yield client


@pytest.fixture
def client(program: Program, email: str) -> Iterator[Tickover]:
    """A client signed in as a new user."""
    with Tickover(program.url, program.sign_in(email)) as signed_in:
        yield signed_in
