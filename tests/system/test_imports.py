"""Modules that a program doesn't import before it needs them, because they are slow or belong to another part."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import tickover.client", {"httpx2", "asyncio", "ssl", "email"}),
        ("from tickover.client import *; Tickover(); AsyncTickover()", {"tickover.server", "tickover.scenarios"}),
        ("import tickover.pytest_plugin", {"tickover.api", "tickover.client", "httpx2", "msgspec"}),
        ("import tickover.cli.run_server", {"asyncpg", "email_validator", "jinja2", "opentelemetry"}),
    ],
)
def test_import_skips(statement: str, absent: set[str]) -> None:
    code = f"import sys; {statement}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(ran.stdout.split()) & absent == set()
