"""`tickover users`: operators manage users beside the database of a running server."""

import json
from typing import Any

import pytest

from tests.support.program import Program
from tests.system.shells import Shell


@pytest.fixture
def data(program: Program) -> dict[str, Any]:
    return {"TICKOVER_DATA_DIR": str(program.data)}


def test_users_are_listed_newest_first(shell: Shell, email: str, data: dict[str, Any]) -> None:
    listed = shell("users", "list", **data)
    assert listed.code == 0
    line = listed.out.splitlines()[0]
    assert line.endswith(email)
    document = json.loads(shell("users", "list", "--json", **data).out.splitlines()[0])
    assert (document["email"], document["id"] in line) == (email, True)


def test_user_is_shown_signed_out_and_deleted(shell: Shell, email: str, data: dict[str, Any]) -> None:
    assert shell("clock", "create").code == 0
    token = shell("token", "create", "--name", "ci").out.strip()
    user = shell("users", "show", email.upper(), "--json", **data).json
    assert (user["email"], user["clocks"], user["sessions"], user["accessTokens"]) == (email, 1, 1, 1)
    assert email in shell("users", "show", user["id"], **data).out
    assert shell("users", "revoke-sessions", email, **data).out == f"Revoked 1 token of {email}.\n"
    assert shell("clock", "list").code == 3
    assert shell("clock", "list", TICKOVER_TOKEN=token).code == 0
    deleted = shell("users", "delete", email, "--yes", **data)
    assert (deleted.code, deleted.out) == (0, f"✓ Deleted {email} with 1 clock, 1 token and 1 email.\n")
    assert shell("clock", "list", TICKOVER_TOKEN=token).code == 3
    missing = shell("users", "delete", email, "--yes", **data)
    assert (missing.code, missing.out) == (5, "")
    assert "tickover users list" in missing.err


def test_deletion_needs_a_confirmation(shell: Shell, email: str, data: dict[str, Any]) -> None:
    unconfirmed = shell("users", "delete", email, **data)
    assert unconfirmed.code == 2
    assert "--yes" in unconfirmed.err
    assert shell("users", "show", email, **data).code == 0
