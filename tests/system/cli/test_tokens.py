"""`tickover token`: users create access tokens over the API, operators beside the database."""

from pathlib import Path
from typing import Any

from tests.support.program import Program
from tests.system.shells import Shell


def test_token_is_created_listed_used_and_revoked(shell: Shell) -> None:
    created = shell("token", "create", "--name", "ci", "--days", "30", "--read-only")
    assert created.code == 0
    token = created.out.strip()
    assert token.startswith("tka_")
    assert "can't show it again" in created.err
    [listed] = shell("token", "list", "--json").json["tokens"]
    assert (listed["name"], listed["readOnly"]) == ("ci", True)
    assert listed["id"] in shell("token", "list").out
    assert token not in shell("token", "list").out
    assert shell("clock", "list", "--json", TICKOVER_TOKEN=token).json["clocks"] == []
    forbidden = shell("clock", "create", TICKOVER_TOKEN=token)
    assert forbidden.code != 0
    assert forbidden.out == ""
    assert "TICKOVER_TOKEN" in forbidden.err
    assert shell("token", "revoke", listed["id"]).out == f"Revoked {listed['id']}.\n"
    assert shell("clock", "list", TICKOVER_TOKEN=token).code == 3
    assert shell("token", "list").out == "You have no access tokens.\n"


def test_operator_creates_a_token_beside_the_database(shell: Shell, program: Program) -> None:
    data: dict[str, Any] = {"TICKOVER_DATA_DIR": str(program.data)}
    created = shell("token", "create", "Robot@example.test", "--name", "ci", "--json", **data)
    assert created.code == 0, created.err
    token = created.json["token"]
    assert shell("clock", "create", "--json", TICKOVER_TOKEN=token).code == 0
    again = shell("token", "create", "robot@example.test", "--name", "second", **data)
    assert len(shell("clock", "list", "--json", TICKOVER_TOKEN=again.out.strip()).json["clocks"]) == 1


def test_bad_input_of_operators_creates_nothing(shell: Shell, tmp_path: Path) -> None:
    data: dict[str, Any] = {"TICKOVER_DATA_DIR": str(tmp_path / "none")}
    assert "isn't an email address" in shell("token", "create", "nobody", "--name", "ci", **data).err
    missing = shell("token", "create", "robot@example.test", "--name", "ci", **data)
    assert (missing.code, missing.out) == (2, "")
    assert "doesn't exist" in missing.err
    long_name = shell("token", "create", "robot@example.test", "--name", "n" * 101, **data)
    assert "1 to 100 characters" in long_name.err
    assert not (tmp_path / "none").exists()


def test_database_url_needs_an_email(shell: Shell) -> None:
    assert shell("token", "create", "--name", "ci", "--database-url", "sqlite:///x.db").code == 2
