"""Fixtures: a user with a shell per test."""

from itertools import count
from pathlib import Path

import pytest

from tests.support.program import Program
from tests.system.shells import Shell

_USER_NUMBERS = count(1)


@pytest.fixture
def email() -> str:
    return f"user{next(_USER_NUMBERS)}@example.test"


@pytest.fixture
def signed_out_shell(program: Program, tmp_path: Path) -> Shell:
    """The shell of a user who isn't signed in."""
    return Shell(tmp_path / "config", program.url)


@pytest.fixture
def shell(signed_out_shell: Shell, email: str) -> Shell:
    """The shell of a signed-in user."""
    assert signed_out_shell("login", email).code == 0
    return signed_out_shell


@pytest.fixture
def offline_shell(tmp_path: Path) -> Shell:
    """A shell without a server."""
    return Shell(tmp_path / "config", "http://127.0.0.1:9")
